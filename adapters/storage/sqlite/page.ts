import { decodeCursor } from '../../../src/domain/cursor.ts'
import type { Page, PageRequest } from '../../../src/ports/storage/page.ts'
import { toPage } from '../to-page.ts'

/**
 * One page of rows that are listed by `seq`, newest first.
 *
 * @param select answers the rows with a smaller `seq`, newest first; it is asked for one more than are shown, to
 *   know whether there is another page
 */
export function pageBySeq<Row extends { readonly seq: number }, Item>(
  { limit, offset, cursor }: PageRequest,
  select: (before: number, limit: number, offset: number) => Row[],
  toItem: (row: Row) => Item,
): Page<Item> {
  const [before = Number.MAX_SAFE_INTEGER] = cursor === undefined ? [] : decodeCursor(cursor, 1)
  const rows = select(before, limit + 1, offset)
  return toPage(rows, limit, (row) => [row.seq], toItem)
}
