import type { ErrorCode } from '../errors/catalogue.ts'
import type { SuppressionReason } from './suppression.ts'

/**
 * All facts about a notification after its accept. `sent` … `unsubscribed` concern one hand-over to a provider. `delayed`:
 * the next attempt waits, because the gate says so. `reported` is a report without a meaning here: it is logged with its raw
 * code and changes nothing.
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
  | 'skipped'
  | 'retried'
  | 'rescheduled'
  | 'delayed'
  | 'reported'

/** A fact. The storage adds sequence number and time. */
export interface Fact {
  readonly type: FactType
  /** Number of the attempt, from 1. Absent: it concerns no attempt. */
  readonly attempt?: number | undefined
  /** Instance id of the provider. */
  readonly provider?: string | undefined
  /** The provider's id for the message; with `provider` it identifies the hand-over. */
  readonly providerMessageId?: string | undefined
  readonly code?: ErrorCode | undefined
  /** A sentence for people, without secrets. */
  readonly message?: string | undefined
  /** The provider's own code, unchanged. */
  readonly providerCode?: string | undefined
  /** Duration of the provider call, in milliseconds. */
  readonly durationMs?: number | undefined
  /** For `sent` of a text message: charged segments. */
  readonly segments?: number | undefined
  /** Time by the provider's clock, in epoch milliseconds. For display only, not for the fold. */
  readonly occurredAt?: number | undefined
  /** True: no answer came, and the provider may have taken the message. */
  readonly ambiguous?: boolean | undefined
  /** The attempt failed before it called a provider: an earlier ambiguity remains. */
  readonly notSent?: true | undefined
  /** True: a machine (a mail privacy proxy, a scanner) opened or clicked. Logged; changes no status. */
  readonly machine?: boolean | undefined
  /**
   * The reason to suppress `address`, or else the recipient, in the commit that records the fact. Only for hard bounces,
   * complaints and opt-outs.
   */
  readonly suppress?: SuppressionReason | undefined
  /**
   * The address that a report is about, if it may not be the notification's `to`: of a copy of a mail. Recorded as
   * `reported` if it is another one, because the status is that of the message to `to`.
   */
  readonly address?: string | undefined
  /** Of `skipped`: the preference that decided, a short text such as `recipient_category`. */
  readonly decidedBy?: string | undefined
}

/** Types of events that are published to webhook endpoints and emitted to listeners. */
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
  'notification.skipped',
] as const

/** Types of webhook events, the five default ones first. */
export type EventType = (typeof EVENT_TYPES)[number]

/** The default event types of an endpoint. */
export const SPEC_EVENT_TYPES: readonly EventType[] = EVENT_TYPES.slice(0, 5)

/** The event type published at a fact's first recording. Null: the fact is only logged. */
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
  skipped: 'notification.skipped',
  retried: null,
  rescheduled: null,
  delayed: null,
  reported: null,
}

/**
 * What the delivery log counts a fact as; absent: nothing. `bounced` failed after a provider had accepted it, and counts as
 * `failed`, too.
 */
export const COUNTED_AS: Readonly<Partial<Record<FactType, 'sent' | 'delivered' | 'failed' | 'bounced'>>> = {
  sent: 'sent',
  delivered: 'delivered',
  failed: 'failed',
  undelivered: 'bounced',
  bounced: 'bounced',
}
