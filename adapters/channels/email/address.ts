import { domainToASCII } from 'node:url'

/** A mailbox for headers, as an object: a text could be read as a list or a group of addresses. */
export interface Mailbox {
  readonly name: string
  /** `local@domain` in ASCII. */
  readonly address: string
}

// What RFC 5322 allows unquoted, and nothing that a header or an SMTP command could mistake for syntax.
const LOCAL = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/
const DOMAIN = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/
const MAX_LOCAL = 64
const MAX_ADDRESS = 254

/** The address for an envelope, its domain in punycode; null when it is not exactly one plain address. */
export function envelopeAddress(text: string): string | null {
  const at = text.lastIndexOf('@')
  const local = text.slice(0, Math.max(at, 0))
  if (local.length > MAX_LOCAL || !LOCAL.test(local)) return null
  const given = text.slice(at + 1)
  // The converter drops some characters (soft hyphens) and maps others: refuse white space and controls before.
  if (/[\s\p{Cc}\p{Cf}]/u.test(given)) return null
  const domain = domainToASCII(given)
  const address = `${local}@${domain}`
  return DOMAIN.test(domain) && address.length <= MAX_ADDRESS ? address : null
}

/** Reads `ada@example.com` or `Ada <ada@example.com>`; null when it is neither. */
export function parseMailbox(text: string): Mailbox | null {
  const [, name = '', inner] = /^([^<>]*)<([^<>]*)>$/.exec(text.trim()) ?? []
  const address = envelopeAddress(inner ?? text.trim())
  if (address === null || /\p{Cc}/u.test(name)) return null
  return { name: name.trim().replace(/^"(.*)"$/, '$1'), address }
}
