import type { Fact, FactType } from './facts.ts'
import { messageId, soundCodes, timeOf } from './outcome.ts'
import { soundText } from './sound-text.ts'
import { SUPPRESSION_REASONS, type SuppressionReason } from './suppression.ts'

/** One report about one message or one recipient. */
export interface Receipt {
  /** The same for every repetition of this report, unique among the provider's. At most 255 characters. */
  readonly dedupeKey: string
  /** Our id, where the message carried it. */
  readonly notificationId?: string | undefined
  /**
   * What happened to a message; `providerMessageId` correlates it where our id is unknown. Its `provider` is filled in.
   * Absent for what concerns a recipient alone (a STOP reply).
   */
  readonly fact?: Omit<Fact, 'provider' | 'suppress'> | undefined
  /**
   * The recipient wants, or can take, nothing more. Only for hard bounces, complaints and opt-outs. Beside a fact it
   * always concerns the recipient of that message, and `address` is ignored. Without a fact `address` is required.
   */
  readonly suppress?:
    | { readonly reason: SuppressionReason; readonly address?: string | undefined }
    | undefined
  /** The recipient opted in again (START). */
  readonly unsuppress?: { readonly address: string } | undefined
}

/** What a provider may report; all else is our own to say. */
const REPORTED: ReadonlySet<unknown> = new Set<FactType>([
  'sent',
  'deferred',
  'undelivered',
  'delivered',
  'bounced',
  'opened',
  'clicked',
  'complained',
  'unsubscribed',
  'reported',
])
const REASONS: ReadonlySet<unknown> = new Set(SUPPRESSION_REASONS)
const MAX_KEY = 255
const MAX_ADDRESS = 998
const MAX_TEXT = 2_000

/**
 * Makes sure that what a plug-in read is a receipt: a fact that only we may state, or that is none, becomes `reported`;
 * what is unreadable beside it is left out.
 *
 * @returns null where not even repetitions could be told apart
 */
export function soundReceipt(value: unknown): Receipt | null {
  if (typeof value !== 'object' || value === null) return null
  const { dedupeKey, notificationId, fact, suppress, unsuppress } = value as Record<string, unknown>
  if (typeof dedupeKey !== 'string' || dedupeKey === '' || dedupeKey.length > MAX_KEY) return null
  const address = addressIn(suppress)
  const reason = (suppress as { reason?: unknown } | undefined)?.reason
  const again = addressIn(unsuppress)
  return {
    dedupeKey,
    notificationId: textOf(notificationId, MAX_KEY),
    ...(fact === undefined ? {} : { fact: soundFact(fact) }),
    ...(REASONS.has(reason) && (address !== undefined || fact !== undefined)
      ? { suppress: { reason: reason as SuppressionReason, ...known('address', address) } }
      : {}),
    ...(again === undefined ? {} : { unsuppress: { address: again } }),
  }
}

function soundFact(value: unknown): Omit<Fact, 'provider' | 'suppress'> {
  const fact = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>
  const { type, machine } = fact
  const { code, providerCode } = soundCodes(fact)
  return {
    type: REPORTED.has(type) ? (type as FactType) : 'reported',
    ...known('providerMessageId', messageId(fact.providerMessageId)),
    ...known('code', code ?? (fact.code === undefined ? undefined : 'provider_error')),
    ...known('message', textOf(fact.message, MAX_TEXT)),
    ...known('providerCode', providerCode),
    ...known('occurredAt', timeOf(fact.occurredAt)),
    ...known('machine', machine === true ? true : undefined),
  }
}

function known<Name extends string, Value>(name: Name, value: Value | undefined): { [Key in Name]?: Value } {
  return (value === undefined ? {} : { [name]: value }) as { [Key in Name]?: Value }
}

function addressIn(value: unknown): string | undefined {
  return typeof value === 'object' && value !== null && 'address' in value
    ? textOf(value.address, MAX_ADDRESS)
    : undefined
}

function textOf(value: unknown, max: number): string | undefined {
  return typeof value === 'string' && value !== '' ? soundText(value, max) : undefined
}
