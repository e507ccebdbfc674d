import type { Attachment } from '../../../src/core/channels/email-content.ts'
import { isContentId } from '../../../src/core/channels/mail-parts.ts'
import type { Mailbox } from '../../../src/core/channels/mailbox.ts'
import { asciiText, quoted } from '../kit/mail/header-text.ts'
import type { Encoders } from './nodemailer.ts'

/*
 * Header lines of a mail, folded if possible and each with its line end. This is the last check before the mail server:
 * no input can end a line and start another header.
 */

const LINE = 76
/** Longest encoded word on one line with a header's name. */
const WORD = 52
/** Longest plain text on one line with a header's name. */
const SHORT = 60
/**
 * A line has at most 998 characters (RFC 5322 2.1.1), minus the header's name. The 900-character address in `<…>` fits.
 */
const MAX_UNFOLDED = 910

/** Folding makes no blank line of it: no spaces at the ends, and no long runs of spaces. */
const FOLDABLE = /^[!-~]+(?: {1,30}[!-~]+)*$/
/** Folding changes nothing in it. Many mail clients collapse a fold and the spaces after it to one space. */
const SINGLE_SPACED = /^[!-~]+(?: [!-~]+)*$/
const PRINTABLE = /^[ -~]*$/
const ATOMS = /^\w+(?: \w+)*$/
const FIELD_NAME = /^[!-9;-~]{1,70}$/
/** `local@domain` without characters that need quotes (RFC 5322 3.4.1). */
const ADDRESS = /^[!#-'*+\-./0-9=?A-Z^-~]{1,64}@[A-Za-z0-9.-]{1,255}$/
const MESSAGE_ID = /^<[!-;=?-~]{1,500}>$/
const MEDIA_TYPE = /^[\w.+-]{1,127}\/[\w.+-]{1,127}(?=;|$)/
const PARAMETER = /; ?([\w.+-]+)=([\w.+-]+|"[^"\p{Cc}]*")(?=;|$)/gu
const PARAMETER_NAME = /^(?!name$)[\w.+-]{1,60}$/i
const MAX_PARAMETER = 300
/** Length of a section of a long parameter (RFC 2231 3). */
const SECTION = 50

/** A header with text. ASCII stays unchanged, even if it looks like an encoded word. */
export function customHeader(name: string, value: string, encoders: Encoders): string {
  if (!FIELD_NAME.test(name)) throw new Error('A header name is not a single ASCII word.')
  const text = oneLine(value)
  if (text === '') return ''
  return line(name, isFoldable(text) ? text : encodedWords(text, encoders), encoders)
}

/** A header whose text arrives exactly as given, even if it looks like an encoded word. */
export function textHeader(name: string, value: string, encoders: Encoders): string {
  const text = oneLine(value)
  if (text === '') return ''
  return line(name, isLiteral(text) ? text : encodedWords(text, encoders), encoders)
}

export function mailboxHeader(name: string, mailboxes: readonly Mailbox[], encoders: Encoders): string {
  const texts = mailboxes.map(({ name: shown, address }) => {
    if (!ADDRESS.test(address)) throw new Error(`An address in ${name} is not a single e-mail address.`)
    const phrase = phraseOf(oneLine(shown), encoders)
    return phrase === '' ? address : `${phrase} <${address}>`
  })
  return line(name, texts.join(', '), encoders)
}

export function messageIdHeader(id: string, encoders: Encoders): string {
  if (!MESSAGE_ID.test(id)) throw new Error('The Message-ID is invalid.')
  return line('Message-ID', id, encoders)
}

/**
 * `Content-Type` and `Content-Disposition` of a file, and `Content-ID` of an inline one. The first two carry the name: some mail clients (QQ, older Outlooks) do
 * not support RFC 2231 and read a non-ASCII name only as an encoded word in `name`.
 */
export function fileHeaders(
  { contentType, filename, cid }: Omit<Attachment, 'content'>,
  encoders: Encoders,
): string {
  const name = oneLine(filename) || 'attachment'
  const plain = isShort(name)
  const [type] = MEDIA_TYPE.exec(contentType) ?? ['application/octet-stream']
  const given = [...contentType.matchAll(PARAMETER)].flatMap(([, key = '', value = '']) =>
    parameterOf(key, value),
  )
  const shown = quoted(plain ? name : encodedWords(name, encoders).replaceAll(' ', '\r\n '))
  return (
    parameterHeader('Content-Type', [type, ...given, `name=${shown}`]) +
    (cid === undefined ? '' : contentIdHeader(cid)) +
    parameterHeader('Content-Disposition', [
      cid === undefined ? 'attachment' : 'inline',
      ...(plain ? [`filename=${shown}`] : sections('filename', name)),
    ])
  )
}

function contentIdHeader(cid: string): string {
  if (!isContentId(cid)) throw new Error('A content id is invalid.')
  return `Content-ID: <${cid}>\r\n`
}

/** A header with each parameter on its own line. Elsewhere, folding could split a quoted value. */
export function parameterHeader(name: string, parts: readonly string[]): string {
  return `${name}: ${parts.join(';\r\n ')}\r\n`
}

/** True: the text is more readable with its letters unencoded than in base64. */
export function isMostlyAscii(text: string): boolean {
  let others = 0
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index)
    if (code > 0x7e || (code < 0x20 && code !== 0x09 && code !== 0x0a && code !== 0x0d)) others += 1
  }
  return others * 2 <= text.length
}

