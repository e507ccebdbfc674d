import type { ErrorCode } from '../errors/catalogue.ts'
import type { NotificationStatus } from '../notification/notification.ts'

/** One thing that decides whether and when a message goes. */
export interface ExplainedGate {
  /**
   * `message`: its fields and template. `limits`: of the organization. `regions`, `suppressions`, `preferences`, or the name of
   * a plug-in: whether it may go. `address`: whether the person has one. `schedule`: its `sendAt`. `expiry`: its `expiresAt`. `providers`: whether one can take it.
   * `attempt`: a hand-over to a provider, one entry for each. `delivery`: what ended it otherwise, such as a bounce.
   */
  readonly gate: string
  /**
   * `unknown`: it could not be found out, as `message` says. Of an attempt, `passed` means that the provider took the message.
   */
  readonly result: 'passed' | 'refused' | 'skipped' | 'waits' | 'failed' | 'unknown'
  /** `recorded`: as it was decided. `now`: as it would be decided now. */
  readonly basis: 'recorded' | 'now'
  /** When it was decided: ISO 8601 UTC. Null: it would be now. */
  readonly at: string | null
  /** Of `waits`: until when, as far as is known. ISO 8601 UTC. */
  readonly until: string | null
  readonly code: ErrorCode | null
  /** Of `skipped`: what decided, such as `recipient_category`. */
  readonly decidedBy: string | null
  /** For people. */
  readonly message: string | null
}

/** Why a message was sent, was not, or still waits. */
export interface Explanation {
  /** Null: the message was not sent. */
  readonly id: string | null
  /** Null: the message was not sent. */
  readonly status: NotificationStatus | null
  /** Null: the message names none. */
  readonly channel: string | null
  /** Null: the message has no address. */
  readonly to: string | null
  /** The gate that refuses, skips or fails the message, or lets it wait. Null: it went, or would go now. */
  readonly decidedBy: string | null
  /** In the order in which they are asked. */
  readonly gates: readonly ExplainedGate[]
}
