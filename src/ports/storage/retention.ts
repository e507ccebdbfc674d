import type { FactType } from '../../domain/facts.ts'

/** Removes expired data in steps of one short commit. Safe to run in several processes at once. */
export interface RetentionRepository {
  /**
   * Removes notifications of an organization without a new event for `olderThanMs`, oldest accept first, each with its
   * events, hand-overs and webhook deliveries with their attempts, held ones included. Keeps notifications with a job
   * or a pending delivery. Removes events about endpoints of the same age. Quota use stays counted.
   */
  sweep(request: SweepRequest): Promise<SweepAnswer>
  /**
   * Removes rows that belong to no notification: expired idempotency records, keys that deduplicate receipts, and
   * unmatched receipts with their keys. At most `most` of each, oldest first.
   */
  expire(request: ExpireRequest): Promise<ExpireAnswer>
  /**
   * Drops whole partitions of time and frees their space at once: those that are empty, and those in which {@link
   * sweep} would remove every row of every organization. Absent: the storage has no partitions.
   *
   * @param defaultDays retention of organizations without one of their own; null: no limit
   * @returns number of dropped partitions
   */
  dropPast?(defaultDays: number | null): Promise<number>
}

export interface SweepRequest {
  readonly organizationId: string
  readonly olderThanMs: number
  /** Maximum number of notifications to look at, at least 1. */
  readonly most: number
  /** `next` of the previous step. Absent: start with the oldest. */
  readonly after?: string | undefined
}

export interface SweepAnswer {
  readonly notifications: number
  readonly deliveries: number
  /** `after` of the next step. Null: all that are old enough were looked at. */
  readonly next: string | null
}

export interface ExpireRequest {
  /** Age of the keys. Null: keep them. */
  readonly receiptsOlderThanMs: number | null
  readonly unmatchedOlderThanMs: number
  /** At least 1. */
  readonly most: number
}

export interface ExpireAnswer {
  readonly idempotency: number
  readonly receipts: number
  /** Removed receipts that matched no notification, for operators. */
  readonly unmatched: readonly ExpiredReceipt[]
  /** True: more of at least one kind has expired. */
  readonly more: boolean
}

/** A report about an unknown message. */
export interface ExpiredReceipt {
  readonly provider: string
  readonly organizationId: string | null
  readonly type: FactType
  /** Epoch milliseconds. */
  readonly receivedAt: number
}
