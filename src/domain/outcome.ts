import { type ErrorCode, isErrorCode } from './errors/catalogue.ts'
import { LONGEST_HINT_MS } from './retry.ts'
import { soundText } from './sound-text.ts'

/**
 * Whose fault a refusal is.
 * `recipient` and `message`: no other provider would do better. `account` and `provider`: another one may.
 */
export type FaultScope = 'recipient' | 'message' | 'account' | 'provider'

/** What every failed outcome may carry. No secret may be in it. */
export interface FailureDetail {
  /** Of the catalogue: what callers decide by. `provider_error` where none of them says it. */
  readonly code: ErrorCode
  /** A sentence for people. */
  readonly message?: string | undefined
  /** The provider's own code, raw: it stands beside `code` in the failure, its events, history and log. */
  readonly providerCode?: string | undefined
}

/** The provider has taken responsibility for the message. */
export interface Accepted {
  readonly kind: 'accepted'
  /** The provider's id for the message; correlates its receipts. */
  readonly providerMessageId?: string | undefined
  /** `delivered` only where the answer itself proves delivery (a webhook receiver's 200). Default: `sent`. */
  readonly status?: 'sent' | 'delivered' | undefined
}

/** The provider will never accept this; trying the same again is useless. */
export interface Rejected extends FailureDetail {
  readonly kind: 'rejected'
  readonly scope: FaultScope
  /** With `device_unregistered`: since when the token has been dead, by the provider's clock; epoch milliseconds. */
  readonly since?: number | undefined
}

/** The provider did certainly not act, and the same call can succeed later. */
export interface Retry extends FailureDetail {
  readonly kind: 'retry'
  readonly scope: FaultScope
  /** The provider's own hint, in milliseconds. */
  readonly retryAfterMs?: number | undefined
}

/** The request left us and there is no usable answer: the provider may have acted. */
export interface Ambiguous {
  readonly kind: 'ambiguous'
  /** What the attempt met, for its log; the notification itself ends as `delivery_unknown`. Default: that code. */
  readonly code?: ErrorCode | undefined
  /** A sentence for people. */
  readonly reason: string
  readonly providerCode?: string | undefined
}

/** The four answers of a channel's `send`. */
export type Outcome = Accepted | Rejected | Retry | Ambiguous

/**
 * Longest id that a provider may give a message, in bytes of UTF-8 (a line of RFC 5322 2.1.1 has no more); an index of a
 * database has room for it, also where each byte of it takes two.
 */
export const MAX_MESSAGE_ID = 998
/** Longest text of a provider that is kept. */
const MAX_TEXT = 2_000
/** ECMA-262 21.4.1.1: the last time that a date can hold. */
export const LATEST_TIME: number = 8.64e15
const SCOPES: ReadonlySet<unknown> = new Set<FaultScope>(['recipient', 'message', 'account', 'provider'])

/**
 * Makes sure that what a plug-in answered is an outcome: what is unreadable in it is left out, or replaced by what
 * claims the least.
 *
 * @returns null when it is none of the four answers
 */
export function soundOutcome(value: unknown): Outcome | null {
  if (typeof value !== 'object' || value === null) return null
  const answer = value as Readonly<Record<string, unknown>>
  const { code, providerCode } = soundCodes(answer)
  const detail = {
    code: code ?? 'provider_error',
    message: textOf(answer.message),
    providerCode,
    scope: SCOPES.has(answer.scope) ? (answer.scope as FaultScope) : 'message',
  } as const
  switch (answer.kind) {
    case 'accepted':
      return {
        kind: 'accepted',
        providerMessageId: messageId(answer.providerMessageId),
        status: answer.status === 'delivered' ? 'delivered' : 'sent',
      }
    case 'rejected':
      return { kind: 'rejected', ...detail, since: timeOf(answer.since) }
    case 'retry':
      return { kind: 'retry', ...detail, retryAfterMs: hintOf(answer.retryAfterMs) }
    case 'ambiguous':
      return {
        kind: 'ambiguous',
        code,
        reason: textOf(answer.reason) ?? 'The provider gave no reason.',
        providerCode,
      }
    default:
      return null
  }
}

/**
 * A code of the catalogue, and the provider's own. A word that a plug-in gave as a code and the catalogue lacks is the
 * provider's own too, and stands before what it gave as such.
 */
export function soundCodes({ code, providerCode }: Readonly<Record<string, unknown>>): {
  readonly code: ErrorCode | undefined
  readonly providerCode: string | undefined
} {
  const own = textOf(providerCode)
  if (isErrorCode(code)) return { code, providerCode: own }
  const word = textOf(code)
  return { code: undefined, providerCode: textOf([word, own].filter((one) => one !== undefined).join(' ')) }
}

/** An outcome without the words of the provider, which may repeat the message. */
export function withoutWords(outcome: Outcome): Outcome {
  if (outcome.kind === 'accepted') return outcome
  return outcome.kind === 'ambiguous'
    ? { ...outcome, reason: 'Whether the provider accepted the message is unknown.', providerCode: undefined }
    : { ...outcome, message: undefined, providerCode: undefined }
}

/** A provider's id for a message, the same wherever it is told: one that is too long is cut, and found again by its cut. */
export function messageId(value: unknown): string | undefined {
  const text = textOf(value, MAX_MESSAGE_ID)
  if (text === undefined || Buffer.byteLength(text) <= MAX_MESSAGE_ID) return text
  const bytes = Buffer.from(text)
  let end = MAX_MESSAGE_ID
  // 10xxxxxx: in the middle of a character.
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1
  return bytes.toString('utf8', 0, end)
}

function textOf(value: unknown, most = MAX_TEXT): string | undefined {
  if (typeof value === 'number' && Number.isFinite(value)) return String(value)
  return typeof value === 'string' && value !== '' ? soundText(value, most) : undefined
}

/** Epoch milliseconds, where they are a date. */
export function timeOf(value: unknown): number | undefined {
  return typeof value === 'number' && value > 0 && value <= LATEST_TIME ? Math.floor(value) : undefined
}

function hintOf(value: unknown): number | undefined {
  return typeof value === 'number' && value > 0 ? Math.min(Math.ceil(value), LONGEST_HINT_MS) : undefined
}
