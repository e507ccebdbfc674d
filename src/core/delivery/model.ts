import type { ErrorCode } from '../errors/catalogue.ts'

export interface QueueHealth {
  readonly name: string
  /** Whether the engine took the last refs of this process. If not, polling finds the jobs. */
  readonly takes: boolean
}

export interface ProviderHealth {
  readonly channel: string
  readonly name: string
  /** The organization that owns the instance. Null: it serves all. */
  readonly organizationId: string | null
  /** `paused`: after faults of the provider. `probing`: the next message tests it. */
  readonly state: 'ready' | 'paused' | 'probing'
  /** End of the pause, ISO 8601 UTC. Null: not paused. */
  readonly pausedUntil: string | null
  /**
   * Reason for the pause or probe. `delivery_unknown` with `ready`: at least the last three attempts had an unknown
   * result. Null: it works, or the fault occurred in another process.
   */
  readonly code: ErrorCode | null
  /** Messages of this process under way. */
  readonly running: number
}

/** Due notifications, or events of a listener, that this process does not deliver. */
export interface WaitingLane {
  /** The lane: `email`, `email@org_…` for an organization's own providers, or `wh_listener.…`. */
  readonly lane: string
  /**
   * `channel_not_configured`: this process has no provider. `unavailable`: the function that makes the organization's
   * providers fails or times out. `not_registered`: this process has not registered the listener; others may have.
   */
  readonly reason: 'channel_not_configured' | 'unavailable' | 'not_registered'
}
