import type { ErrorCode } from './errors/catalogue.ts'

/** Public status values. */
export const STATUSES = [
  'scheduled',
  'queued',
  'sent',
  'delivered',
  'opened',
  'clicked',
  'failed',
  'cancelled',
] as const

/** Where a notification stands. A fold over its events: see `status.ts`. */
export type NotificationStatus = (typeof STATUSES)[number]

/** `high` overtakes `normal` (one-time codes), without starving it. */
export type Priority = 'normal' | 'high'

/** Whether an e-mail body is plain text or HTML. */
export type BodyFormat = 'text' | 'html'

/** The template that a notification was accepted with; the version is pinned. */
export interface TemplateReference {
  readonly id: string
  readonly name: string
  readonly version: number
}

/**
 * What is to be said, pinned when the notification is accepted: literal text, or a template version with
 * the values for its placeholders. Rendered anew before each attempt, always to the same text.
 */
export type NotificationContent = PinnedText & Carried & Sensitivity

interface Carried {
  /** What goes along with the text, as the channel's kind has it. */
  readonly parts?: unknown
}

interface Sensitivity {
  /** The content is never shown, and is removed when its delivery has ended. */
  readonly sensitive?: true
  /** It was: nothing that was said is left. */
  readonly removed?: true
}

type PinnedText =
  | {
      readonly subject?: string
      readonly body: string
      readonly format?: BodyFormat
      /** The text alternative of a body whose format is `html`; absent: it is made of the body. */
      readonly text?: string
    }
  | {
      readonly template: TemplateReference
      readonly variables: Readonly<Record<string, unknown>>
      /** Replaces the template's subject, literally. */
      readonly subject?: string
      readonly format?: BodyFormat
    }

/** Why a notification failed. */
export interface NotificationFailure {
  readonly code: ErrorCode
  readonly message: string
  /** The provider's own code or word for it, raw; absent where it gave none, and for a sensitive message. */
  readonly providerCode?: string | undefined
}

/** A notification as stored. Times are epoch milliseconds. */
export interface Notification {
  /** `notif_<digits>`, sortable by time. */
  readonly id: string
  readonly organizationId: string
  readonly channel: string
  /** The recipient as sent. */
  readonly to: string
  readonly status: NotificationStatus
  readonly content: NotificationContent
  readonly priority: Priority
  readonly sendAt: number | null
  readonly expiresAt: number | null
  /** The instance id of the provider that accepted it last, or that it failed at in the end. */
  readonly provider: string | null
  /** That provider's id for the message, if it accepted one. */
  readonly providerMessageId: string | null
  /** Why it failed; while it is `queued` for another attempt, why the last one did. Else null. */
  readonly error: NotificationFailure | null
  readonly createdAt: number
  /** The notification that this one repeats; null: none. */
  readonly resendOf: string | null
}

/** What the accept of a notification stores; the storage adds its own time as `createdAt`. */
export interface NewNotification {
  readonly id: string
  readonly channel: string
  readonly to: string
  readonly content: NotificationContent
  /** The engine's lane: the set of providers that can deliver it. */
  readonly lane: string
  readonly priority: Priority
  /** Not before this time; null: at once. A time in the future makes the status `scheduled`. */
  readonly sendAt: number | null
  /** Not handed to a provider after this time. */
  readonly expiresAt: number | null
  /** The notification that this one repeats. */
  readonly resendOf?: string | undefined
  /**
   * The trace that its delivery belongs to: a W3C `traceparent`, then a space and the `tracestate` where there is one; at
   * most 600 visible ASCII characters and spaces. Opaque to the storage, which hands it back with every claim.
   */
  readonly trace?: string | undefined
}
