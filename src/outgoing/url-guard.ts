import { isIP } from 'node:net'
import type { AddressGuard } from './address-guard.ts'
import { withoutBrackets } from './origin.ts'

/** A valid URL, or its fault. */
export type CheckedUrl =
  | { readonly kind: 'open'; readonly url: URL }
  | { readonly kind: 'refused'; readonly why: string }

/**
 * Checks a URL by its text; the address of its name is checked at the connection.
 *
 * The WHATWG parser has already normalized every spelling of an IPv4 host (`0x7f.1`, `2130706433`, `0177.0.0.1`,
 * full-width digits).
 *
 * @param options prefix of the options `allow` and `allowHttp` in errors
 */
export function checkUrl(text: string, guard: AddressGuard, allowHttp: boolean, options: string): CheckedUrl {
  const url = parse(text)
  if (url === null)
    return refused('The URL cannot be parsed. Write it whole, such as https://app.example.com/events.')
  if (url.protocol !== 'https:' && !(allowHttp && url.protocol === 'http:')) {
    return refused(
      `The URL must begin with https://. For development, the option "${options}allowHttp" accepts http://.`,
    )
  }
  if (url.username !== '' || url.password !== '') return refused('The URL must not contain credentials.')
  if (!isOpenPort(url)) return refused('The port must be 443 or above 1023.')
  const host = withoutBrackets(url.hostname)
  if (host === '') return refused('The URL has no host.')
  if (isIP(host) !== 0 ? guard.blocks(host) : isLoopbackName(host) && guard.blocks('127.0.0.1')) {
    return refused(
      `The address is not public. For development, name its block in the option "${options}allow", such as 127.0.0.0/8.`,
    )
  }
  return { kind: 'open', url }
}

function parse(text: string): URL | null {
  try {
    return new URL(text)
  } catch {
    return null
  }
}

function isOpenPort(url: URL): boolean {
  // The parser drops a scheme's default port, so an empty one means 443, or 80 if http is allowed.
  return url.port === '' || Number(url.port) === 443 || Number(url.port) > 1023
}

// RFC 6761 6.3: these names mean the loopback address, regardless of the resolver.
function isLoopbackName(host: string): boolean {
  return /(?:^|\.)localhost\.?$/.test(host)
}

function refused(why: string): CheckedUrl {
  return { kind: 'refused', why }
}
