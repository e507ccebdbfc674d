import type { LabelFilter } from '../../src/core/notification/labels.ts'
import type { LogFilter } from '../../src/core/ports/storage/logs.ts'
import type { NotificationFilter } from '../../src/core/ports/storage/notifications.ts'
import type { PageRequest } from '../../src/core/ports/storage/page.ts'
import { decodeCursor } from '../../src/core/records/cursor.ts'
import { firstIdAt } from '../../src/core/records/ids.ts'
import { ALL_ORGANIZATIONS } from '../../src/core/tenancy/all-organizations.ts'
import { belowCursor, idKey, idOf } from './id-order.ts'

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
export type LabelWalk = 'copies' | 'groupId' | 'metadata' | 'recipient' | 'category'

type OwnLabels = LabelFilter & Pick<NotificationFilter, 'organizationId' | 'copyTo'>

/** Null: a filter without labels, or over all organizations. */
export function labelWalk(filter: OwnLabels): LabelWalk | null {
  // Each of these indexes begins with the organization.
  if (filter.organizationId === ALL_ORGANIZATIONS) return null
  if (filter.copyTo !== undefined) return 'copies'
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
function countLabels(filter: Omit<OwnLabels, 'organizationId'>): number {
  const { recipient, category, groupId, copyTo } = filter
  return pairsOf(filter).length + countGiven([recipient, category, groupId, copyTo])
}

function countGiven(values: readonly unknown[]): number {
  return values.filter((value) => value !== undefined).length
}

/** True: a list of notifications must skip rows of the index that it walks. */
export function skipsRows(filter: NotificationFilter): boolean {
  const walk = walkFor(filter)
  if (walk === 'ids') return false
  const { channel, to, toPrefix, templateId, code, provider, status } = filter
  const others = [channel, to, toPrefix, templateId, code, provider, walk === 'failed' ? undefined : status]
  return countLabels(filter) + countGiven(others) > (labelWalk(filter) === null ? 0 : 1)
}

/** The same for the delivery log. */
export function skipsEntries(filter: LogFilter): boolean {
  const { channel, status, notificationId } = filter
  return notificationId === undefined && countLabels(filter) + countGiven([channel, status]) > 0
}

/** True: an index by address finds the matches sooner than the one that a list walks otherwise. */
export function findsByAddress({ to, toPrefix, copyTo, ids, groupId }: NotificationFilter): boolean {
  return (to ?? toPrefix) !== undefined && (copyTo ?? ids ?? groupId) === undefined
}

/** True: only notifications with a job have this status. */
export function hasJob(status: NotificationFilter['status']): boolean {
  return status === 'queued' || status === 'scheduled'
}

/** The columns of a sort key: time and `seq`; over all organizations the id. */
export interface KeyRow {
  readonly id: string
  readonly created_at: number
  readonly seq: number
}

/** The sort key of a notification in a list with this filter. */
export function keyOf(
  { organizationId }: Pick<NotificationFilter, 'organizationId'>,
  row: KeyRow,
): readonly number[] {
  return organizationId === ALL_ORGANIZATIONS ? idKey(row.id) : [row.created_at, row.seq]
}

/**
 * Of notifications that an index found in no order, those that a page examines.
 *
 * @returns `beyond`: sort key of the first one that it leaves out
 */
export function examined(
  filter: NotificationFilter,
  page: PageRequest,
  found: readonly KeyRow[],
): { readonly rows: readonly KeyRow[]; readonly beyond: readonly number[] | undefined } {
  const { above, below } = pageBounds(filter, page)
  const isOfAll = filter.organizationId === ALL_ORGANIZATIONS
  const keyed = found.map((row) => ({ row, key: isOfAll ? [row.id] : [row.created_at, row.seq] }))
  const within = keyed
    .filter(
      ({ key }) =>
        (above === undefined || compare(key, above) > 0) && (below === undefined || compare(key, below) < 0),
    )
    .sort((one, other) => compare(other.key, one.key))
  const rows = within.map(({ row }) => row)
  const most = MAX_SCANNED + page.offset
  const beyond = rows[most]
  return { rows: rows.slice(0, most), beyond: beyond && keyOf(filter, beyond) }
}

function compare(one: KeyValues, other: KeyValues): number {
  const at = one.findIndex((value, index) => value !== other[index])
  const [left = 0, right = 0] = [one[at], other[at]]
  if (left === right) return 0
  return left < right ? -1 : 1
}

/** Values for the columns of a sort key. */
type KeyValues = readonly (number | string)[]

interface PageBounds {
  readonly above: KeyValues | undefined
  readonly below: KeyValues | undefined
}

/**
 * The sort keys that bound a page of notifications: time and `seq`, or over all organizations the id. There is one per
 * end, because an index walk has one start and one end and filters by any other condition row by row.
 *
 * @param beyond the first unread row, which lies between the others
 */
export function pageBounds(
  filter: NotificationFilter,
  page: PageRequest,
  beyond?: readonly number[],
): PageBounds {
  return filter.organizationId === ALL_ORGANIZATIONS
    ? idBounds(filter, page, beyond)
    : timeBounds(filter, page, beyond)
}

function timeBounds(
  { from, until }: NotificationFilter,
  { cursor }: PageRequest,
  beyond: readonly number[] | undefined,
): PageBounds {
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

function idBounds(
  { from, until }: NotificationFilter,
  { cursor }: PageRequest,
  beyond: readonly number[] | undefined,
): PageBounds {
  const above = beyond === undefined ? from && firstIdAt(from) : idOf(beyond)
  const ends = [
    ...(until === undefined ? [] : [firstIdAt(until)]),
    ...(cursor === undefined ? [] : [belowId(cursor)]),
  ]
  const [below] = ends.sort()
  return { above: above ? [above] : undefined, below: below === undefined ? undefined : [below] }
}

/** The text below which the page continues. */
function belowId(cursor: string): string {
  const { id, sequence } = belowCursor(cursor)
  // The page begins with this id: with another digit it sorts above itself, and below all others.
  return sequence === 0 ? id : `${id}0`
}
