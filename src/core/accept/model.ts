import type { ErrorCode } from '../errors/catalogue.ts'
import type { NotificationStatus } from '../notification/notification.ts'
import type { RenderedMessage } from '../text/render.ts'

/** The response to a send. */
export interface SentNotification {
  /** `notif_<digits>` */
  readonly id: string
  /** `queued` or `scheduled`; if `replayed`, the present status. */
  readonly status: NotificationStatus
  readonly channel: string
  /**
   * The address. Empty: the recipient has none on the channel, and the notification is skipped; or, if `replayed`, it is no
   * longer stored.
   */
  readonly to: string
  /** ISO 8601 UTC. */
  readonly createdAt: string
  /** Shared by the notifications to several addresses of one person, on one channel or several. This is the first. Absent: one. */
  readonly groupId?: string | undefined
  /** All ids of the group. Absent: no group. */
  readonly ids?: readonly string[] | undefined
  /** True: an earlier request with the same idempotency key made it. Status and address are the present ones. */
  readonly replayed: boolean
}

export interface ValidatedSend {
  readonly channel: string
  readonly to: string
  /** The message as it would be sent. */
  readonly rendered: RenderedMessage
  /** Why it would wait now, such as for the end of quiet hours. Null: it would not. */
  readonly delayed: DelayedSend | null
}

/** A message that may not go yet. */
export interface DelayedSend {
  /** ISO 8601 UTC. It is judged again then. */
  readonly until: string
  /** For people. */
  readonly message: string
  /** True: its `expiresAt` comes no later, and it ends as `expired`. */
  readonly expires: boolean
}

export interface BatchResult {
  readonly accepted: number
  readonly rejected: number
  /** One per message, in order. */
  readonly items: readonly BatchItem[]
  readonly createdAt: string
  readonly replayed: boolean
}

export type BatchItem =
  | {
      readonly index: number
      readonly id: string
      /** As in {@link SentNotification}. */
      readonly status: NotificationStatus
      /** As in {@link SentNotification}. */
      readonly groupId?: string | undefined
      readonly ids?: readonly string[] | undefined
    }
  | { readonly index: number; readonly error: ItemError }

export interface ItemError {
  readonly code: ErrorCode
  readonly message: string
  readonly details?: Readonly<Record<string, unknown>>
}
