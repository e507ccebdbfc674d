import { envelopeAddress } from '../../../../src/domain/mail-parts.ts'

/** A mailbox for headers. An object, because a text could be read as a list or a group. */
export interface Mailbox {
  readonly name: string
  /** `local@domain` in ASCII. */
  readonly address: string
}

/** Parses `ada@example.com` or `Ada <ada@example.com>`. Null: neither. */
export function parseMailbox(text: string): Mailbox | null {
  const [, name = '', inner] = /^([^<>]*)<([^<>]*)>$/.exec(text.trim()) ?? []
  const address = envelopeAddress(inner ?? text.trim())
  if (address === null || /\p{Cc}/u.test(name)) return null
  const [, quoted] = /^"(.*)"$/.exec(name.trim()) ?? []
  return { name: quoted?.replace(/\\(.)/gu, '$1') ?? name.trim(), address }
}
