import { NotifierError } from '../core/errors/notifier-error.ts'
import type { HttpRequest } from '../core/rest/message.ts'
import { type AddressMatcher, canonicalAddress, isLoopback, UNIX_PEER } from './proxies.ts'

/** The client of a request, as far as trusted sources describe it. */
export interface Client {
  /** Canonical IP address. Null: unknown. */
  readonly address: string | null
  /** True: the client's own connection was HTTPS. */
  readonly secure: boolean
}

/** Whether the API accepts plain HTTP. */
export type HttpsMode = 'require' | 'allow-loopback' | 'off'

/** Each of these headers reveals a proxy. A loopback peer is then not the client. */
const FORWARDING_HEADERS = [
  'x-forwarded-for',
  'x-forwarded-proto',
  'x-forwarded-host',
  'forwarded',
  'x-real-ip',
  'via',
] as const

/**
 * Computes the client's address and scheme without the framework's help, because frameworks disagree about both.
 *
 * The walk starts at the peer and goes through X-Forwarded-For from the right, as long as the address is a trusted
 * proxy. The first other address is the client. Each proxy appends one entry, so entries that the client forged stay to
 * the left of the walk. The scheme is the X-Forwarded-Proto entry at the client's depth, or the last one.
 */
export function resolveClient(request: HttpRequest, trusted: AddressMatcher | null): Client {
  const peer = peerOf(request)
  if (!isTrusted(peer, trusted)) return { address: addressOf(peer), secure: request.encrypted }
  const hops = entries(request.header('x-forwarded-for'))
  let address: string | null = peer
  let depth = 0
  while (depth < hops.length && isTrusted(address, trusted)) {
    depth += 1
    address = canonicalAddress(hops[hops.length - depth] ?? '')
  }
  return { address: addressOf(address), secure: isSecure(request, depth) }
}

function isTrusted(address: string | null, trusted: AddressMatcher | null): boolean {
  return trusted !== null && address !== null && trusted(address)
}

/** Canonical address of the peer, or `unix`. Null: unknown. */
function peerOf({ remoteAddress }: HttpRequest): string | null {
  if (remoteAddress === undefined || remoteAddress === UNIX_PEER) return remoteAddress ?? null
  return canonicalAddress(remoteAddress)
}

function addressOf(peer: string | null): string | null {
  return peer === UNIX_PEER ? null : peer
}

function isSecure(request: HttpRequest, depth: number): boolean {
  const schemes = entries(request.header('x-forwarded-proto'))
  if (schemes.length === 0) return request.encrypted
  const scheme = schemes[schemes.length - Math.max(depth, 1)] ?? schemes[schemes.length - 1]
  return scheme?.toLowerCase() === 'https'
}

function entries(header: string | undefined): string[] {
  return header === undefined ? [] : header.split(',').map((entry) => entry.trim())
}

/** True: the mode accepts the request's scheme. */
export function acceptsScheme(mode: HttpsMode, client: Client, request: HttpRequest): boolean {
  if (client.secure || mode === 'off') return true
  if (mode === 'require') return false
  const peer = peerOf(request)
  return (
    peer !== null &&
    isLoopback(peer) &&
    FORWARDING_HEADERS.every((name) => request.header(name) === undefined)
  )
}

/**
 * The error for plain HTTP. It names the option that is probably missing, and the header that caused the refusal, if
 * one did.
 */
export function httpsRequired(request: HttpRequest, trusted: AddressMatcher | null): NotifierError {
  const peer = peerOf(request)
  const forwarding = FORWARDING_HEADERS.find((name) => request.header(name) !== undefined)
  const claimed = entries(request.header('x-forwarded-proto')).some(
    (scheme) => scheme.toLowerCase() === 'https',
  )
  if (claimed && !isTrusted(peer, trusted)) {
    return plainHttp(
      'The header "x-forwarded-proto" says HTTPS, but the option "trustedProxies" does not name the proxy that sent it.',
      'x-forwarded-proto',
    )
  }
  if (peer === null || !isLoopback(peer)) return new NotifierError('https_required')
  if (forwarding === undefined) {
    return plainHttp("To accept it from this machine, set the option https: 'allow-loopback'.")
  }
  return plainHttp(
    `The header "${forwarding}" says that a proxy forwarded the request, so it does not count as local. Send HTTPS to the ` +
      'proxy. Without a proxy, the client or a framework such as Next.js has set the header: for development, set the ' +
      "option https: 'off'.",
    forwarding,
  )
}

function plainHttp(remedy: string, header?: string): NotifierError {
  return new NotifierError('https_required', {
    message: `Plain HTTP is not accepted. ${remedy}`,
    ...(header === undefined ? {} : { details: { header } }),
  })
}
