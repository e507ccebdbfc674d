import type { LabelFilter } from '../../src/core/notification/labels.ts'
import type { LogFilter } from '../../src/core/ports/storage/logs.ts'
import type { NotificationFilter } from '../../src/core/ports/storage/notifications.ts'
import type { PageRequest } from '../../src/core/ports/storage/page.ts'
import { decodeCursor } from '../../src/core/records/cursor.ts'

/**
 * Most rows that a page of a filtered list reads, besides skipped ones. The bound applies before the filter, so a page
 * takes a short time even if few rows match: SQLite blocks the event loop.
 */
export const MAX_SCANNED = 2_000

/**
 * Most notifications whose log entries a page gathers and sorts. With more of them, it walks the log: then a match is
 * never far away.
 */
export const MAX_GATHERED = 500

/** The label whose index a list walks: the one with the fewest rows to expect. */
export type LabelWalk = 'groupId' | 'metadata' | 'recipient' | 'category'

/** Null: a filter without labels. */
export function labelWalk(filter: LabelFilter): LabelWalk | null {
  if (filter.groupId !== undefined) return 'groupId'
  if (pairsOf(filter).length > 0) return 'metadata'
  if (filter.recipient !== undefined) return 'recipient'
  return filter.category === undefined ? null : 'category'
}

export type Pair = readonly [name: string, value: string]

/** The pairs of metadata to match. A walk by metadata walks the first one. */
export function pairsOf({ metadata }: LabelFilter): readonly Pair[] {
  return metadata === undefined ? [] : Object.entries(metadata)
}

/** The index that a list of notifications walks. */
export type Walk = LabelWalk | 'ids' | 'failed' | 'time'

export function walkFor(filter: NotificationFilter): Walk {
  if (filter.ids !== undefined) return 'ids'
  return labelWalk(filter) ?? (filter.status === 'failed' ? 'failed' : 'time')
}

/** Number of conditions on labels. */
function countLabels(filter: LabelFilter): number {
  const { recipient, category, groupId } = filter
  return pairsOf(filter).length + countGiven([recipient, category, groupId])
}

function countGiven(values: readonly unknown[]): number {
  return values.filter((value) => value !== undefined).length
}

/** True: a list of notifications must skip rows of the index that it walks. */
export function skipsRows(filter: NotificationFilter): boolean {
  const walk = walkFor(filter)
  if (walk === 'ids') return false
  const { channel, to, templateId, code, provider, status } = filter
  const others = [channel, to, templateId, code, provider, walk === 'failed' ? undefined : status]
  return countLabels(filter) + countGiven(others) > (labelWalk(filter) === null ? 0 : 1)
}

/** The same for the delivery log. */
export function skipsEntries(filter: LogFilter): boolean {
  const { channel, status, notificationId } = filter
  return notificationId === undefined && countLabels(filter) + countGiven([channel, status]) > 0
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
