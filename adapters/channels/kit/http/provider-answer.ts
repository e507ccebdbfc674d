import { type HttpResult, parseRetryAfter } from '../../../../src/core/channels/http-answer.ts'
import type { ErrorCode } from '../../../../src/core/errors/catalogue.ts'
import type { FaultScope, Outcome } from '../../../../src/core/notification/outcome.ts'

/** A provider's answer. Its body may be incomplete. */
export interface ProviderAnswer {
  readonly status: number
  /** Headers by lower-case name; the first value of repeated ones. */
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  /** The parsed body. Undefined: not JSON, or incomplete. */
  readonly json: unknown
  /** Value of `Retry-After` in milliseconds. */
  readonly retryAfterMs: number | undefined
}

/**
 * Reads one provider's answers: its message id or its error codes.
 *
 * @returns null for an answer that the provider is not known to give; the HTTP status decides then
 */
export type ReadOutcome = (answer: ProviderAnswer) => Outcome | null

/** A row of a provider's error table. */
export type Classification = readonly [
  kind: 'rejected' | 'retry' | 'ambiguous',
  code: ErrorCode,
  scope: FaultScope,
]

/** A provider's description of a failure. */
export interface ProviderWords {
  /** The provider's own code, unchanged. */
  readonly code?: string | number | undefined
  readonly message?: string | undefined
  /** Retry hint outside of `Retry-After`, in milliseconds. */
  readonly retryAfterMs?: number | undefined
}

/**
 * Converts the end of a request to an outcome.
 *
 * A request that was not sent is certainly not processed. After that only a readable answer proves anything: a timeout,
 * a broken connection or an unreadable success is ambiguous.
 */
export function outcomeOfResult(result: HttpResult, readOutcome: ReadOutcome): Outcome {
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
  const outcome = readOutcome(answer)
  // Of a success without its body, only an acceptance by status and headers counts: the message must not go again.
  if (success && cut) return outcome?.kind === 'accepted' ? outcome : unreadable(answer, 'an incomplete body')
  return outcome ?? (success ? unreadable(answer, 'an unexpected body') : refuse(answer))
}

/**
 * The outcome for a failure that the provider reported, with its complete text: `redactor` shortens it.
 *
 * @param classification row of the provider's table; undefined: the HTTP status decides
 *
 * @example
 * const readOutcome: ReadOutcome = (answer) => {
 *   const code = textMember(answer.json, 'error')
 *   return code === 'opted_out' ? refuse(answer, { code }, ['rejected', 'unsubscribed', 'recipient']) : null
 * }
 */
export function refuse(
  answer: ProviderAnswer,
  words: ProviderWords = {},
  classification?: Classification,
): Outcome {
  const [kind, code, scope] = classification ?? byStatus(answer.status)
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

/** The meaning of an HTTP status without a row in the provider's table (RFC 9110, RFC 6585, RFC 8470). */
export function byStatus(status: number): Classification {
  switch (status) {
    case 401:
    case 403:
    case 407:
      return ['rejected', 'provider_auth_failed', 'account']
    case 402:
      return ['retry', 'provider_quota_exceeded', 'account']
    case 404:
    case 405:
      // The provider does not serve this path, so an option is wrong.
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
      // Redirects are not followed, because they would leak credentials.
      return ['rejected', 'provider_error', status < 400 ? 'account' : 'message']
  }
}

/** A retry hint in a body: seconds, possibly fractional. */
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

/** Parses JSON. Undefined: invalid. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * A member of a provider's object. Undefined: absent.
 *
 * @example
 * const error = member(answer.json, 'error')
 * const code = textMember(error, 'code')
 */
export function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined
}

/**
 * Like {@link member}, for a non-empty text. Numbers become their digits.
 *
 * @example
 * const readOutcome: ReadOutcome = ({ status, json }) => {
 *   const id = textMember(json, 'id')
 *   return status === 201 && id !== undefined ? { kind: 'accepted', providerMessageId: id } : null
 * }
 */
export function textMember(value: unknown, name: string): string | undefined {
  const found = member(value, name)
  if (typeof found === 'number') return String(found)
  return typeof found === 'string' && found !== '' ? found : undefined
}

/** A table's row for a provider's code, which may be any text, including `constructor`. */
export function rowOf<Row>(table: Readonly<Record<string, Row>>, code: string | undefined): Row | undefined {
  return code !== undefined && Object.hasOwn(table, code) ? table[code] : undefined
}
