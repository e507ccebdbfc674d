import type { Mailbox } from '../../../../src/core/channels/mailbox.ts'

/**
 * An encoded word has at most 75 characters (RFC 2047 2). 39 bytes become 64 characters with base64 and framing, which
 * leaves room for the header's name in a line of 76.
 */
const WORD_BYTES = 39

/**
 * A header text in ASCII, with encoded words (RFC 2047) for other characters.
 *
 * @example
 * asciiText('Grüße') // '=?UTF-8?B?R3LDvMOfZQ==?='
 */
export function asciiText(text: string): string {
  if (/^[\x20-\x7e]*$/.test(text)) return text
  const words: string[] = []
  let word = ''
  for (const character of text) {
    if (Buffer.byteLength(word + character) > WORD_BYTES) {
      words.push(word)
      word = ''
    }
    word += character
  }
  return [...words, word].map((one) => `=?UTF-8?B?${Buffer.from(one).toString('base64')}?=`).join(' ')
}

/**
 * `"Name" <address>` in UTF-8, or the bare address.
 *
 * @example
 * mailboxText({ name: 'Zoë', address: 'zoe@example.com' }) // '"Zoë" <zoe@example.com>'
 */
export function mailboxText({ name, address }: Mailbox): string {
  return name === '' ? address : `${quoted(name)} <${address}>`
}

/**
 * A list of mailboxes in UTF-8.
 *
 * @example
 * mailboxTexts([{ name: '', address: 'ada@example.com' }, { name: 'Alan', address: 'alan@example.com' }])
 */
export function mailboxTexts(mailboxes: readonly Mailbox[]): string {
  return mailboxes.map(mailboxText).join(', ')
}

/** A quoted string (RFC 5322 3.2.4). */
export function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`
}

/**
 * `"Name" <address>` in ASCII.
 *
 * @example
 * asciiMailboxText({ name: 'Zoë', address: 'zoe@example.com' }) // '=?UTF-8?B?Wm/Dqw==?= <zoe@example.com>'
 */
export function asciiMailboxText({ name, address }: Mailbox): string {
  return /^[\x20-\x7e]*$/.test(name) ? mailboxText({ name, address }) : `${asciiText(name)} <${address}>`
}
