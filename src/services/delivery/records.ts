import type { ErrorCode } from '../../domain/errors/catalogue.ts'

export interface QueueHealth {
  readonly name: string
  /** Whether it took the last announcement of this process. If not, jobs are found by polling. */
  readonly takes: boolean
}

export interface ProviderHealth {
  readonly channel: string
  readonly name: string
  /** The organization whose instance it is; null: it serves all. */
  readonly organizationId: string | null
  /** `paused`: after faults of its own. `probing`: the next message tells whether it works again. */
  readonly state: 'ready' | 'paused' | 'probing'
  /** When its rest ends, ISO 8601 UTC; null: it does not rest. */
  readonly pausedUntil: string | null
  /**
   * Why it is paused or tried again; `delivery_unknown` while it is `ready`: its last three attempts or more ended without a
   * clear answer. Null: it works, or another process met the fault.
   */
  readonly code: ErrorCode | null
  /** Messages of this process under way. */
  readonly running: number
}

/** Notifications that are due, and wait for a configuration. */
export interface WaitingLane {
  /** The name that the storage's jobs carry: `email`, or `email@org_…` for an organization's own providers. */
  readonly lane: string
  /**
   * `channel_not_configured`: this process has no provider for them. `unavailable`: the function that makes the organization's
   * providers fails, or does not answer.
   */
  readonly reason: 'channel_not_configured' | 'unavailable'
}
