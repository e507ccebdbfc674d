import type { ErrorCode } from '../errors/catalogue.ts'
import type { ListQuery } from '../records/list.ts'
import type { RenderedMessage } from '../text/render.ts'
import type { FactType } from './facts.ts'
import type { LabelFilter, Labels } from './labels.ts'
import type { NotificationFailure, NotificationStatus, Priority } from './notification.ts'
import type { SuppressionReason } from './suppression.ts'

export interface NotificationQuery extends ListQuery, LabelFilter {
  readonly channel?: string | undefined
  readonly status?: NotificationStatus | undefined
  /** The address, whatever the case of its letters A to Z. */
  readonly to?: string | undefined
  /** How the address begins, such as `ada@` or `+4917`, whatever the case. */
  readonly toPrefix?: string | undefined
  /** Template id or name. */
  readonly template?: string | undefined
  /** `error.code`. */
  readonly code?: ErrorCode | undefined
  /** Instance id of the provider that accepted it last, or of the failed attempt. */
  readonly provider?: string | undefined
  /** Accepted at this time or later: ISO 8601 or a Date. */
  readonly from?: string | Date | undefined
  /** Accepted before this time: ISO 8601 or a Date. */
  readonly until?: string | Date | undefined
  /** Only these notifications; at most 1,000. */
  readonly ids?: readonly string[] | undefined
}

export interface LogQuery extends ListQuery, LabelFilter {
  readonly channel?: string | undefined
  readonly status?: NotificationStatus | undefined
  readonly notificationId?: string | undefined
}

export interface NotificationSummary extends Labels {
  readonly id: string
  readonly organizationId: string
  readonly status: NotificationStatus
  readonly channel: string
  readonly to: string
  /** The literal subject. Null: it comes from a template, or the message is sensitive. */
  readonly subject: string | null
  /** Name of the template. Null: the text is literal. */
  readonly template: string | null
  readonly priority: Priority
  readonly sendAt: string | null
  readonly expiresAt: string | null
  readonly provider: string | null
  /**
   * Reason for the failure, or why it was skipped; while `queued` for another attempt, the failure of the last one. Of a
   * `cancelled` one: `delivery_unknown` if an earlier attempt may have reached the recipient. Otherwise null.
   */
  readonly error: NotificationFailure | null
  readonly createdAt: string
  /** Id of the notification that this one resends. Null: none. */
  readonly resendOf: string | null
}

export interface GetNotificationOptions {
  /** True: include the rendered content. Default false. */
  readonly rendered?: boolean | undefined
}

export interface WaitOptions {
  /** Longest wait in milliseconds, from 1. Default 30 000. */
  readonly timeoutMs?: number | undefined
}

export interface NotificationRecord extends NotificationSummary {
  /** The content is never shown, and is removed when the delivery has ended. */
  readonly sensitive: boolean
  /**
   * On request: the pinned template version or the literal text, with its variables and parts, rendered as for delivery
   * but without tracking. Attachments have their size; only inline images, of up to 2 MiB in a mail, have their content.
   */
  readonly rendered?: RenderedMessage | undefined
  /** Why it is not sent yet. Null: its delivery has ended. */
  readonly waiting: WaitingRecord | null
  /** What can be done with it now. What is false is refused, or could not help. */
  readonly actions: {
    /** False while an attempt is running, and once its delivery has ended. */
    readonly cancel: boolean
    /** False: it is not scheduled, or its first attempt has begun. */
    readonly reschedule: boolean
    /** False: its delivery has not ended, its content is removed, or its recipient is suppressed. */
    readonly resend: boolean
    /** False: it has not failed, or the same message to the same address would fail again. */
    readonly retry: boolean
  }
  /** The history in order. */
  readonly timeline: readonly TimelineRecord[]
}

export interface WaitingRecord {
  /**
   * `scheduled`: for its `sendAt`. `delayed`: it may not go yet; `message` tells why. `retry`: for the next attempt; `code` tells why the last one failed. `in_queue`: it
   * is due, and others are ahead of it. `attempt_running`: a provider is being called. `provider_paused`: all of its
   * providers are paused; `code` tells why. `channel_not_configured`: it has no provider. `providers_unavailable`: the
   * function that makes the organization's providers fails, or has not answered yet.
   */
  readonly reason:
    | 'scheduled'
    | 'delayed'
    | 'retry'
    | 'in_queue'
    | 'attempt_running'
    | 'provider_paused'
    | 'channel_not_configured'
    | 'providers_unavailable'
  /** When that changes, as far as is known: ISO 8601 UTC. */
  readonly until: string | null
  readonly code: ErrorCode | null
  /** Of `delayed`: the reason, for people. */
  readonly message: string | null
}

export interface TimelineRecord {
  readonly sequence: number
  /** The accept is `queued` or `scheduled`. */
  readonly event: FactType | 'queued' | 'scheduled'
  readonly status: NotificationStatus
  /** ISO 8601 UTC. */
  readonly timestamp: string
  readonly attempt: number | null
  readonly provider: string | null
  readonly providerMessageId: string | null
  readonly error: NotificationFailure | null
  /** The provider's own code or text. */
  readonly providerCode: string | null
  /** Details, mostly from the provider. */
  readonly message: string | null
  /** The address of the copy that the entry is about. Null: it is about `to`. */
  readonly address: string | null
  /** Why the address was suppressed with it. Null: it was not. */
  readonly suppressed: SuppressionReason | null
  readonly durationMs: number | null
  /** Charged segments of a text message that was handed over. Null: none. */
  readonly segments: number | null
  /** True: the result is unknown; the provider may have taken the message. */
  readonly ambiguous: boolean
  /** True: a machine (a mail privacy proxy, a scanner) opened or clicked. Changes no status. */
  readonly machine: boolean
}

/** One event of a notification in the delivery log. */
export interface LogRecord extends Labels {
  readonly id: string
  readonly notificationId: string
  readonly organizationId: string
  readonly channel: string
  readonly to: string
  readonly status: NotificationStatus
  readonly event: TimelineRecord['event']
  readonly provider: string | null
  readonly attempt: number | null
  /** Charged segments of a text message that was handed over. Null: none. */
  readonly segments: number | null
  /** True: a machine (a mail privacy proxy, a scanner) opened or clicked. Changes no status. */
  readonly machine: boolean
  readonly error: NotificationFailure | null
  /** The provider's own code or text. */
  readonly providerCode: string | null
  /** Details, mostly from the provider. */
  readonly message: string | null
  /** The address of the copy that the event is about. Null: it is about `to`. */
  readonly address: string | null
  readonly template: string | null
  readonly createdAt: string
}
