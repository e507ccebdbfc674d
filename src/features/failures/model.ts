import type { NotificationQuery } from '../../core/notification/model.ts'

export interface DeadLetterQuery extends Omit<NotificationQuery, 'status'> {}

/** Which failures are grouped. */
export type DeadLetterGroupQuery = Pick<DeadLetterQuery, 'channel' | 'code' | 'provider' | 'from' | 'until'>

export interface RetryResult {
  readonly dryRun: boolean
  /** Number of retried notifications; in a dry run, of those that would be. */
  readonly retried: number
  /** Matching dead letters that stay unchanged. */
  readonly skipped: {
    /** They expire before their due time. */
    readonly expired: number
    /** Their channel is not configured. */
    readonly unroutable: number
    /** Their content was removed. */
    readonly contentRemoved: number
  }
  /** There are dead letters that this call did not examine. */
  readonly more: boolean
  /** `cursor` of the next call. Null: all were examined. */
  readonly nextCursor: string | null
  /** Due time of the last one, ISO 8601 UTC. Null: none was retried. */
  readonly lastDueAt: string | null
}
