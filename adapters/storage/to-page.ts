import { encodeCursor } from '../../src/domain/cursor.ts'
import { NotifierError } from '../../src/domain/errors/notifier-error.ts'
import type { Page, PageRequest } from '../../src/ports/storage/page.ts'

/**
 * A page of at most `limit` of the rows; one row more than that says that another page follows.
 *
 * @param beyond the sort key of the first row that was not looked at, where there is one: the next page begins with it
 * @throws NotifierError `invalid_parameter` when that row comes before all that was to be skipped
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
  // How many it has skipped, no cursor says.
  if (offset > 0 && items.length === 0) throw beyondOffset()
  // A list goes on below its cursor.
  return { items, nextCursor: encodeCursor(beyond.with(-1, (beyond.at(-1) ?? 0) + 1)) }
}

function beyondOffset(): NotifierError {
  return new NotifierError('invalid_parameter', {
    message: 'Too few match for a page to skip so many. Use "nextCursor" of an earlier page.',
    details: { field: 'offset' },
  })
}
