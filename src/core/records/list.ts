import { setImmediate as nextTurn } from 'node:timers/promises'
import * as z from 'zod'
import type { Page, PageRequest } from '../ports/storage/page.ts'
import { ALL_ORGANIZATIONS } from '../tenancy/all-organizations.ts'
import { parseOptions, wrong } from '../tenancy/scope.ts'
import { notACursor } from './cursor.ts'

export interface ListQuery {
  /** Maximum number of items, 1 to 100; default 50. A page of large items may have fewer although more follow. */
  readonly limit?: number | undefined
  /** Rows to skip, at most 2,000; default 0. Use `cursor` for deep pages and filters with few matches. */
  readonly offset?: number | undefined
  /** `nextCursor` of an earlier page. */
  readonly cursor?: string | undefined
}

/** One page, newest first. */
export interface List<Item> {
  /**
   * At most `limit`. Fewer, or none, do not mean the last page: a filtered page looks at a limited part of a long
   * history.
   */
  readonly items: readonly Item[]
  readonly limit: number
  readonly offset: number
  /** True: more pages follow, however few items this one has. */
  readonly hasMore: boolean
  /** `cursor` of the next page. Null: the last page. */
  readonly nextCursor: string | null
}

/** Largest page of every list. */
const MAX_LIMIT = 100
const DEFAULT_LIMIT = 50
const LIMIT = `must be a whole number from 1 to ${MAX_LIMIT}`
/** A storage reads all skipped rows; SQLite blocks the process meanwhile. */
const MAX_OFFSET = 2_000
const OFFSET = `must be a whole number from 0 to ${MAX_OFFSET}; use "cursor" for deeper pages`

/** The offset of every list, as a number. */
export const offsetNumber: z.ZodInt = z.int(OFFSET).min(0, OFFSET).max(MAX_OFFSET, OFFSET)

const paging = {
  limit: z.int(LIMIT).min(1, LIMIT).max(MAX_LIMIT, LIMIT).optional(),
  offset: offsetNumber.optional(),
  cursor: z.unknown().optional(),
}

/** The parsed query of a list. */
export interface ListRequest<Filter> {
  readonly page: PageRequest
  readonly filter: Filter
}

/**
 * Parses the query of a list. Unknown options are refused, because ignoring a filter would return more than requested.
 *
 * @param list its name: cursors start with it, so that those of another list are refused
 * @param filters the optional filters with their schemas
 * @returns a function of a query and whose list it is; it throws NotifierError `invalid_parameter`, `invalid_channel`
 */
export function listReader<Filter extends object = object>(
  list: string,
  filters: { readonly [Name in keyof Filter]-?: z.ZodType<Filter[Name]> },
): (query: unknown, organizationId?: string) => ListRequest<Filter> {
  const schema = z.strictObject({ ...paging, ...filters }) as unknown as z.ZodType<ListQuery & Filter>
  return (query, organizationId) => {
    const parsed = parseOptions(schema, query)
    const { limit = DEFAULT_LIMIT, offset = 0, cursor, ...filter } = parsed
    if (cursor !== undefined && offset > 0) throw wrong('offset', 'omitted with "cursor"')
    const after = cursor === undefined ? {} : { cursor: cursorOf(listOfOwner(list, organizationId), cursor) }
    return { page: { limit, offset, ...after }, filter: filter as unknown as Filter }
  }
}

/** The name of a list, which over all organizations is another one: its order and its cursors are others. */
export function listOfOwner(list: string, organizationId: string | undefined): string {
  return organizationId === ALL_ORGANIZATIONS ? `all.${list}` : list
}

function cursorOf(list: string, cursor: unknown): string {
  const prefix = `${list}.`
  if (typeof cursor === 'string' && cursor.startsWith(prefix)) return cursor.slice(prefix.length)
  throw notACursor()
}

/** A page in its public form. */
export function listOf<Row, Item>(
  list: string,
  page: Page<Row>,
  request: PageRequest,
  view: (row: Row) => Item,
): List<Item> {
  return {
    items: page.items.map(view),
    limit: request.limit,
    offset: request.offset,
    hasMore: page.nextCursor !== null,
    nextCursor: page.nextCursor === null ? null : `${list}.${page.nextCursor}`,
  }
}

/** How to read a list of large items. */
interface Portions<Row, Item> {
  /** Rows per read: a synchronous storage blocks the process meanwhile. */
  readonly rows: number
  /** Bytes of a row in the answer. Absent: few. */
  readonly size?: (row: Row) => number
  readonly view: (rows: readonly Row[]) => readonly Item[] | Promise<readonly Item[]>
  /** True: the page ends after these rows, regardless of their size. Absent: never. */
  readonly isEnough?: () => boolean
}

/** Bytes of a page. A single item with more gets its own page. */
const MAX_SIZE = 256 * 1024

/** Like {@link listOf}, for large items: a page ends before the one with which it would become too large. */
export async function listInPortions<Row, Item>(
  list: string,
  read: (request: PageRequest) => Promise<Page<Row>>,
  request: PageRequest,
  { rows, size = () => 0, view, isEnough = () => false }: Portions<Row, Item>,
): Promise<List<Item>> {
  const items: Item[] = []
  let bytes = 0
  const ended = (nextCursor: string | null) => listOf(list, { items, nextCursor }, request, (item) => item)

  /** How many of the next rows the page has room for. */
  function fitting(found: readonly Row[]): number {
    for (const [at, row] of found.entries()) {
      bytes += size(row)
      if (bytes > MAX_SIZE && items.length + at > 0) return at
    }
    return found.length
  }

  for (let from: Omit<PageRequest, 'limit'> = request; ; ) {
    const limit = Math.min(rows, request.limit - items.length)
    let page = await read({ ...from, limit })
    const fit = fitting(page.items)
    const isFull = fit < page.items.length
    if (fit === 0 && isFull) return ended(from.cursor ?? null)
    // The storage knows the cursor only of the last row that it reads.
    if (isFull) page = await read({ ...from, limit: fit })
    for (const item of await view(page.items)) items.push(item)
    const { nextCursor } = page
    // A short page is final: the storage has examined its maximum of rows.
    const isLast = nextCursor === null || page.items.length < limit
    if (isLast || isFull || items.length >= request.limit || isEnough()) return ended(nextCursor)
    from = { offset: 0, cursor: nextCursor }
    await nextTurn()
  }
}
