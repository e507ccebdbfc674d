import type { ErrorCode } from '../../../../src/domain/errors/catalogue.ts'
import { type PostResult, parseRetryAfter } from '../../../../src/domain/http-answer.ts'
import type { FaultScope, Outcome } from '../../../../src/domain/outcome.ts'

/** An answer of a provider, as far as it could be read. */
export interface ProviderAnswer {
  readonly status: number
  /** Lower-case names; of a repeated header the first value. */
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  /** The body; undefined when it is not JSON, or not all of it arrived. */
  readonly json: unknown
  /** What `Retry-After` asks for, in milliseconds. */
  readonly retryAfterMs: number | undefined
}

/**
 * Reads one provider's answer: its id or its own error codes.
 *
 * @returns null when the answer is none that the provider is known to give; its status decides then
 */
export type Judge = (answer: ProviderAnswer) => Outcome | null

/** One row of a provider's table of errors. */
export type Verdict = readonly [kind: 'rejected' | 'retry' | 'ambiguous', code: ErrorCode, scope: FaultScope]

/** What a provider said about a failure. */
export interface ProviderWords {
  /** Its own code, raw. */
  readonly code?: string | number | undefined
  readonly message?: string | undefined
  /** Its hint where it is not in `Retry-After`, in milliseconds. */
  readonly retryAfterMs?: number | undefined
}

/**
 * Says what the end of a request means.
 *
 * A request of which nothing was sent is certainly not done. After that only an answer that can be read proves
 * anything: silence, a broken connection and a success that is cut or unreadable leave nobody knowing.
 */
export function judgeResult(result: PostResult, judge: Judge): Outcome {
  if (result.kind === 'failed') {
    const { reason, message, requestSent } = result
    return requestSent
      ? { kind: 'ambiguous', code: 'provider_unavailable', reason: message, providerCode: reason }
      : { kind: 'retry', code: 'provider_unavailable', scope: 'provider', message, providerCode: reason }
  }
  const { status, headers, body, cut = false } = result
  const success = status >= 200 && status < 300
  const answer: ProviderAnswer = {
    status,
    headers,
    text: body,
    json: cut ? undefined : jsonOf(body),
    retryAfterMs: parseRetryAfter(headers['retry-after'], Date.now()),
  }
  if (success && cut) return unreadable(answer, 'an answer that ends in the middle')
  return judge(answer) ?? (success ? unreadable(answer, 'something else than its answer') : refuse(answer))
}

/**
 * The outcome for a failure that the provider reported, in its own words and in full: `redactor` cuts them.
 *
 * @param verdict the row of the provider's table; undefined: by the status of HTTP alone
 */
export function refuse(answer: ProviderAnswer, words: ProviderWords = {}, verdict?: Verdict): Outcome {
  const [kind, code, scope] = verdict ?? byStatus(answer.status)
  const providerCode = String(words.code ?? answer.status)
  const message =
    words.message === undefined || words.message === ''
      ? `The provider answered ${answer.status}.`
      : words.message
  switch (kind) {
    case 'ambiguous':
      return { kind, code, reason: message, providerCode }
    case 'rejected':
      return { kind, code, scope, message, providerCode }
    case 'retry': {
      const retryAfterMs = words.retryAfterMs ?? answer.retryAfterMs
      return {
        kind,
        code,
        scope,
        message,
        providerCode,
        ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      }
    }
  }
}

/** What a status of HTTP means where the provider's table says nothing else (RFC 9110, RFC 6585, RFC 8470). */
export function byStatus(status: number): Verdict {
  switch (status) {
    case 401:
    case 403:
    case 407:
      return ['rejected', 'provider_auth_failed', 'account']
    case 402:
      return ['retry', 'provider_quota_exceeded', 'account']
    case 404:
    case 405:
      // Another path than the provider serves: an option is wrong.
      return ['rejected', 'provider_error', 'account']
    case 408:
    case 421:
    case 425:
    case 503:
      return ['retry', 'provider_unavailable', 'provider']
    case 413:
      return ['rejected', 'message_too_large', 'message']
    case 429:
      return ['retry', 'provider_rate_limited', 'account']
    default:
      if (status >= 500) return ['ambiguous', 'provider_unavailable', 'provider']
      // Redirects are not followed: credentials would go along.
      return ['rejected', 'provider_error', status < 400 ? 'account' : 'message']
  }
}

/** A hint that stands in the body: seconds, of which a fraction may be there. */
export function hintOf(seconds: unknown): number | undefined {
  return typeof seconds === 'number' ? parseRetryAfter(String(seconds), Date.now()) : undefined
}

function unreadable({ status }: ProviderAnswer, what: string): Outcome {
  return {
    kind: 'ambiguous',
    code: 'provider_error',
    reason: `The provider answered ${status} with ${what}.`,
    providerCode: String(status),
  }
}

/** What a text is as JSON; undefined when it is none. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A member of an object that a provider sent; undefined when there is none. */
export function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined
}

/** Like {@link member}, for a text that is not empty; a number counts as its digits. */
export function textMember(value: unknown, name: string): string | undefined {
  const found = member(value, name)
  if (typeof found === 'number') return String(found)
  return typeof found === 'string' && found !== '' ? found : undefined
}

/** The row of a table for a code that a provider sent, which may be anything: also the name of a method of objects. */
export function rowOf<Row>(table: Readonly<Record<string, Row>>, code: string | undefined): Row | undefined {
  return code !== undefined && Object.hasOwn(table, code) ? table[code] : undefined
}
