import type { Mailbox } from './address.ts'

/**
 * An encoded word may be 75 characters long (RFC 2047 2). With 39 bytes, their base64 and its frame of 12 it is 64, and the
 * name of a header stands beside it in a line of 76.
 */
const WORD_BYTES = 39

/** A header's text in ASCII: as it is where it is ASCII, else in encoded words (RFC 2047). */
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

/** `"Name" <address>` for APIs that take text in UTF-8, or the bare address. */
export function mailboxText({ name, address }: Mailbox): string {
  return name === '' ? address : `${quoted(name)} <${address}>`
}

/** A text in quotes (RFC 5322 3.2.4). */
export function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`
}

/** The same in ASCII. */
export function asciiMailboxText({ name, address }: Mailbox): string {
  return /^[\x20-\x7e]*$/.test(name) ? mailboxText({ name, address }) : `${asciiText(name)} <${address}>`
}
