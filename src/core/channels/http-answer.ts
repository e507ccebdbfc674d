import { LONGEST_HINT_MS } from '../delivery/retry-delay.ts'

/** The result of a request. */
export type HttpResult = HttpAnswer | HttpFailure

export interface HttpAnswer {
  readonly kind: 'answered'
  readonly status: number
  /** Lower-case names; the first value of a repeated header. */
  readonly headers: Readonly<Record<string, string>>
  /** The start of the body, decoded leniently. */
  readonly body: string
  /** True: the body is incomplete or unreadable: too long, badly encoded, or the connection ended or hung. */
  readonly cut?: boolean | undefined
  readonly durationMs: number
}

export interface HttpFailure {
  readonly kind: 'failed'
  /**
   * `blocked`: the guard refused the address; nothing was sent. `unreachable`: no connection (DNS, refused, TLS);
   * nothing was sent. `timeout`: the deadline passed. `broken`: the connection ended without a valid HTTP answer.
   * `aborted`: by the caller's signal.
   */
  readonly reason: 'blocked' | 'unreachable' | 'timeout' | 'broken' | 'aborted'
  /** True: at least part of the request may have reached the receiver. */
  readonly requestSent: boolean
  /** For people; contains no header and no secret. */
  readonly message: string
  readonly durationMs: number
}

/** Status codes that count as success: 200, or any 2xx by the owner's choice. */
export type SuccessStatus = '200' | '2xx'

/** The meaning of a {@link HttpResult} for the posted webhook (Standard Webhooks 1.0.0). */
export type PostResult =
  | { readonly kind: 'succeeded' }
  /** Permanent: the endpoint is gone, or its address is forbidden. */
  | {
      readonly kind: 'refused'
      readonly code: 'endpoint_gone' | 'blocked_address'
      readonly message: string
      readonly providerCode: string
    }
  /** Transient. */
  | {
      readonly kind: 'failed'
      readonly code: 'endpoint_error' | 'endpoint_timeout'
      readonly message: string
      /** The HTTP status, or the reason why there is none. */
      readonly providerCode: string
      /** The receiver's hint, in milliseconds. */
      readonly retryAfterMs?: number | undefined
      /** True: no answer came, and the receiver may have taken the request. */
      readonly ambiguous: boolean
    }

/** Statuses of overload, with a meaningful `Retry-After`. */
const OVERLOADED: ReadonlySet<number> = new Set([429, 502, 503, 504])

/**
 * Interprets the result of a webhook's POST by its status alone.
 *
 * @param nowMs epoch milliseconds, for a `Retry-After` with a date
 */
export function interpretPost(result: HttpResult, success: SuccessStatus, nowMs: number): PostResult {
  return result.kind === 'answered' ? interpretAnswer(result, success, nowMs) : interpretFailure(result)
}

function interpretAnswer({ status, headers }: HttpAnswer, success: SuccessStatus, nowMs: number): PostResult {
  if (success === '2xx' ? status >= 200 && status < 300 : status === 200) return { kind: 'succeeded' }
  const providerCode = String(status)
  if (status === 410) {
    return {
      kind: 'refused',
      code: 'endpoint_gone',
      message: 'The endpoint answered 410 Gone.',
      providerCode,
    }
  }
  const retryAfterMs = OVERLOADED.has(status) ? parseRetryAfter(headers['retry-after'], nowMs) : undefined
  return {
    kind: 'failed',
    code: 'endpoint_error',
    message: `The endpoint answered ${status}${explain(status)}.`,
    providerCode,
    retryAfterMs,
    ambiguous: false,
  }
}

function explain(status: number): string {
  if (status >= 200 && status < 300) return ', and only 200 counts as success'
  if (status >= 300 && status < 400) return '; redirects are not followed'
  return ''
}

function interpretFailure({ reason, requestSent, message }: HttpFailure): PostResult {
  switch (reason) {
    case 'blocked':
      return { kind: 'refused', code: 'blocked_address', message, providerCode: reason }
    case 'timeout':
    case 'aborted':
      return {
        kind: 'failed',
        code: 'endpoint_timeout',
        message,
        providerCode: reason,
        ambiguous: requestSent,
      }
    case 'unreachable':
    case 'broken':
      return { kind: 'failed', code: 'endpoint_error', message, providerCode: reason, ambiguous: requestSent }
  }
}

// RFC 9110 5.6.7: the current format, then the two obsolete ones (RFC 850, asctime).
const IMF_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/
const RFC_850_DATE =
  /^(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, (\d{2})-([A-Z][a-z]{2})-(\d{2}) (\d{2}:\d{2}:\d{2} GMT)$/
const ASCTIME_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) ([A-Z][a-z]{2}) ([\d ]\d) (\d{2}:\d{2}:\d{2}) (\d{4})$/

/**
 * Parses a `Retry-After` header: seconds, also fractions, or an HTTP date.
 *
 * @returns milliseconds from now, at most {@link LONGEST_HINT_MS}; undefined if absent, past or invalid
 *
 * @example
 * const retryAfterMs = parseRetryAfter(response.headers.get('retry-after') ?? undefined, Date.now())
 */
export function parseRetryAfter(value: string | undefined, nowMs: number): number | undefined {
  if (value === undefined) return undefined
  const text = value.trim()
  const waitMs = /^\d+(?:\.\d+)?$/.test(text)
    ? Math.ceil(Number(text) * 1000)
    : parseDate(text, nowMs) - nowMs
  return waitMs > 0 ? Math.min(waitMs, LONGEST_HINT_MS) : undefined
}

/** @returns epoch milliseconds; NaN: invalid */
function parseDate(text: string, nowMs: number): number {
  if (IMF_DATE.test(text)) return Date.parse(text)
  const [, month, day, clock, year] = ASCTIME_DATE.exec(text) ?? []
  if (month !== undefined) return Date.parse(`${day} ${month} ${year} ${clock} GMT`)
  const [, dayOf, monthOf, shortYear, time] = RFC_850_DATE.exec(text) ?? []
  if (dayOf === undefined) return Number.NaN
  // A year of two digits; more than 50 years ahead means the past.
  const century = Math.floor(new Date(nowMs).getUTCFullYear() / 100)
  const at = Date.parse(`${dayOf} ${monthOf} ${century}${shortYear} ${time}`)
  return new Date(at).getUTCFullYear() - new Date(nowMs).getUTCFullYear() > 50 ? Number.NaN : at
}
