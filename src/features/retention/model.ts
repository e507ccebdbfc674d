import type { RetentionSource } from '../../core/tenancy/retention.ts'

/** What the next pass of retention removes, for one organization or for all. */
export interface RetentionPreview {
  /** When it was counted: ISO 8601 UTC. */
  readonly at: string
  /** Texts, variables and files of ended notifications. Those also count that go with their notification in the same pass. */
  readonly contents: RetentionCount
  /** Ended notifications with their log and webhook deliveries. */
  readonly notifications: RetentionCount
}

/** One kind of data. */
export interface RetentionCount {
  /** Of all organizations together: those of the service. Null: forever, and contents as long as their notification. */
  readonly days: number | null
  /** What sets the days. */
  readonly source: RetentionSource
  /** How many notifications the next pass removes, or takes the content of. */
  readonly removes: number
  /** False: there may be more; only a bounded part was looked at. */
  readonly exact: boolean
  /** When the oldest of them was accepted: ISO 8601 UTC. Null: there is none. */
  readonly oldest: string | null
}
