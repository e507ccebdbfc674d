import { decodeCursor } from '../../../src/domain/cursor.ts'
import type { Page, PageRequest } from '../../../src/ports/storage/page.ts'
import { toPage } from '../to-page.ts'
import type { Connection, Transaction } from './connection.ts'

/**
 * One page of rows that are listed by `seq`, newest first.
 *
 * @param select answers the rows with a smaller `seq`, newest first; it is asked for one more than are shown, to
 *   know whether there is another page
 * @param beyond the first row that `select` did not look at, where there is one
 */
export async function pageBySeq<Row extends { readonly seq: number }, Item>(
  page: PageRequest,
  select: (before: number, limit: number, offset: number) => Promise<Row[]>,
  toItem: (row: Row) => Item,
  beyond?: number,
): Promise<Page<Item>> {
  const rows = await select(seqBefore(page), page.limit + 1, page.offset)
  return toPage(rows, page, (row) => [row.seq], toItem, beyond === undefined ? undefined : [beyond])
}

/** Below it a page begins. */
export function seqBefore({ cursor }: PageRequest): number {
  const [before = Number.MAX_SAFE_INTEGER] = cursor === undefined ? [] : decodeCursor(cursor, 1)
  return before
}

const IN_ORDER = ['SET LOCAL enable_bitmapscan = off', 'SET LOCAL enable_sort = off']

/**
 * Runs what looks at a bounded part of a list in a transaction whose plans walk along its index, and stop, whatever the
 * statistics say: those of a table that was small would have them gather all of it, and put it in order.
 */
export function inOrder<Answer>(
  connection: Connection,
  look: (tx: Transaction) => Promise<Answer>,
): Promise<Answer> {
  return connection.transaction(look, IN_ORDER, true)
}
