import type { ErrorCode } from '../errors/catalogue.ts'
import type { Labels, PartialLabels } from './labels.ts'

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
  'skipped',
] as const

/** The status of a notification: a fold over its facts, see `status.ts`. */
export type NotificationStatus = (typeof STATUSES)[number]

/** `high` goes before `normal` (one-time codes) without starving it. */
export type Priority = 'normal' | 'high'

/** The format of an e-mail body. */
export type BodyFormat = 'text' | 'html'

/** Pinned versions of the other texts of a template, by the ids of their records. */
export interface PinnedTexts {
  readonly layout?: string
  readonly partials?: readonly string[]
  /** The locale of the text, as BCP 47. Absent: it needs none. */
  readonly locale?: string
  /** The locale of the template's variant. Absent: its own text. */
  readonly variant?: string
  /** Versions of catalogues, in the order of look-ups. */
  readonly messages?: readonly string[]
}

/** The template of a notification, with its pinned version. */
export interface TemplateReference {
  readonly id: string
  readonly name: string
  readonly version: number
  /** Its layout, partials and language. Absent: none. */
  readonly texts?: PinnedTexts
}

/** A template in code. Its name is its id, which no stored template has. */
export interface CodeTemplateReference extends Pick<TemplateReference, 'id' | 'name'> {
  /** The language of its text. */
  readonly texts: Required<Pick<PinnedTexts, 'locale'>>
}

/**
 * The content, pinned at the accept: literal text, or a template version with values for its placeholders. Rendered
 * before each attempt, always to the same text.
 */
export type NotificationContent = PinnedText & Carried & Sensitivity

interface Carried {
  /** The parts, in the kind's stored form. */
  readonly parts?: unknown
  /** The locale that the send named, or else the person had at the accept, as BCP 47. Absent: unknown. */
  readonly locale?: string
  /** Why the gate turned the message off at the accept: it is never sent. Absent: it did not. */
  readonly turnedOff?: Skip
  /** Why the gate delayed the message at the accept. Absent: it did not. */
  readonly delayed?: Wait
}

/** Why a message is not wanted. */
export interface Skip {
  /** What decided, a short text such as `recipient_category`. */
  readonly decidedBy: string
  /** A sentence for people. */
  readonly message: string
}

/** Why a message waits. */
export interface Wait {
  /** Epoch milliseconds. */
  readonly until: number
  /** A sentence for people. */
  readonly reason: string
}

/** Whom a delayed message is for, so that it is found when their wishes change. */
export interface DelayedFor {
  /** Names the address on its channel, the same for all its spellings. 1 to 250 characters. */
  readonly address: string
  /** The application's id of the person. Null: unknown. */
  readonly recipient: string | null
}

interface Sensitivity {
  /** The content is never shown, and is removed when the delivery has ended. */
  readonly sensitive?: true
  /** The content has been removed. */
  readonly removed?: true
  /** When retention removed it, in epoch milliseconds. Absent: it did not. */
  readonly removedAt?: number
  /** When the erasure of its addressee removed it, in epoch milliseconds. Absent: none did. */
  readonly erasedAt?: number
}

interface LiteralText {
  readonly subject?: string
  readonly body: string
  readonly format?: BodyFormat
  /** The text alternative of an HTML body. Absent: made from the body. */
  readonly text?: string
  /** The template in code that wrote it. Absent: none. */
  readonly template?: CodeTemplateReference
  /** The nonce of the link placeholders in it. Absent: it has none. */
  readonly linkNonce?: string
}

/** What a template in code wrote. */
export type CodeText = LiteralText & Required<Pick<LiteralText, 'template'>>

/** The text of a message, without its parts. */
export type PinnedText =
  | LiteralText
  | {
      readonly template: TemplateReference
      readonly variables: Readonly<Record<string, unknown>>
      /** The IANA time zone of dates in its messages. Absent: it has no language. */
      readonly timeZone?: string
      /** Literal; replaces the template's subject. */
      readonly subject?: string
      readonly format?: BodyFormat
    }

/** Why a notification failed or was skipped. */
export interface NotificationFailure {
  readonly code: ErrorCode
  readonly message: string
  /** The provider's own code or text, unchanged. Absent: none, or a sensitive message. */
  readonly providerCode?: string | undefined
  /** Of a skipped one: the preference that decided, such as `recipient_category`. Absent: none did. */
  readonly decidedBy?: string | undefined
}

/** A notification as stored. Times are epoch milliseconds. */
export interface Notification extends Labels {
  /** `notif_<digits>`, sortable by time. */
  readonly id: string
  readonly organizationId: string
  readonly channel: string
  /** The address. Empty: the recipient had none on the channel. */
  readonly to: string
  readonly status: NotificationStatus
  readonly content: NotificationContent
  readonly priority: Priority
  readonly sendAt: number | null
  readonly expiresAt: number | null
  /** Instance id of the provider that accepted it last, or of the last attempt. */
  readonly provider: string | null
  /** That provider's id for the message. Null: not accepted. */
  readonly providerMessageId: string | null
  /**
   * Reason for the failure, or why it was skipped; while `queued` for another attempt, the failure of the last one.
   * Otherwise null.
   */
  readonly error: NotificationFailure | null
  readonly createdAt: number
  /** Id of the notification that this one resends. Null: none. */
  readonly resendOf: string | null
}

/** A notification to store; the storage adds its time as `createdAt`. */
export interface NewNotification extends PartialLabels {
  readonly id: string
  readonly channel: string
  readonly to: string
  readonly content: NotificationContent
  /** The lane: the providers that can deliver it. */
  readonly lane: string
  readonly priority: Priority
  /** Earliest time. Null: now. A future time makes the status `scheduled`. */
  readonly sendAt: number | null
  /** Latest time of a hand-over. Null: never expires. */
  readonly expiresAt: number | null
  /** Earliest time of the first attempt, if it is later than {@link sendAt}. The status does not depend on it. */
  readonly dueAt?: number | undefined
  /** The gate delays it until {@link dueAt}, and `judgeAgain` finds it by this. Absent: it does not. */
  readonly delayedFor?: DelayedFor | undefined
  /** Id of the notification that this one resends. */
  readonly resendOf?: string | undefined
  /**
   * The trace context of its delivery: a W3C `traceparent`, followed by a space and the `tracestate` if there is one;
   * at most 600 visible ASCII characters and spaces. Opaque to the storage, which returns it with every claim.
   */
  readonly trace?: string | undefined
  /**
   * What the monthly quota counts it as: its recipient and those of copies, or 0 because it will be skipped. A whole number.
   * Default: 1.
   */
  readonly addressees?: number | undefined
  /** The canonical addresses of its copies, with small letters A to Z, each once. Absent: none. */
  readonly copies?: readonly string[] | undefined
  /** Ids of the uploads that its content names, each once. They stay as long as the notification. Absent: none. */
  readonly uploads?: readonly string[] | undefined
}
