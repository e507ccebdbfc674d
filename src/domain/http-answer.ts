import { LONGEST_HINT_MS } from './retry.ts'

/** How a request ended. */
export type PostResult = PostAnswer | PostFailure

export interface PostAnswer {
  readonly kind: 'answered'
  readonly status: number
  /** Lower-case names; of a repeated header the first value. */
  readonly headers: Readonly<Record<string, string>>
  /** The beginning of the body, decoded leniently. */
  readonly body: string
  /** True when the end of the body is missing: it was too long, or the connection ended or hung in the middle of it. */
  readonly cut?: boolean | undefined
  readonly durationMs: number
}

export interface PostFailure {
  readonly kind: 'failed'
  /**
   * `blocked`: the guard refused the address; nothing was sent. `unreachable`: no connection (look-up, refused,
   * TLS); nothing was sent. `timeout`: the deadline passed. `broken`: the connection ended without an answer, or
   * with one that is no HTTP.
   * `aborted`: the caller's signal.
   */
  readonly reason: 'blocked' | 'unreachable' | 'timeout' | 'broken' | 'aborted'
  /** True when the request, or part of it, may have reached the receiver. */
  readonly requestSent: boolean
  /** For people; contains no header and no secret. */
  readonly message: string
  readonly durationMs: number
}

/** Which statuses are success: 200, or any 2xx where the receiver's owner chose so. */
export type SuccessStatus = '200' | '2xx'

/** What a {@link PostResult} means for the webhook that was posted (Standard Webhooks 1.0.0). */
export type PostVerdict =
  | { readonly kind: 'succeeded' }
  /** The same will never succeed: the endpoint is gone for good, or its address is forbidden. */
  | {
      readonly kind: 'refused'
      readonly code: 'endpoint_gone' | 'blocked_address'
      readonly message: string
      readonly providerCode: string
    }
  /** Worth another attempt. */
  | {
      readonly kind: 'failed'
      readonly code: 'endpoint_error' | 'endpoint_timeout'
      readonly message: string
      /** The HTTP status, or the reason why there was none. */
      readonly providerCode: string
      /** The receiver's own hint, in milliseconds. */
      readonly retryAfterMs?: number | undefined
      /** True when the receiver may have taken the request although we have no answer. */
      readonly ambiguous: boolean
    }

/** Statuses of overload, whose `Retry-After` counts. */
const OVERLOADED: ReadonlySet<number> = new Set([429, 502, 503, 504])

/**
 * Interprets the end of a webhook's POST, by the status line alone.
 *
 * @param nowMs epoch milliseconds, for a `Retry-After` that is a date
 */
export function judgePost(result: PostResult, success: SuccessStatus, nowMs: number): PostVerdict {
  return result.kind === 'answered' ? judgeAnswer(result, success, nowMs) : judgeFailure(result)
}

function judgeAnswer({ status, headers }: PostAnswer, success: SuccessStatus, nowMs: number): PostVerdict {
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
  if (status >= 200 && status < 300) return ', where only 200 counts as success'
  if (status >= 300 && status < 400) return '; redirects are not followed'
  return ''
}

function judgeFailure({ reason, requestSent, message }: PostFailure): PostVerdict {
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

// RFC 9110 5.6.7: the form that is sent today, then the two that must still be read: of RFC 850, and of C's asctime.
const IMF_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/
const RFC_850_DATE =
  /^(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, (\d{2})-([A-Z][a-z]{2})-(\d{2}) (\d{2}:\d{2}:\d{2} GMT)$/
const ASCTIME_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) ([A-Z][a-z]{2}) ([\d ]\d) (\d{2}:\d{2}:\d{2}) (\d{4})$/

/**
 * Reads a `Retry-After` header: seconds, also broken ones, or an HTTP date.
 *
 * @returns milliseconds from now, at most {@link LONGEST_HINT_MS}; undefined when absent, past or unreadable.
 */
export function parseRetryAfter(value: string | undefined, nowMs: number): number | undefined {
  if (value === undefined) return undefined
  const text = value.trim()
  const waitMs = /^\d+(?:\.\d+)?$/.test(text)
    ? Math.ceil(Number(text) * 1000)
    : parseDate(text, nowMs) - nowMs
  return waitMs > 0 ? Math.min(waitMs, LONGEST_HINT_MS) : undefined
}

/** @returns epoch milliseconds; NaN when it is no date */
function parseDate(text: string, nowMs: number): number {
  if (IMF_DATE.test(text)) return Date.parse(text)
  const [, month, day, clock, year] = ASCTIME_DATE.exec(text) ?? []
  if (month !== undefined) return Date.parse(`${day} ${month} ${year} ${clock} GMT`)
  const [, dayOf, monthOf, shortYear, time] = RFC_850_DATE.exec(text) ?? []
  if (dayOf === undefined) return Number.NaN
  // Its year has two digits; one that seems more than 50 years ahead is in the past.
  const century = Math.floor(new Date(nowMs).getUTCFullYear() / 100)
  const at = Date.parse(`${dayOf} ${monthOf} ${century}${shortYear} ${time}`)
  return new Date(at).getUTCFullYear() - new Date(nowMs).getUTCFullYear() > 50 ? Number.NaN : at
}
