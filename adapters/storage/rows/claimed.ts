import { wholeContent } from '../../../src/core/notification/stored-content.ts'
import type { ClaimedNotification } from '../../../src/core/ports/storage/claim.ts'
import { type LabelColumns, toLabels } from './labels.ts'

/** The columns of a notification that its delivery needs. Times are epoch milliseconds. */
export interface ClaimedRow extends LabelColumns {
  readonly id: string
  readonly channel: string
  readonly recipient: string
  /** JSON. */
  readonly content: string
  /** JSON. Null: none. */
  readonly attachments: string | null
  readonly created_at: number
  readonly expires_at: number | null
  readonly trace: string | null
}

/**
 * Reads the notification of a claimed job.
 *
 * @param now the storage's time in epoch milliseconds
 *
 * @example
 * const rows = await query<ClaimedRow>('SELECT * FROM notifications WHERE seq = ANY ($1)', [seqs])
 * const notifications = rows.map((row) => toClaimedNotification(row, now))
 */
export function toClaimedNotification(row: ClaimedRow, now: number): ClaimedNotification {
  return {
    id: row.id,
    channel: row.channel,
    to: row.recipient,
    content: wholeContent(row),
    createdAt: row.created_at,
    expiresInMs: row.expires_at === null ? null : row.expires_at - now,
    trace: row.trace,
    ...toLabels(row),
  }
}
