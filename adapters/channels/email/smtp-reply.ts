/** The parts of an SMTP reply that carry meaning (RFC 5321 4.2, RFC 3463). */
export interface SmtpReply {
  /** Basic code; 0 when the text does not begin with one. */
  readonly basic: number
  /** 4: may pass. 5: permanent. Of the enhanced code where there is one, else of the basic one; 0: neither. */
  readonly class: 0 | 4 | 5
  /** `subject.detail` of the enhanced code, for example `1.1`. */
  readonly detail: string | null
  /** Codes as received, for example `550 5.1.1`. */
  readonly raw: string
  readonly text: string
}

// Not part of an IP address or a version number: neither digits nor dots may touch it.
const ENHANCED = /(?<![\d.])([245])\.(\d{1,3})\.(\d{1,3})(?!\.?\d)/

/** Reads a reply; lines of a multi-line one are joined. */
export function parseReply(response: string): SmtpReply {
  const text = response.replace(/\s+/g, ' ').trim()
  const basic = Number(/^([2-5]\d\d)(?=[ -]|$)/.exec(text)?.[1] ?? 0)
  const enhanced = ENHANCED.exec(text)
  const first = enhanced?.[1] ?? String(basic).charAt(0)
  return {
    basic,
    class: first === '4' ? 4 : first === '5' ? 5 : 0,
    detail: enhanced === null ? null : `${Number(enhanced[2])}.${Number(enhanced[3])}`,
    raw: [basic === 0 ? [] : [String(basic)], enhanced?.[0] ?? []].flat().join(' '),
    text,
  }
}
