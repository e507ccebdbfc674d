import type { Page, PageRequest } from '../../src/core/ports/storage/page.ts'
import { decodeCursor, encodeCursor } from '../../src/core/records/cursor.ts'

/**
 * A page of rows with ascending numbers, newest first.
 *
 * @param rows oldest first; may be filtered lazily
 */
export function pageOf<Row extends { readonly number: number }, Item>(
  rows: Iterable<Row>,
  { limit, offset, cursor }: PageRequest,
  toItem: (row: Row) => Item,
): Page<Item> {
  const [before = Infinity] = cursor === undefined ? [] : decodeCursor(cursor, 1)
  const newestFirst = [...rows].filter(({ number }) => number < before).reverse()
  const page = newestFirst.slice(offset, offset + limit)
  const last = page.at(-1)
  const more = newestFirst.length > offset + limit
  return {
    items: page.map(toItem),
    nextCursor: more && last !== undefined ? encodeCursor([last.number]) : null,
  }
}
