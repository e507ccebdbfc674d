import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Page, PageRequest } from '../ports/storage/page.ts'

/** Rows per read: a synchronous storage blocks the process meanwhile. */
const ROWS = 100
/** Most rows that a page looks at. */
const MOST_EXAMINED = 2_000

/** A page of rows that are all in memory. */
export function pageOf<Row>(rows: readonly Row[], { limit, offset, cursor }: PageRequest): Page<Row> {
  const from = cursor === undefined ? offset : Number(cursor)
  const until = from + limit
  return { items: rows.slice(from, until), nextCursor: until < rows.length ? String(until) : null }
}

/**
 * A page of those rows of a list that match, which may be fewer than asked for although more follow.
 *
 * @param isPast whether a row and all that follow are too old; default: none
 */
export async function searchList<Row>(
  list: (request: PageRequest) => Promise<Page<Row>>,
  page: PageRequest,
  isWanted: (row: Row) => boolean,
  isPast: (row: Row) => boolean = () => false,
): Promise<Page<Row>> {
  const items: Row[] = []

  /** The number of rows until the page is full. */
  function take(found: readonly Row[]): number {
    for (const [at, row] of found.entries()) {
      if (isWanted(row)) items.push(row)
      if (items.length === page.limit) return at + 1
    }
    return found.length
  }

  let from: Omit<PageRequest, 'limit'> = page
  for (let examined = 0; ; examined += ROWS) {
    const { items: found, nextCursor } = await list({ ...from, limit: ROWS })
    const end = found.findIndex(isPast)
    const recent = end === -1 ? found : found.slice(0, end)
    const taken = take(recent)
    // The storage knows the cursor only of the last row that it reads.
    if (taken < recent.length)
      return { items, nextCursor: (await list({ ...from, limit: taken })).nextCursor }
    const isLast = recent.length < found.length || nextCursor === null
    const isEnough = items.length === page.limit || examined + ROWS >= MOST_EXAMINED
    if (isLast || isEnough) return { items, nextCursor: isLast ? null : nextCursor }
    from = { offset: 0, cursor: nextCursor }
    await nextTurn()
  }
}
