import type { NotifierError } from '../../domain/errors/notifier-error.ts'
import type { NotificationEvent } from '../../domain/event-payload.ts'
import type { Fact } from '../../domain/facts.ts'
import type { Suppression, SuppressionKey } from './suppressions.ts'

/** One report of a provider about a message it accepted earlier, or a recipient's own word. */
export type ReceiptRecord = MessageReport | ConsentReport

interface Reported {
  /** Instance id of the provider that received it. */
  readonly provider: string
  /** The organization whose instance it is; null for an instance that serves all. A report never crosses it. */
  readonly organizationId: string | null
  /** The same for every repetition of this report. */
  readonly dedupeKey: string
}

export interface MessageReport extends Reported {
  /** Our id, where the message carried it. */
  readonly notificationId?: string | undefined
  /** `providerMessageId` is what it is matched by where our own id is unknown. */
  readonly fact: Fact
}

/** What a recipient wants, which names no message; whether it changes anything or not, its key is known from then on. */
export interface ConsentReport extends Reported {
  readonly consent:
    | { readonly kind: 'suppress'; readonly entry: Omit<Suppression, 'createdAt'> }
    /** Takes back an opt-out, and no entry with another reason. */
    | { readonly kind: 'unsuppress'; readonly key: SuppressionKey }
}

export type ReceiptAnswer =
  | {
      readonly kind: 'recorded'
      readonly notificationId: string
      readonly events: readonly NotificationEvent[]
    }
  /** A recipient's own word was heeded. */
  | { readonly kind: 'heeded' }
  | { readonly kind: 'duplicate' }
  /** Kept, and matched again when the hand-over it speaks of is settled. */
  | { readonly kind: 'unmatched' }
  /** This receipt alone could not be stored; the others of the set were. Nothing of it is known. */
  | { readonly kind: 'failed'; readonly error: NotifierError }
