import { decodeCursor, encodeCursor } from '../../../src/domain/cursor.ts'
import type { Page, PageRequest } from '../../../src/ports/storage/page.ts'

/**
 * One page of rows that are listed by `seq`, newest first.
 *
 * @param select answers the rows with a smaller `seq`, newest first; it is asked for one more than are shown, to
 *   know whether there is another page
 */
export async function pageBySeq<Row extends { readonly seq: number }, Item>(
  { limit, offset, cursor }: PageRequest,
  select: (before: number, limit: number, offset: number) => Promise<Row[]>,
  toItem: (row: Row) => Item,
): Promise<Page<Item>> {
  const [before = Number.MAX_SAFE_INTEGER] = cursor === undefined ? [] : decodeCursor(cursor, 1)
  return toPage(await select(before, limit + 1, offset), limit, (row) => [row.seq], toItem)
}

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
