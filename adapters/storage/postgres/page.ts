import type { Page, PageRequest } from '../../../src/core/ports/storage/page.ts'
import { decodeCursor } from '../../../src/core/records/cursor.ts'
import { toPage } from '../to-page.ts'
import type { Connection, Transaction } from './connection.ts'

/**
 * One page of rows in descending order of `seq`.
 *
 * @param select returns rows with a smaller `seq`, newest first; called with one more than the page size, to detect
 *   another page
 * @param beyond the first row that `select` did not read, if any
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

/** Upper bound of a page, exclusive. */
export function seqBefore({ cursor }: PageRequest): number {
  const [before = Number.MAX_SAFE_INTEGER] = cursor === undefined ? [] : decodeCursor(cursor, 1)
  return before
}

const IN_ORDER = ['SET LOCAL enable_bitmapscan = off', 'SET LOCAL enable_sort = off']

/**
 * Runs a query on a bounded part of a list in a transaction whose settings make plans walk the list's index. With
 * statistics of a small table, a plan would gather and sort everything.
 */
export function inOrder<Answer>(
  connection: Connection,
  look: (tx: Transaction) => Promise<Answer>,
): Promise<Answer> {
  return connection.transaction(look, IN_ORDER, true)
}
