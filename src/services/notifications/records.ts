import type { FactType } from '../../domain/facts.ts'
import type { NotificationFailure, NotificationStatus, Priority } from '../../domain/notification.ts'
import type { ListQuery } from '../list.ts'
import type { RenderedMessage } from '../render.ts'

export interface NotificationQuery extends ListQuery {
  readonly channel?: string | undefined
  readonly status?: NotificationStatus | undefined
  readonly to?: string | undefined
  /** Template id or name. */
  readonly template?: string | undefined
  /** Accepted at or after: ISO 8601 or a Date. */
  readonly from?: string | Date | undefined
  /** Accepted before: ISO 8601 or a Date. */
  readonly until?: string | Date | undefined
}

export interface LogQuery extends ListQuery {
  readonly channel?: string | undefined
  readonly status?: NotificationStatus | undefined
  readonly notificationId?: string | undefined
}

export interface NotificationSummary {
  readonly id: string
  readonly status: NotificationStatus
  readonly channel: string
  readonly to: string
  /** Literal subject; null where a template gives it, and where the message is sensitive. */
  readonly subject: string | null
  /** Name of the template; null where the text was sent literally. */
  readonly template: string | null
  readonly priority: Priority
  readonly sendAt: string | null
  readonly expiresAt: string | null
  readonly provider: string | null
  /** Why it failed; while it is `queued` for another attempt, why the last one did. Else null. */
  readonly error: NotificationFailure | null
  readonly createdAt: string
  /** The id of the notification that this one repeats. */
  readonly resendOf: string | null
}

export interface GetNotificationOptions {
  /** True: with the content as it was, or will be, rendered. Default false. */
  readonly rendered?: boolean | undefined
}

export interface WaitOptions {
  /** Longest wait in milliseconds, from 1. Default 30 000. */
  readonly timeoutMs?: number | undefined
}

export interface NotificationRecord extends NotificationSummary {
  /** The content is never shown, and is removed when delivery has ended. */
  readonly sensitive: boolean
  /**
   * Where it was asked for: the pinned version of the template, or the literal text, with its values and parts, rendered as for
   * delivery but without tracking. Of attachments the size, never the content.
   */
  readonly rendered?: RenderedMessage | undefined
  /** Everything that is known of it, in order. */
  readonly timeline: readonly TimelineRecord[]
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
  /** The provider's own code or word for it. */
  readonly providerCode: string | null
  /** What was said of it, mostly by the provider. */
  readonly message: string | null
  readonly durationMs: number | null
  /** Of a text message that was handed over: the segments it is charged as. */
  readonly segments: number | null
  /** True when the provider may have acted although no answer came. */
  readonly ambiguous: boolean
  /** True where a machine opened or clicked (a mail privacy proxy, a scanner): it changed no status. */
  readonly machine: boolean
}

/** One event of a notification in the delivery log. */
export interface LogRecord {
  readonly id: string
  readonly notificationId: string
  readonly channel: string
  readonly to: string
  readonly status: NotificationStatus
  readonly event: TimelineRecord['event']
  readonly provider: string | null
  readonly attempt: number | null
  /** Of a text message that was handed over: the segments it is charged as. */
  readonly segments: number | null
  /** True where a machine opened or clicked (a mail privacy proxy, a scanner): it changed no status. */
  readonly machine: boolean
  readonly error: NotificationFailure | null
  /** The provider's own code or word for it. */
  readonly providerCode: string | null
  /** What was said of it, mostly by the provider. */
  readonly message: string | null
  readonly template: string | null
  readonly createdAt: string
}
