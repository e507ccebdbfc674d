/** Counts of stored work for operators. Every count stops at the requested maximum. */
export interface Backlog {
  /** The lanes that have jobs. */
  readonly lanes: readonly LaneBacklog[]
  /** Webhook deliveries that wait for a redelivery because their endpoint is disabled. They are in no lane. */
  readonly held: number
}

export interface LaneBacklog {
  /** A lane of notifications. Null: all webhook endpoints together. */
  readonly lane: string | null
  /** Jobs that a claim could take now, recovered ones included. */
  readonly due: number
  /** Jobs due later: scheduled sends, and pauses between attempts. */
  readonly scheduled: number
  /** Jobs under a valid lease. */
  readonly leased: number
  /**
   * Age in milliseconds of the oldest counted due job, from its due time or from the end of its lease. Null: none is
   * due.
   */
  readonly oldestDueMs: number | null
}
