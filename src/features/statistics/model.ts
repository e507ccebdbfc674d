import type { FailureGroups } from '../../core/notification/failure-groups.ts'

/** What an overview of an organization, or of all, shows. */
export interface Statistics {
  /** ISO 8601 UTC. */
  readonly at: string
  /** The last 24 hours by the clock (UTC), oldest first; the last one has not ended. */
  readonly hours: readonly HourRecord[]
  /** Why notifications failed that were accepted in these hours. */
  readonly failures: FailureGroups
  readonly waiting: {
    /** Due now. */
    readonly due: number
    /** Accepted for a later time. */
    readonly scheduled: number
    /** An attempt failed, and the next one is not due yet. */
    readonly retrying: number
    /** An attempt is under way. */
    readonly running: number
    /** Age of the oldest due job, in milliseconds; null: none is due. */
    readonly oldestDueMs: number | null
  }
  /** Counts of waiting jobs stop here: this number means at least so many. */
  readonly most: number
}

/** One hour. Each number counts a notification once. */
export interface HourRecord {
  /** Its beginning: ISO 8601 UTC. */
  readonly from: string
  readonly accepted: number
  readonly sent: number
  readonly delivered: number
  readonly failed: number
  /** False: there may be more; only a bounded part was counted. */
  readonly exact: boolean
}
