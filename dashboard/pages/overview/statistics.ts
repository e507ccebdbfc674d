import type { Groups } from '../failures/group.ts'

/** The numbers of an organization, as the REST API counts them. */
export interface Statistics {
  readonly waiting: {
    readonly due: number
    readonly scheduled: number
    readonly retrying: number
    readonly running: number
    /** How long the one that waits longest has been due; null: none is due. */
    readonly oldestDueMs: number | null
  }
  /** Counts of what waits end here. */
  readonly most: number
  /** The last 24, oldest first. */
  readonly hours: readonly Hour[]
  /** Of what was accepted in these hours. */
  readonly failures: Groups
}

export interface Hour {
  readonly from: string
  readonly accepted: number
  readonly sent: number
  readonly delivered: number
  readonly failed: number
  /** False: there may be more than was counted. */
  readonly exact: boolean
}
