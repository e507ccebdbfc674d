/**
 * The rules for the parts of a mail, shared by accept and composition, so that an accepted mail never fails on them.
 */

/** Headers that mail or the service sets. */
const RESERVED =
  /^(?:from|to|cc|bcc|sender|reply-to|subject|date|message-id|in-reply-to|references|return-path|received|dkim-signature|mime-version|content-.*|resent-.*|list-unsubscribe.*)$/i
/** Headers that mail relays and providers act on, or that claim a check of the mail. */
const OBEYED =
  /^(?:x-(?:smtpapi|(?:sg|sendgrid|mc|mandrill|msys|sparkpost|ses|amazon|pm|postmark|mailgun|mj|mailjet|mailin|sib|brevo|sendinblue|elastic|elasticemail|mailersend|mt|mailtrap|smtp2go|socketlabs|resend|ms-exchange|forefront|envelope|original-to|spam|google-dkim-signature|received|failed-recipients|msfbl|sender)(?:-.*)?|xs.*)|authentication-results(?:-.*)?|bimi-.*|original-recipient|arc-.*|dkim-.*|domainkey-.*|received-.*|return-receipt-to|errors-to|bounces?-to|apparently-to|delivered-to|envelope-.*)$/i
const HEADER_NAME = /^[A-Za-z0-9-]{1,64}$/
const ONE_LINE = /^[^\p{Cc}\u2028\u2029]{0,900}$/u
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

/** The fault of a custom header. Null: allowed. */
export function headerFault(name: string, value: string): string | null {
  return headerNameFault(name) ?? (isHeaderValue(value) ? null : `"${name}" is not one line of text`)
}

/** The fault of a custom header's name. Null: allowed. */
export function headerNameFault(name: string): string | null {
  if (!HEADER_NAME.test(name)) return 'names must have 1 to 64 letters, digits and hyphens'
  return RESERVED.test(name) ? `"${name}" cannot be set here` : null
}

/** True: only an option can allow this header. */
export function isObeyedHeader(name: string): boolean {
  return OBEYED.test(name)
}

/** One line of at most 900 characters. */
export function isHeaderValue(value: string): boolean {
  return typeof value === 'string' && ONE_LINE.test(value)
}

/** A plain file name, without a path. */
export function isFilename(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && !NOT_IN_FILENAME.test(name)
}

/** A media type such as `application/pdf`, parameters included. */
export function isMediaType(text: string): boolean {
  return MEDIA_TYPE.test(text)
}

/** The id of a part, without brackets. It stands in a URL (`cid:…`) and in headers. */
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

/** The address for an envelope, with its domain in punycode. Null: not exactly one plain address. */
export function envelopeAddress(text: string): string | null {
  const at = text.lastIndexOf('@')
  const local = text.slice(0, Math.max(at, 0))
  if (local.length > MAX_LOCAL || !LOCAL.test(local)) return null
  const domain = asciiDomain(text.slice(at + 1))
  const address = `${local}@${domain}`
  return domain !== null && address.length <= MAX_ADDRESS ? address : null
}

/** A domain in punycode. Null: invalid, or with characters that stand for others (full-width letters). */
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
