/** What is stored and has not ended, counted for operators. Every count stops at what was asked for. */
export interface Backlog {
  /** Those that have jobs. */
  readonly lanes: readonly LaneBacklog[]
  /** Webhook deliveries that wait for a redelivery, because their endpoint was disabled; they are in no lane. */
  readonly held: number
}

export interface LaneBacklog {
  /** A lane of notifications; null: those of all webhook endpoints together. */
  readonly lane: string | null
  /** Jobs that a claim could take now, recovered ones too, whether or not a claim has looked since they became so. */
  readonly due: number
  /** Jobs whose time has not come: sends for later, and pauses between attempts. */
  readonly scheduled: number
  /** Jobs under a lease that lasts. */
  readonly leased: number
  /**
   * How long the due job that waits longest has been due, in milliseconds, of those that were counted; one whose lease
   * ran out, since it did. Null: none is due.
   */
  readonly oldestDueMs: number | null
}
