import type { Page, PageRequest } from '../../src/core/ports/storage/page.ts'
import { decodeCursor } from '../../src/core/records/cursor.ts'
import { MAX_SCANNED } from './scan.ts'
import { toPage } from './to-page.ts'

const READ_AT_ONCE = 100

/** A list whose rows the storage filters itself. */
export interface Scan<Row, Item> {
  /** The columns by which the list is sorted, descending: whole, non-negative numbers, together unique for each row. */
  readonly sortedBy: readonly (keyof Row)[]
  /**
   * Reads the next rows.
   *
   * @param below values of `sortedBy`: only rows that are less. Undefined: from the newest row on
   * @param most number of rows; fewer are the last ones
   */
  read(below: readonly number[] | undefined, most: number): readonly Row[] | Promise<readonly Row[]>
  /** Absent: all rows match. */
  matches?(row: Row): boolean
  toItem(row: Row): Item
  /** Most rows to examine besides those of the offset; more than `limit`. Default: 2,000. */
  readonly most?: number
}

/**
 * One page of a list, newest first. Its cost is bounded, even if few rows match: then the page is short, and its cursor
 * continues where it stopped.
 *
 * @throws NotifierError `invalid_parameter` if the rows to skip are further away
 *
 * @example
 * const statement = 'SELECT * FROM notifications WHERE seq < ? ORDER BY seq DESC LIMIT ?'
 * const list = (filter: NotificationFilter, page: PageRequest) =>
 *   scanPage<NotificationRow & FilteredRow, Notification>(page, {
 *     sortedBy: ['seq'],
 *     read: ([before = Number.MAX_SAFE_INTEGER] = [], most) => query(statement, [before, most]),
 *     matches: (row) => matchesFilter(row, filter),
 *     toItem: toNotification,
 *   })
 */
export async function scanPage<Row, Item>(page: PageRequest, scan: Scan<Row, Item>): Promise<Page<Item>> {
  const { sortedBy, matches = () => true, toItem, most = MAX_SCANNED } = scan
  const { limit, offset } = page
  const sortKey = (row: Row): number[] => sortedBy.map((column) => Number(row[column]))
  const found: Row[] = []
  let left = offset + most
  let beyond: Row | undefined
  for await (const row of rowsOf(page, scan, sortKey)) {
    if (left === 0) beyond = row
    if (left === 0 || found.length > offset + limit) break
    left -= 1
    if (matches(row)) found.push(row)
  }
  return toPage(found.slice(offset), page, sortKey, toItem, beyond && sortKey(beyond))
}

async function* rowsOf<Row, Item>(
  { cursor }: PageRequest,
  { sortedBy, read }: Scan<Row, Item>,
  sortKey: (row: Row) => number[],
): AsyncGenerator<Row, void> {
  let below = cursor === undefined ? undefined : decodeCursor(cursor, sortedBy.length)
  for (let last: Row | undefined; ; below = sortKey(last)) {
    const rows = await read(below, READ_AT_ONCE)
    yield* rows
    last = rows.at(-1)
    if (last === undefined || rows.length < READ_AT_ONCE) return
  }
}
