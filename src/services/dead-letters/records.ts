import type { ErrorCode } from '../../domain/errors/catalogue.ts'
import type { NotificationQuery } from '../notifications/records.ts'

export interface DeadLetterQuery extends Omit<NotificationQuery, 'status'> {
  /** `error.code`. */
  readonly code?: ErrorCode | undefined
  /** Instance id of the provider that it failed at. */
  readonly provider?: string | undefined
  /** Only these notifications; at most 1,000. */
  readonly ids?: readonly string[] | undefined
}

/** Which failures are grouped. */
export type DeadLetterGroupQuery = Pick<DeadLetterQuery, 'channel' | 'code' | 'provider' | 'from' | 'until'>

export interface RetryResult {
  readonly dryRun: boolean
  /** How many were retried; in a dry run, would be. */
  readonly retried: number
  /** Dead letters that match and are left as they are. */
  readonly skipped: {
    /** They expire before they would be due. */
    readonly expired: number
    /** Their channel is not configured. */
    readonly unroutable: number
    /** They were sensitive, and their content was removed. */
    readonly contentRemoved: number
  }
  /** There are dead letters that this call has not looked at. */
  readonly more: boolean
  /** `cursor` of the call that goes on; null: all have been looked at. */
  readonly nextCursor: string | null
  /** ISO 8601 UTC: when the last of them falls due; null: none was retried. */
  readonly lastDueAt: string | null
}
