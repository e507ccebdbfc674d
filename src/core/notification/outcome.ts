import { LONGEST_HINT_MS } from '../delivery/retry-delay.ts'
import { type ErrorCode, isErrorCode } from '../errors/catalogue.ts'
import { soundText } from '../input/sound-text.ts'

/**
 * The cause of a failure. For `recipient` and `message` no other provider would do better; for `account` and `provider`
 * another one may.
 */
export type FaultScope = 'recipient' | 'message' | 'account' | 'provider'

/** Details of a failed outcome. Must contain no secret. */
export interface FailureDetail {
  /** A code of the catalogue, for decisions by the caller. `provider_error` if no other fits. */
  readonly code: ErrorCode
  /** A sentence for people. */
  readonly message?: string | undefined
  /** The provider's own code, unchanged; shown with `code` in the failure, its events, history and log. */
  readonly providerCode?: string | undefined
}

/** The provider has taken responsibility for the message. */
export interface Accepted {
  readonly kind: 'accepted'
  /** The provider's id for the message; correlates its receipts. */
  readonly providerMessageId?: string | undefined
  /** `delivered` only if the answer proves delivery (a webhook receiver's 200). Default: `sent`. */
  readonly status?: 'sent' | 'delivered' | undefined
  /** Recipients of copies that the provider refused for good, while it took the message for the others. Default: none. */
  readonly refusedCopies?: readonly RefusedCopy[] | undefined
}

/** A recipient of a copy that a provider refused. */
export interface RefusedCopy extends FailureDetail {
  readonly address: string
}

/** A permanent refusal: the same call would fail again. */
export interface Rejected extends FailureDetail {
  readonly kind: 'rejected'
  readonly scope: FaultScope
  /** With `device_unregistered`: since when the token is invalid, by the provider's clock, in epoch milliseconds. */
  readonly since?: number | undefined
}

/** The provider certainly did nothing, and the same call may succeed later. */
export interface Retry extends FailureDetail {
  readonly kind: 'retry'
  readonly scope: FaultScope
  /** The provider's hint, in milliseconds. The notifier rounds it up to a whole number. */
  readonly retryAfterMs?: number | undefined
}

/** The request was sent without a usable answer: the provider may have taken the message. */
export interface Ambiguous {
  readonly kind: 'ambiguous'
  /**
   * The cause, for the log of the attempt; the notification itself ends with `delivery_unknown`. Default: that code.
   */
  readonly code?: ErrorCode | undefined
  /** A sentence for people. */
  readonly reason: string
  readonly providerCode?: string | undefined
}

/** The four outcomes of a provider's `send`. */
export type Outcome = Accepted | Rejected | Retry | Ambiguous

/**
 * Maximum length of a provider's message id in bytes of UTF-8: a line of RFC 5322 2.1.1. A database index has room for
 * twice as much.
 */
export const MAX_MESSAGE_ID = 998
/** Maximum stored length of a provider's text. */
const MAX_TEXT = 2_000
/** Most refused copies in an outcome. */
const MAX_COPIES = 100
/** The latest time of a Date (ECMA-262 21.4.1.1). */
export const LATEST_TIME: number = 8.64e15
const SCOPES: ReadonlySet<unknown> = new Set<FaultScope>(['recipient', 'message', 'account', 'provider'])

/**
 * Checks an outcome from a plug-in. Invalid fields are omitted, or replaced by the most cautious value.
 *
 * @returns null if it is none of the four outcomes
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
        ...refusedCopiesOf(answer.refusedCopies),
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

function refusedCopiesOf(given: unknown): Pick<Accepted, 'refusedCopies'> {
  if (!Array.isArray(given)) return {}
  const refusedCopies = given.slice(0, MAX_COPIES).flatMap((one: unknown): readonly RefusedCopy[] => {
    const copy = Object(one) as Readonly<Record<string, unknown>>
    const address = textOf(copy.address)
    const { code = 'provider_error', providerCode } = soundCodes(copy)
    return address === undefined ? [] : [{ address, code, message: textOf(copy.message), providerCode }]
  })
  return { refusedCopies }
}

/** The code of the catalogue and the provider's own code. A `code` outside the catalogue becomes the provider's own. */
export function soundCodes({ code, providerCode }: Readonly<Record<string, unknown>>): {
  readonly code: ErrorCode | undefined
  readonly providerCode: string | undefined
} {
  const own = textOf(providerCode)
  if (isErrorCode(code)) return { code, providerCode: own }
  const word = textOf(code)
  return { code: undefined, providerCode: textOf([word, own].filter((one) => one !== undefined).join(' ')) }
}

/** An outcome without the provider's texts, which may repeat the message. */
export function withoutTexts(outcome: Outcome): Outcome {
  if (outcome.kind === 'accepted') {
    const { refusedCopies } = outcome
    return refusedCopies === undefined
      ? outcome
      : { ...outcome, refusedCopies: refusedCopies.map(({ address, code }) => ({ address, code })) }
  }
  return outcome.kind === 'ambiguous'
    ? {
        ...outcome,
        reason: 'It is unknown whether the provider accepted the message.',
        providerCode: undefined,
      }
    : { ...outcome, message: undefined, providerCode: undefined }
}

/** A provider's message id, cut to the maximum length in the same way everywhere, so that cut ids match. */
export function messageId(value: unknown): string | undefined {
  const text = textOf(value, MAX_MESSAGE_ID)
  if (text === undefined || Buffer.byteLength(text) <= MAX_MESSAGE_ID) return text
  const bytes = Buffer.from(text)
  let end = MAX_MESSAGE_ID
  // 10xxxxxx: inside a character.
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1
  return bytes.toString('utf8', 0, end)
}

function textOf(value: unknown, most = MAX_TEXT): string | undefined {
  if (typeof value === 'number' && Number.isFinite(value)) return String(value)
  return typeof value === 'string' && value !== '' ? soundText(value, most) : undefined
}

/** Epoch milliseconds of a valid date. */
export function timeOf(value: unknown): number | undefined {
  return typeof value === 'number' && value > 0 && value <= LATEST_TIME ? Math.floor(value) : undefined
}

function hintOf(value: unknown): number | undefined {
  return typeof value === 'number' && value > 0 ? Math.min(Math.ceil(value), LONGEST_HINT_MS) : undefined
}
