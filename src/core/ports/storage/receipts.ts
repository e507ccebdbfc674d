import type { NotifierError } from '../../errors/notifier-error.ts'
import type { NotificationEvent } from '../../notification/event-payload.ts'
import type { Fact } from '../../notification/facts.ts'
import type { MessageReceivedEvent, ReceivedMessage } from '../../notification/received-message.ts'
import type { FollowingWrite } from './records.ts'

/** A provider's report about a message it accepted, or about what a recipient wants or wrote. */
export type ReceiptRecord = MessageReport | ConsentReport

interface Reported {
  /** Instance id of the provider. */
  readonly provider: string
  /** The organization that owns the instance; null: the instance serves all. A report affects no other organization. */
  readonly organizationId: string | null
  /** The same for every repetition of the report. */
  readonly dedupeKey: string
}

export interface MessageReport extends Reported {
  /** The notification's id, if the report contains it. */
  readonly notificationId?: string | undefined
  /** Its `providerMessageId` finds the notification if `notificationId` is unknown. */
  readonly fact: Fact
}

/** A recipient's opt-out, opt-in or text, which names no message. Its key is recorded even if it changes nothing. */
export interface ConsentReport extends Reported {
  readonly consent: readonly FollowingWrite[]
  /** Published in the same commit as `receivedEvent`, under `receivedEventId`, to the endpoints that chose it. */
  readonly received?: ReceivedMessage | undefined
}

export type ReceiptAnswer =
  | {
      readonly kind: 'recorded'
      readonly notificationId: string
      readonly events: readonly NotificationEvent[]
    }
  /** A consent was applied. `received`: the published event of a text. */
  | { readonly kind: 'applied'; readonly received?: MessageReceivedEvent }
  | { readonly kind: 'duplicate' }
  /** Kept, and matched when the hand-over is settled. */
  | { readonly kind: 'unmatched' }
  /** Only this receipt failed; the others of the set are stored. Nothing of it is recorded. */
  | { readonly kind: 'failed'; readonly error: NotifierError }
