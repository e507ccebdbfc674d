import { NotifierError } from '../../src/core/errors/notifier-error.ts'
import type { Page, PageRequest } from '../../src/core/ports/storage/page.ts'
import { decodeCursor, encodeCursor } from '../../src/core/records/cursor.ts'

/**
 * Builds a page of at most `limit` rows. One extra row shows that another page follows.
 *
 * @param rows matches in the list's order, newest first, without the `offset` rows that are skipped: at most `limit` + 1
 * @param sortKey the numbers by which the list is sorted, descending: whole and not negative, as `encodeCursor` takes
 *   them. No two rows have the same. A page with a cursor holds rows with a key below `decodeCursor(cursor)`
 * @param beyond sort key of the first row, matching or not, that the query did not read, if its number of rows is limited:
 *   the next page starts with it. Absent: all rows were read
 * @throws NotifierError `invalid_parameter` if that row comes before all rows to skip
 *
 * @example
 * const rows = await query<NotificationRow>('SELECT * FROM notifications ORDER BY seq DESC LIMIT $1', [page.limit + 1])
 * const { items, nextCursor } = toPage(rows, page, ({ seq }) => [seq], toNotification)
 */
export function toPage<Row, Item>(
  rows: readonly Row[],
  { limit, offset }: PageRequest,
  sortKey: (row: Row) => readonly number[],
  toItem: (row: Row) => Item,
  beyond?: readonly number[],
): Page<Item> {
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  const items = shown.map(toItem)
  if (rows.length > limit && last !== undefined) return { items, nextCursor: encodeCursor(sortKey(last)) }
  if (beyond === undefined) return { items, nextCursor: null }
  // A cursor cannot store the number of skipped rows.
  if (offset > 0 && items.length === 0) throw beyondOffset()
  // Lists continue below their cursor.
  return { items, nextCursor: encodeCursor(beyond.with(-1, (beyond.at(-1) ?? 0) + 1)) }
}

/** What to read of a list in descending order of `seq`: one row more than the page, to detect another page. */
export function seqBounds({
  limit,
  offset,
  cursor,
}: PageRequest): readonly [before: number, most: number, offset: number] {
  const [before = Number.MAX_SAFE_INTEGER] = cursor === undefined ? [] : decodeCursor(cursor, 1)
  return [before, limit + 1, offset]
}

export function bySeq({ seq }: { readonly seq: number }): readonly number[] {
  return [seq]
}

function beyondOffset(): NotifierError {
  return new NotifierError('invalid_parameter', {
    message: 'The offset is too large for this filter. Use "nextCursor" of an earlier page.',
    details: { field: 'offset' },
  })
}
