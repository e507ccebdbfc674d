import { createHash, createHmac } from 'node:crypto'
import type { ReceiptRequest } from '../../../src/core/ports/receipts.ts'
import { formBody, sameText } from '../kit/http/receipt-request.ts'

const STANDARD_PORTS: Readonly<Record<string, string>> = { 'https://': ':443', 'http://': ':80' }

/**
 * True if Twilio signed the request with one of these tokens: HMAC-SHA1 over the public address and the sorted fields
 * of a form. The address contains the hash of a JSON body.
 */
export function isSignedByTwilio(request: ReceiptRequest, url: string, tokens: readonly string[]): boolean {
  const { headers, body } = request
  const signature = headers['x-twilio-signature'] ?? ''
  const hash = URL.canParse(url) ? new URL(url).searchParams.get('bodySHA256') : null
  if (hash !== null && !sameText(hash.toLowerCase(), createHash('sha256').update(body).digest('hex'))) {
    return false
  }
  const form = hash === null ? formBody(request) : new URLSearchParams()
  if (form === null) return false
  const fields = joinFields(form)
  return addresses(url).some((address) =>
    tokens.some((token) =>
      sameText(
        signature,
        createHmac('sha1', token)
          .update(address + fields, 'utf8')
          .digest('base64'),
      ),
    ),
  )
}

/** Sorted names, each followed by its values without duplicates. */
function joinFields(form: URLSearchParams): string {
  return [...new Set(form.keys())]
    .sort()
    .flatMap((name) => [...new Set(form.getAll(name))].sort().map((value) => name + value))
    .join('')
}

/**
 * The spellings of an address that Twilio may have signed. Handled as text: a URL parser would change the spelling of some
 * signed characters.
 */
function addresses(url: string): readonly string[] {
  const parts = /^([a-z][a-z0-9+.-]*:\/\/)([^/?#]*)(.*)$/is.exec(url)
  if (parts === null) return [url]
  const [, scheme = '', authority = '', rest = ''] = parts
  const hostAt = authority.lastIndexOf('@') + 1
  const [, host = '', port] = /^(\[[^\]]*\]|[^:]*)(:.*)?$/s.exec(authority.slice(hostAt)) ?? []
  const without = scheme + authority.slice(0, hostAt) + host
  const standard = STANDARD_PORTS[scheme.toLowerCase()] ?? ''
  // With and without the standard port, regardless of the configuration; a proxy or parser may have escaped
  // apostrophes.
  return [
    ...new Set(
      [port ?? '', '', standard].flatMap((each) =>
        quotesIn(rest).map((spelling) => without + each + spelling),
      ),
    ),
  ]
}

function quotesIn(rest: string): readonly string[] {
  const start = rest.indexOf('?')
  if (start < 0) return [rest]
  const query = rest.slice(start)
  const path = rest.slice(0, start)
  return [rest, path + query.replaceAll('%27', "'"), path + query.replaceAll("'", '%27')]
}
