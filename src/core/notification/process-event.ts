import type { NotificationFailure } from './notification.ts'

/** Data about the notification of an event. */
export interface AboutNotification {
  /** The notification's id. */
  readonly id: string
  readonly channel: string
  readonly to: string
  readonly organizationId: string
}

/** This process stored a notification. */
export interface AcceptedEvent {
  readonly event: 'notification.accepted'
  readonly data: AboutNotification & {
    readonly status: 'queued' | 'scheduled'
    /** Time of storage, ISO 8601 UTC. */
    readonly timestamp: string
    readonly sequence: 1
  }
}

/** A provider is about to be called; the attempt counts. */
export interface AttemptStartedEvent {
  readonly event: 'attempt.started'
  readonly data: AboutNotification & {
    /** From 1. */
    readonly attempt: number
    readonly provider: string
  }
}

/** An attempt failed or its result is unknown. The outcome is recorded. */
export interface AttemptFailedEvent {
  readonly event: 'attempt.failed'
  readonly data: AboutNotification & {
    readonly attempt: number
    readonly provider: string
    readonly error: NotificationFailure
    /** No answer came, and the provider may have taken the message. */
    readonly ambiguous: boolean
    /** Milliseconds until the earliest next attempt. Null: none follows. */
    readonly nextAttemptInMs: number | null
  }
}

/** An event for listeners in its process only; webhooks do not carry it. */
export type ProcessEvent = AcceptedEvent | AttemptStartedEvent | AttemptFailedEvent

/** Listeners in this process. Events without a listener are not created. */
export interface ProcessListeners {
  wants(event: ProcessEvent['event']): boolean
  tell(event: ProcessEvent): void
}