function line(name: string, value: string, { mime }: Encoders): string {
  const whole = `${name}: ${value}`
  return `${whole.length <= LINE ? whole : mime.foldLines(whole, LINE)}\r\n`
}

/** Removes control characters, some of which end a line. */
function oneLine(text: string): string {
  return isFoldable(text) ? text : text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim()
}

function isFoldable(text: string): boolean {
  return text.length <= MAX_UNFOLDED && FOLDABLE.test(text)
}

/** True: the text arrives unchanged if it is written unencoded. */
function isLiteral(text: string): boolean {
  return isShort(text) || (text.length <= MAX_UNFOLDED && SINGLE_SPACED.test(text) && !text.includes('=?'))
}

function isShort(text: string): boolean {
  return text.length <= SHORT && PRINTABLE.test(text) && !text.includes('=?')
}

/** Encoded words of RFC 2047 that are also valid in a phrase. */
function encodedWords(text: string, { mime }: Encoders): string {
  return PRINTABLE.test(text) || isMostlyAscii(text) ? mime.encodeWord(text, 'Q', WORD) : asciiText(text)
}

function phraseOf(name: string, encoders: Encoders): string {
  // The header of several mailboxes may be folded in a name.
  if (!isShort(name) || name.includes('  ')) return encodedWords(name, encoders)
  return name === '' || ATOMS.test(name) ? name : quoted(name)
}

/** A parameter of a media type. Empty if it cannot be reproduced. */
function parameterOf(name: string, value: string): readonly string[] {
  // A backslash can hide the end of a quoted value.
  if (!PARAMETER_NAME.test(name) || value.length > MAX_PARAMETER || value.includes('\\')) return []
  return PRINTABLE.test(value) ? [`${name}=${value}`] : sections(name, value.slice(1, -1))
}

/** A parameter in UTF-8, in as many sections as needed (RFC 2231 3 and 4). */
function sections(name: string, text: string): readonly string[] {
  const all: string[] = []
  let section = "utf-8''"
  for (const character of text) {
    const octets = /[\w.-]/.test(character) ? character : percentEncoded(character)
    if (section.length + octets.length > SECTION) {
      all.push(section)
      section = ''
    }
    section += octets
  }
  return [...all, section].map((one, index) => `${name}*${index}*=${one}`)
}

function percentEncoded(character: string): string {
  return Buffer.from(character).toString('hex').toUpperCase().replace(/../g, '%$&')
}
