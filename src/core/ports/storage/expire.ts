import type { FactType } from '../../notification/facts.ts'

/** One step of the removal of expired data: one short commit. */
export interface ExpireRequest {
  readonly what: ExpiringNotifications | ExpiringContents | ExpiringRest
  /** Maximum number of rows of each kind to examine, at least 1. A storage that blocks its process examines fewer. */
  readonly most: number
  /** `next` of the previous step. Absent: begin with the oldest. */
  readonly after?: string | undefined
}

/**
 * Notifications of an organization without a new event for `olderThanMs`, each with its events, hand-overs and webhook
 * deliveries with their attempts, held ones included. Keeps notifications with a job or a pending delivery; a delivery to
 * a listener (`isListener`) keeps none, and goes with its job: no process may have the listener any more. Also events
 * about no notification of the same age. Quota use stays counted.
 */
export interface ExpiringNotifications {
  /** `ALL_ORGANIZATIONS`: only the events about endpoints of operators. */
  readonly organizationId: string
  readonly olderThanMs: number
  readonly contentsOlderThanMs?: undefined
  /** True: the same steps change nothing, and count what a run would remove now. */
  readonly dryRun?: boolean | undefined
}

/**
 * Contents of ended notifications of an organization without a new event for `contentsOlderThanMs`. Each is replaced by
 * `expiredContent(content, now)`, and names no upload any more. A notification with a job of its own keeps its content.
 *
 * A step looks at events, the oldest first. An event is looked at once, because the next run begins with `reached` of this
 * one: what waits now has a newer event when it has ended.
 */
export interface ExpiringContents {
  readonly organizationId: string
  readonly contentsOlderThanMs: number
  /** The same. */
  readonly dryRun?: boolean | undefined
}

/**
 * Rows that belong to no notification: expired idempotency records, keys that deduplicate receipts, and unmatched
 * receipts with their keys. The last step also drops whole past partitions, if the storage has any, and frees their
 * space at once: those that are empty, and those older than every retention.
 */
export interface ExpiringRest {
  readonly organizationId?: undefined
  readonly contentsOlderThanMs?: undefined
  readonly dryRun?: undefined
  /** Age of the keys. Null: keep them. */
  readonly receiptsOlderThanMs: number | null
  readonly unmatchedOlderThanMs: number
  /** The longest retention of all organizations. Null: one keeps its data forever. */
  readonly longestMs: number | null
}

export interface ExpireAnswer {
  /** Number of removed rows and partitions. Absent: 0. */
  readonly removed: { readonly [Kind in ExpiredKind]?: number }
  /** Removed receipts that matched no notification, for operators. */
  readonly unmatched: readonly ExpiredReceipt[]
  /** `after` of the next step. Null: nothing is left that has expired. */
  readonly next: string | null
  /** Of contents: `after` of the next run. Absent: as before. */
  readonly reached?: string | undefined
  /** Of a dry run: when the oldest of the counted notifications was accepted, in epoch milliseconds. Absent: none. */
  readonly oldest?: number | undefined
}

export type ExpiredKind =
  | 'notifications'
  | 'contents'
  | 'deliveries'
  | 'idempotency'
  | 'receipts'
  | 'partitions'

/** A report about an unknown message. */
export interface ExpiredReceipt {
  readonly provider: string
  readonly organizationId: string | null
  readonly type: FactType
  /** Epoch milliseconds. */
  readonly receivedAt: number
}
