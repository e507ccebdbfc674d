import { decodeCursor } from '../../src/domain/cursor.ts'
import type { LogFilter } from '../../src/ports/storage/logs.ts'
import type { NotificationFilter } from '../../src/ports/storage/notifications.ts'
import type { PageRequest } from '../../src/ports/storage/page.ts'

/**
 * The most rows that a page of a filtered list looks at, beside those that it skips. It is bounded before the filter applies,
 * so that a page stays short however few rows match: SQLite reads in the thread that serves everybody else.
 */
export const LOOK = 2_000

/** Whether a list of notifications passes rows by that stand in the index it walks along. */
export function passesBy({ status, ids, ...filter }: NotificationFilter): boolean {
  const { channel, to, templateId, code, provider } = filter
  const others = [channel, to, templateId, code, provider]
  return ids === undefined && ((status ?? 'failed') !== 'failed' || others.some((one) => one !== undefined))
}

/** The same of the delivery log. */
export function passesEntriesBy({ channel, status, notificationId }: LogFilter): boolean {
  return notificationId === undefined && (channel !== undefined || status !== undefined)
}

/** Whether only what has a job has this status. */
export function hasJob(status: NotificationFilter['status']): boolean {
  return status === 'queued' || status === 'scheduled'
}

/**
 * The sort keys between which the notifications of a page lie, time and `seq`: one at each end, since whoever walks along an
 * index begins and ends at one, and passes what another leaves out by.
 *
 * @param beyond the first that is not looked at, which lies between the others
 */
export function endsOf(
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

/** Before all that has this time. */
function firstOf(time: number): readonly number[] {
  return [time, -1]
}
