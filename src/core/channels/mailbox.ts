import { envelopeAddress } from './mail-parts.ts'

/** A mailbox for headers. An object, because a string could be parsed as a list or a group. */
export interface Mailbox {
  readonly name: string
  /** `local@domain` in ASCII. */
  readonly address: string
}

/** Splits `ada@example.com` or `Ada <ada@example.com>`; the address is not checked. Null: neither. */
export function splitMailbox(text: string): Mailbox | null {
  const [, name = '', inner] = /^([^<>]*)<([^<>]*)>$/.exec(text.trim()) ?? []
  if (!isMailboxName(name)) return null
  const [, quoted] = /^"(.*)"$/.exec(name.trim()) ?? []
  return { name: quoted?.replace(/\\(.)/gu, '$1') ?? name.trim(), address: inner ?? text.trim() }
}

/**
 * Parses `ada@example.com` or `Ada <ada@example.com>`. Null: neither.
 *
 * @example
 * parseMailbox('Ada <ada@example.com>') // { name: 'Ada', address: 'ada@example.com' }
 */
export function parseMailbox(text: string): Mailbox | null {
  const split = splitMailbox(text)
  const address = split === null ? null : envelopeAddress(split.address)
  return split === null || address === null ? null : { name: split.name, address }
}

/** One line without control characters. */
export function isMailboxName(name: string): boolean {
  return !/[\p{Cc}\u2028\u2029]/u.test(name)
}
