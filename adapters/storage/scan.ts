import { decodeCursor } from '../../src/domain/cursor.ts'
import type { LogFilter } from '../../src/ports/storage/logs.ts'
import type { NotificationFilter } from '../../src/ports/storage/notifications.ts'
import type { PageRequest } from '../../src/ports/storage/page.ts'

/**
 * Most rows that a page of a filtered list reads, beside skipped ones. The bound applies before the filter, so a page
 * takes a short time even if few rows match: SQLite blocks the event loop.
 */
export const MAX_SCANNED = 2_000

/** True: a list of notifications must skip rows of the index that it walks. */
export function skipsRows({ status, ids, ...filter }: NotificationFilter): boolean {
  const { channel, to, templateId, code, provider } = filter
  const others = [channel, to, templateId, code, provider]
  return ids === undefined && ((status ?? 'failed') !== 'failed' || others.some((one) => one !== undefined))
}

/** The same for the delivery log. */
export function skipsEntries({ channel, status, notificationId }: LogFilter): boolean {
  return notificationId === undefined && (channel !== undefined || status !== undefined)
}

/** True: only notifications with a job have this status. */
export function hasJob(status: NotificationFilter['status']): boolean {
  return status === 'queued' || status === 'scheduled'
}

/**
 * The sort keys (time and `seq`) that bound a page of notifications. There is one per end, because an index walk has
 * one start and one end and filters by any other condition row by row.
 *
 * @param beyond the first unread row, which lies between the others
 */
export function pageBounds(
  { from, until }: NotificationFilter,
  { cursor }: PageRequest,
  beyond?: readonly number[],
): { readonly above: readonly number[] | undefined; readonly below: readonly number[] | undefined } {
  const above = beyond ?? (from === undefined ? undefined : firstOf(from))
  if (cursor === undefined) return { above, below: until === undefined ? undefined : firstOf(until) }
  const below = decodeCursor(cursor, 2)
  const [at = 0] = below
  return { above, below: until !== undefined && until <= at ? firstOf(until) : below }
}

/** Sorts before every row with this time. */
function firstOf(time: number): readonly number[] {
  return [time, -1]
}
