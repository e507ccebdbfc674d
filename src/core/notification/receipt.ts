import { soundText } from '../input/sound-text.ts'
import type { Fact, FactType } from './facts.ts'
import { messageId, soundCodes, timeOf } from './outcome.ts'
import { SUPPRESSION_REASONS, type SuppressionReason } from './suppression.ts'

/** A report about one message or recipient. */
export interface Receipt {
  /** The same for every repetition of the report, unique for the provider. At most 255 characters. */
  readonly dedupeKey: string
  /** The notification's id, if the message carried it. */
  readonly notificationId?: string | undefined
  /**
   * A fact about a message; `providerMessageId` finds the notification without `notificationId`. The `provider` is
   * added. Absent for a report about a recipient alone (a STOP reply).
   */
  readonly fact?: Omit<Fact, 'provider' | 'suppress' | 'decidedBy'> | undefined
  /**
   * Suppresses the recipient. Only for hard bounces, complaints and opt-outs. With a fact it applies to the fact's
   * `address`, or else to the recipient of that message, and `address` here is ignored; otherwise it is required.
   *
   * With `scope: 'category'` an unsubscription concerns one list of messages only: it turns off the category of the message.
   */
  readonly suppress?:
    | {
        readonly reason: SuppressionReason
        readonly address?: string | undefined
        readonly scope?: 'category' | undefined
      }
    | undefined
  /** The recipient opted in again (START). */
  readonly unsuppress?: { readonly address: string } | undefined
  /**
   * A text that someone wrote, instead of a fact. It is announced by the event `message.received`, together with the
   * opt-out or opt-in in `suppress` or `unsuppress`. Cut to 4,096 UTF-16 characters.
   */
  readonly received?: ReceivedText | undefined
}

/** A text that someone wrote to the application. */
export interface ReceivedText {
  /** Who wrote it, in the form of the channel's recipients. */
  readonly from: string
  /** The application's own number or account that it was written to. Absent: unknown. */
  readonly to?: string | undefined
  readonly text: string
}

/** Facts that a provider may report; others come from this service only. */
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
/** WhatsApp's longest text; those of SMS are shorter. */
const MAX_RECEIVED = 4_096

/**
 * Checks a receipt from a plug-in. A fact that providers may not report, or an invalid one, becomes `reported`; other
 * invalid fields are omitted.
 *
 * @returns null if it has no valid `dedupeKey`
 */
export function soundReceipt(value: unknown): Receipt | null {
  if (typeof value !== 'object' || value === null) return null
  const { dedupeKey, notificationId, fact, suppress, unsuppress, received } = value as Record<string, unknown>
  if (typeof dedupeKey !== 'string' || dedupeKey === '' || dedupeKey.length > MAX_KEY) return null
  const address = addressIn(suppress)
  const { reason, scope } = (suppress ?? {}) as { reason?: unknown; scope?: 'category' }
  const again = addressIn(unsuppress)
  return {
    dedupeKey,
    notificationId: textOf(notificationId, MAX_KEY),
    ...(fact === undefined ? {} : { fact: soundFact(fact) }),
    ...(REASONS.has(reason) && (address !== undefined || fact !== undefined)
      ? {
          suppress: {
            reason: reason as SuppressionReason,
            ...known('address', address),
            ...(scope === 'category' ? { scope } : {}),
          },
        }
      : {}),
    ...(again === undefined ? {} : { unsuppress: { address: again } }),
    ...known('received', fact === undefined ? soundReceived(received) : undefined),
  }
}

function soundReceived(value: unknown): ReceivedText | undefined {
  const { from, to, text } = (typeof value === 'object' && value !== null ? value : {}) as Record<
    string,
    unknown
  >
  const [writer, content] = [textOf(from, MAX_ADDRESS), textOf(text, MAX_RECEIVED)]
  if (writer === undefined || content === undefined) return undefined
  return { from: writer, text: content, ...known('to', textOf(to, MAX_ADDRESS)) }
}

function soundFact(value: unknown): NonNullable<Receipt['fact']> {
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
    ...known('address', addressIn(fact)),
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
