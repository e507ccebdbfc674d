import { setImmediate as nextTurn } from 'node:timers/promises'
import * as z from 'zod'
import { notACursor } from '../domain/cursor.ts'
import type { Page, PageRequest } from '../ports/storage/page.ts'
import { parseOptions, wrong } from './scope.ts'

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

/** The kind of list. Cursors start with it, so that those of another list are refused. */
type ListName =
  | 'keys'
  | 'dead-letters'
  | 'deliveries'
  | 'layout-versions'
  | 'layouts'
  | 'logs'
  | 'missing-translations'
  | 'notifications'
  | 'operator-keys'
  | 'organizations'
  | 'partial-versions'
  | 'partials'
  | 'suppressions'
  | 'template-versions'
  | 'templates'
  | 'webhooks'

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
 * @param filters the optional filters with their schemas
 * @returns a function that throws NotifierError `invalid_parameter`, `invalid_channel`
 */
export function listReader<Filter extends object = object>(
  list: ListName,
  filters: { readonly [Name in keyof Filter]-?: z.ZodType<Filter[Name]> },
): (query: unknown) => ListRequest<Filter> {
  const schema = z.strictObject({ ...paging, ...filters }) as unknown as z.ZodType<ListQuery & Filter>
  return (query) => {
    const parsed = parseOptions(schema, query)
    const { limit = DEFAULT_LIMIT, offset = 0, cursor, ...filter } = parsed
    if (cursor !== undefined && offset > 0) throw wrong('offset', 'omitted with "cursor"')
    const after = cursor === undefined ? {} : { cursor: cursorOf(list, cursor) }
    return { page: { limit, offset, ...after }, filter: filter as unknown as Filter }
  }
}

function cursorOf(list: ListName, cursor: unknown): string {
  const prefix = `${list}.`
  if (typeof cursor === 'string' && cursor.startsWith(prefix)) return cursor.slice(prefix.length)
  throw notACursor()
}

/** A page in its public form. */
export function listOf<Row, Item>(
  list: ListName,
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

/** How to read a list of large rows. */
interface Portions<Row> {
  /** Rows per read: a synchronous storage blocks the process meanwhile. */
  readonly rows: number
  /** Characters of a row in the answer. Absent: few. */
  readonly size?: (row: Row) => number
}

/** Characters at which a page ends. */
const MAX_SIZE = 512 * 1024

/** Like {@link listOf}, for large rows. */
export async function listInPortions<Row, Item>(
  list: ListName,
  read: (request: PageRequest) => Promise<Page<Row>>,
  request: PageRequest,
  view: (row: Row) => Item,
  { rows, size = () => 0 }: Portions<Row>,
): Promise<List<Item>> {
  const items: Item[] = []
  let characters = 0
  for (let from: Omit<PageRequest, 'limit'> = request; ; ) {
    const limit = Math.min(rows, request.limit - items.length)
    const page = await read({ ...from, limit })
    for (const row of page.items) {
      characters += size(row)
      items.push(view(row))
    }
    const { nextCursor } = page
    // A short page is final: the storage has looked at its maximum of rows.
    const ends = nextCursor === null || page.items.length < limit
    if (ends || items.length >= request.limit || characters >= MAX_SIZE)
      return listOf(list, { items, nextCursor }, request, (item) => item)
    from = { offset: 0, cursor: nextCursor }
    await nextTurn()
  }
}
