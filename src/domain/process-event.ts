import type { NotificationFailure } from './notification.ts'

/** What an event of a notification says of it. */
export interface AboutNotification {
  /** The notification's id. */
  readonly id: string
  readonly channel: string
  readonly to: string
  readonly organizationId: string
}

/** A notification was stored by this process. */
export interface AcceptedEvent {
  readonly event: 'notification.accepted'
  readonly data: AboutNotification & {
    readonly status: 'queued' | 'scheduled'
    /** ISO 8601 UTC: when it was stored. */
    readonly timestamp: string
    readonly sequence: 1
  }
}

/** A provider is about to be asked; the attempt is counted. */
export interface AttemptStartedEvent {
  readonly event: 'attempt.started'
  readonly data: AboutNotification & {
    /** From 1. */
    readonly attempt: number
    readonly provider: string
  }
}

/** An attempt failed, or nobody knows whether it did. The outcome is recorded. */
export interface AttemptFailedEvent {
  readonly event: 'attempt.failed'
  readonly data: AboutNotification & {
    readonly attempt: number
    readonly provider: string
    readonly error: NotificationFailure
    /** The provider may have acted although no answer came. */
    readonly ambiguous: boolean
    /** Milliseconds until the next attempt at the earliest; null: there will be none. */
    readonly nextAttemptInMs: number | null
  }
}

/** An event for listeners in the process where it happened alone: no webhook carries it. */
export type ProcessEvent = AcceptedEvent | AttemptStartedEvent | AttemptFailedEvent

/** Tells listeners in this process; what nobody listens for is not even made. */
export interface ProcessListeners {
  wants(event: ProcessEvent['event']): boolean
  tell(event: ProcessEvent): void
}
