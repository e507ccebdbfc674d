/** The significant parts of an SMTP reply (RFC 5321 4.2, RFC 3463). */
export interface SmtpReply {
  /** Basic code. 0: the text does not begin with one. */
  readonly basic: number
  /** 4: temporary. 5: permanent. From the basic code, else the enhanced one. 0: neither. */
  readonly class: 0 | 4 | 5
  /** `subject.detail` of the enhanced code, for example `1.1`. */
  readonly detail: string | null
  /** Codes as received, for example `550 5.1.1`. */
  readonly raw: string
  readonly text: string
  /** The text without mail addresses, URLs and host names, whose parts could match a pattern. */
  readonly words: string
}

// It follows a basic code (RFC 2034 4), or one repeated from another server; some servers mark it with a bracket or
// number sign. Elsewhere it may be a version number or part of an IP address.
const ENHANCED = /(?:^|\b\d{3}[ -]|[#([])#?(([245])\.(\d{1,3})\.(\d{1,3}))(?!\w|\.\d)/g
/** In reports of bounces (RFC 3464 2.3.6). */
const DIAGNOSTIC_TYPE = /^(?:smtp|x-[\w-]+) ?; ?/i

/** Local parts may be quoted, with any words in them (RFC 5322 3.4.1). */
const ADDRESS = /"[^"]{0,64}"@\S+|<[^<>]*@[^<>]*>/g
const URL = /\bhttps?:\/\/\S+/gi
/** Three labels or more. A missing space after a full stop makes two words look like a host. */
const HOST = /(?<![\w.-])(?:[\w-]+\.){2,}[a-z]{2,24}(?![\w-])/g
/** The name of a block list says as much as the words. */
const LISTS =
  /spamhaus|spamcop|sorbs|barracuda|dnsbl|(?<![a-z])rbl|cloudmark|abuseat|uribl|surbl|senderscore|ipcheck|block-?list|blacklist/i
/** Longer than every text that a server means to be read. */
const MAX_WORDS = 4_000

/** Parses a reply. Lines of a multi-line reply are joined. */
export function parseReply(response: string): SmtpReply {
  const text = response.replace(/\s+/g, ' ').trim().replace(DIAGNOSTIC_TYPE, '')
  const basic = Number(/^([2-5]\d\d)(?=[ -]|$)/.exec(text)?.[1] ?? 0)
  const enhanced = [...text.matchAll(ENHANCED)].find(
    ([, , digit]) => basic === 0 || Math.trunc(basic / 100) === Number(digit),
  )
  const [, code, digit, subject, detail] = enhanced ?? []
  const first = basic === 0 ? digit : String(basic).charAt(0)
  return {
    basic,
    class: first === '4' ? 4 : first === '5' ? 5 : 0,
    detail: enhanced === undefined ? null : `${Number(subject)}.${Number(detail)}`,
    raw: [basic === 0 ? [] : [String(basic)], code ?? []].flat().join(' '),
    text,
    words: wordsOf(text),
  }
}

/** The mail addresses in a text, in lower case. */
export function addressesIn(text: string): readonly string[] {
  const found = text.match(/[^\s<>()[\],;:"'`]{1,256}@[^\s<>()[\],;:"'`]{1,256}/g) ?? []
  return found.map((address) => address.replace(/\.+$/, '').toLowerCase())
}

function wordsOf(text: string): string {
  const listed = (host: string): string => (LISTS.test(host) ? 'block list' : '')
  return text
    .slice(0, MAX_WORDS)
    .replace(ADDRESS, '')
    .split(' ')
    .filter((word) => !word.includes('@'))
    .join(' ')
    .replace(URL, listed)
    .replace(HOST, listed)
}
