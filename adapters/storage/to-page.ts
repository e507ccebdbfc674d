import { encodeCursor } from '../../src/domain/cursor.ts'
import type { Page } from '../../src/ports/storage/page.ts'

/** A page of at most `limit` of the rows; one row more than that says that another page follows. */
export function toPage<Row, Item>(
  rows: readonly Row[],
  limit: number,
  sortKey: (row: Row) => readonly number[],
  toItem: (row: Row) => Item,
): Page<Item> {
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  const more = rows.length > limit && last !== undefined
  return { items: shown.map(toItem), nextCursor: more ? encodeCursor(sortKey(last)) : null }
}
