/**
 * The rules for the parts of a mail, shared by accept and composition, so that an accepted mail never fails on them.
 */

/** Path separators, controls, and bidirectional marks that can hide a file's extension. */
const NOT_IN_FILENAME = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069/\\]/u
/** With parameters, on one line. */
const MEDIA_TYPE = /^[\w.+-]+\/[\w.+-]+(?:; ?[\w.+-]+=(?:[\w.+-]+|"[^"\p{Cc}]*"))*$/u
const CONTENT_ID = /^[\w.+@-]{1,100}$/

// The unquoted characters of RFC 5322, without any syntax of headers or SMTP.
const LOCAL = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/
const DOMAIN = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/
const PUNYCODE = /(?:^|\.)xn--/
/** White space, controls, invisible characters, and all ASCII except letters, digits, dots and hyphens. */
const NOT_IN_DOMAIN = /[\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}!-,/:-@[-`{-~]/u
const MAX_LOCAL = 64
const MAX_ADDRESS = 254

/** A plain file name, without a path. */
export function isFilename(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && !NOT_IN_FILENAME.test(name)
}

/** A media type such as `application/pdf`, parameters included. */
export function isMediaType(text: string): boolean {
  return MEDIA_TYPE.test(text)
}

/** The id of a part, without brackets. It occurs in a URL (`cid:…`) and in headers. */
export function isContentId(id: string): boolean {
  return CONTENT_ID.test(id)
}

/** The fault of an iCalendar object for a mail with the method (RFC 6047 2.4). Null: none that matters here. */
export function calendarFault(method: string, content: string): string | null {
  if (!/^BEGIN:VCALENDAR\r?\n/i.test(content)) return 'must begin with a line BEGIN:VCALENDAR'
  if (!/\r?\nEND:VCALENDAR\s*$/i.test(content)) return 'must end with a line END:VCALENDAR'
  const [, stated] = /^METHOD:([A-Z-]{1,40})[ \t]*$/im.exec(content.replaceAll('\r', '')) ?? []
  return stated?.toUpperCase() === method ? null : `must have a line METHOD:${method}`
}

/**
 * The address for an envelope, with its domain in punycode. Null: not exactly one plain address.
 *
 * @example
 * envelopeAddress('ada@bücher.example') // 'ada@xn--bcher-kva.example'
 * envelopeAddress('Ada <ada@example.com>') // null
 */
export function envelopeAddress(text: string): string | null {
  const at = text.lastIndexOf('@')
  const local = text.slice(0, Math.max(at, 0))
  if (local.length > MAX_LOCAL || !LOCAL.test(local)) return null
  const domain = asciiDomain(text.slice(at + 1))
  const address = `${local}@${domain}`
  return domain !== null && address.length <= MAX_ADDRESS ? address : null
}

/** A domain in punycode. Null: invalid, or with characters that are converted to others (full-width letters). */
function asciiDomain(given: string): string | null {
  const plain = given.toLowerCase().normalize('NFC')
  // The converter decodes percent-escapes and stops at the end of a host (/?#).
  if (NOT_IN_DOMAIN.test(given) || plain.normalize('NFKC') !== plain) return null
  const domain = hostOf(given)
  if (domain === null || !DOMAIN.test(domain) || domain.split('.').length !== given.split('.').length)
    return null
  // The converter validates punycode only if it has something to convert.
  return PUNYCODE.test(domain) && hostOf(`é.${domain}`) === null ? null : domain
}

function hostOf(host: string): string | null {
  return URL.parse(`ws://${host}`)?.hostname ?? null
}
