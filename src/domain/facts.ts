import type { ErrorCode } from './errors/catalogue.ts'
import type { SuppressionReason } from './suppression.ts'

/**
 * Everything that can become known about a notification after its accept.
 * `sent` … `unsubscribed` concern one hand-over to a provider; the others are our own. `reported` is what a provider said
 * that has no meaning here: it is logged with its raw code, and changes nothing.
 */
export type FactType =
  | 'sent'
  | 'deferred'
  | 'undelivered'
  | 'delivered'
  | 'bounced'
  | 'opened'
  | 'clicked'
  | 'complained'
  | 'unsubscribed'
  | 'attempt_failed'
  | 'attempt_ambiguous'
  | 'failed'
  | 'cancelled'
  | 'retried'
  | 'reported'

/** One fact. The storage gives it its sequence number and its time when it is recorded. */
export interface Fact {
  readonly type: FactType
  /** Number of the attempt, from 1, where the fact belongs to one. */
  readonly attempt?: number | undefined
  /** Instance id of the provider. */
  readonly provider?: string | undefined
  /** The provider's id for the message: with `provider` it identifies the hand-over. */
  readonly providerMessageId?: string | undefined
  readonly code?: ErrorCode | undefined
  /** A sentence for people; no secret in it. */
  readonly message?: string | undefined
  /** The provider's own code, kept raw. */
  readonly providerCode?: string | undefined
  /** Milliseconds that the provider call took. */
  readonly durationMs?: number | undefined
  /** On `sent` of a text message: the segments that it is charged as. */
  readonly segments?: number | undefined
  /** When it happened, by the provider's clock; for display only, never for the fold. Epoch milliseconds. */
  readonly occurredAt?: number | undefined
  /** True when the provider may have acted although we have no answer. */
  readonly ambiguous?: boolean | undefined
  /** On a failed attempt that asked no provider: what an earlier one has left open stays so. */
  readonly unasked?: true | undefined
  /** True on `opened` and `clicked` that a machine did (a mail privacy proxy, a scanner): logged, and changes nothing. */
  readonly machine?: boolean | undefined
  /**
   * The recipient can take, or wants, nothing more: whoever records the fact suppresses it for this reason, in the same
   * commit. Only for hard bounces, complaints and opt-outs.
   */
  readonly suppress?: SuppressionReason | undefined
}

/** Types of event that are announced to webhook endpoints and in-process listeners. */
export const EVENT_TYPES = [
  'notification.sent',
  'notification.delivered',
  'notification.failed',
  'notification.opened',
  'notification.clicked',
  'notification.deferred',
  'notification.cancelled',
  'notification.complained',
  'notification.unsubscribed',
] as const

/** Types of webhook events: the five that an endpoint gets by default, then the others. */
export type EventType = (typeof EVENT_TYPES)[number]

/** What an endpoint receives unless it chooses. */
export const SPEC_EVENT_TYPES: readonly EventType[] = EVENT_TYPES.slice(0, 5)

/** The event type that announces a fact's first recording; null: the fact is only logged. */
export const EVENT_TYPE_OF: Readonly<Record<FactType, EventType | null>> = {
  sent: 'notification.sent',
  deferred: 'notification.deferred',
  undelivered: 'notification.failed',
  delivered: 'notification.delivered',
  bounced: 'notification.failed',
  opened: 'notification.opened',
  clicked: 'notification.clicked',
  complained: 'notification.complained',
  unsubscribed: 'notification.unsubscribed',
  attempt_failed: null,
  attempt_ambiguous: null,
  failed: 'notification.failed',
  cancelled: 'notification.cancelled',
  retried: null,
  reported: null,
}

/** What the delivery log counts a fact as; absent: nothing. */
export const COUNTED_AS: Readonly<Partial<Record<FactType, 'sent' | 'delivered' | 'failed'>>> = {
  sent: 'sent',
  delivered: 'delivered',
  failed: 'failed',
  undelivered: 'failed',
  bounced: 'failed',
}
