import type { FactType } from '../../domain/facts.ts'

/** Removes what is past its time, in steps that each are one short commit. Two processes at once harm nobody. */
export interface RetentionRepository {
  /**
   * Removes an organization's notifications about which nothing was recorded for `olderThanMs`, oldest accept first,
   * each with its events, its hand-overs and its webhook deliveries with their attempts, held ones too. One that has a
   * job, or a delivery that is pending, stays, and so does one whose newest event is younger. Events about endpoints
   * that are as old go likewise. What an accept counted stays counted.
   */
  sweep(request: SweepRequest): Promise<SweepAnswer>
  /**
   * Removes what belongs to no notification: idempotency records that have expired, the keys by which receipts are
   * deduplicated, and receipts that nothing matched, together with their keys. At most `most` of each, oldest first.
   */
  expire(request: ExpireRequest): Promise<ExpireAnswer>
  /**
   * Gives back at once the space of a whole span of time, where the storage keeps such spans apart: when nothing is left in
   * it, or when {@link sweep} would remove everything in it for every organization. Absent: it has none.
   *
   * @param defaultDays retention of organizations without one of their own; null: for ever
   * @returns how many parts of the storage were dropped
   */
  dropPast?(defaultDays: number | null): Promise<number>
}

export interface SweepRequest {
  readonly organizationId: string
  readonly olderThanMs: number
  /** So many notifications are looked at, at most; at least 1. */
  readonly most: number
  /** `next` of the step before; absent: from the oldest. */
  readonly after?: string | undefined
}

export interface SweepAnswer {
  readonly notifications: number
  readonly deliveries: number
  /** `after` of the next step; null: all that are old enough have been looked at. */
  readonly next: string | null
}

export interface ExpireRequest {
  /** Of the keys; null: they are kept. */
  readonly receiptsOlderThanMs: number | null
  readonly unmatchedOlderThanMs: number
  /** At least 1. */
  readonly most: number
}

export interface ExpireAnswer {
  readonly idempotency: number
  readonly receipts: number
  /** What was reported and never matched: for an operator to see. */
  readonly unmatched: readonly ExpiredReceipt[]
  /** At least one kind has more that is past its time. */
  readonly more: boolean
}

/** A report about a message that is not known here. */
export interface ExpiredReceipt {
  readonly provider: string
  readonly organizationId: string | null
  readonly type: FactType
  /** Epoch milliseconds. */
  readonly receivedAt: number
}
