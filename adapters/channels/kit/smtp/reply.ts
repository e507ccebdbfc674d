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
  /** The text without addresses, whose parts could match a pattern. */
  readonly words: string
}

// It follows a basic code (RFC 2034 4), or one repeated from another server; some servers mark it with a bracket or
// number sign. Elsewhere it may be a version number or part of an IP address.
const ENHANCED = /(?:^|\b\d{3}[ -]|[#([])#?(([245])\.(\d{1,3})\.(\d{1,3}))(?!\w|\.\d)/g

/** Parses a reply. Lines of a multi-line reply are joined. */
export function parseReply(response: string): SmtpReply {
  const text = response.replace(/\s+/g, ' ').trim()
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
    words: text.includes('@')
      ? text
          .split(' ')
          .filter((word) => !word.includes('@'))
          .join(' ')
      : text,
  }
}
