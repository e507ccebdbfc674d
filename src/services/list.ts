import { setImmediate as nextTurn } from 'node:timers/promises'
import * as z from 'zod'
import { notACursor } from '../domain/cursor.ts'
import type { Page, PageRequest } from '../ports/storage/page.ts'
import { parseOptions, wrong } from './scope.ts'

export interface ListQuery {
  /** 1 to 100; default 50. A page of large items may have fewer, and be followed by more. */
  readonly limit?: number | undefined
  /** Rows to skip, at most 2,000; default 0. For deep pages, and filters that few match, use `cursor`. */
  readonly offset?: number | undefined
  /** `nextCursor` of an earlier page. */
  readonly cursor?: string | undefined
}

/** One page, newest first. */
export interface List<Item> {
  /** At most `limit`. Fewer, or none, are no sign of the last page: a filtered one looks at a bounded part of a long history. */
  readonly items: readonly Item[]
  readonly limit: number
  readonly offset: number
  /** True: `nextCursor` leads on, however many items this page has. */
  readonly hasMore: boolean
  /** `cursor` of the next page; null: this is the last. */
  readonly nextCursor: string | null
}

/** Largest page of every list. */
const MAX_LIMIT = 100
const DEFAULT_LIMIT = 50
const LIMIT = `must be a whole number from 1 to ${MAX_LIMIT}`
/** A storage reads every row that it skips; SQLite does so in the thread that serves everybody else. */
const MAX_OFFSET = 2_000
const OFFSET = `must be a whole number from 0 to ${MAX_OFFSET}; use "cursor" for deeper pages`

/** An offset of every list, as a number. */
export const offsetNumber: z.ZodInt = z.int(OFFSET).min(0, OFFSET).max(MAX_OFFSET, OFFSET)

/** What a list holds. Its cursors begin with it, since those of another list would lead to some page of this one. */
type ListName =
  | 'keys'
  | 'dead-letters'
  | 'deliveries'
  | 'logs'
  | 'notifications'
  | 'operator-keys'
  | 'organizations'
  | 'suppressions'
  | 'template-versions'
  | 'templates'
  | 'webhooks'

const paging = {
  limit: z.int(LIMIT).min(1, LIMIT).max(MAX_LIMIT, LIMIT).optional(),
  offset: offsetNumber.optional(),
  cursor: z.unknown().optional(),
}

/** What a list is asked for. */
export interface ListRequest<Filter> {
  readonly page: PageRequest
  readonly filter: Filter
}

/**
 * Reads what one kind of list is asked for: options that nobody knows are refused, because the list would be longer
 * than was meant.
 *
 * @param filters the schema of each filter, all of them optional
 * @returns throws NotifierError `invalid_parameter`, `invalid_channel`
 */
export function listReader<Filter extends object = object>(
  list: ListName,
  filters: { readonly [Name in keyof Filter]-?: z.ZodType<Filter[Name]> },
): (query: unknown) => ListRequest<Filter> {
  const schema = z.strictObject({ ...paging, ...filters }) as unknown as z.ZodType<ListQuery & Filter>
  return (query) => {
    const parsed = parseOptions(schema, query)
    const { limit = DEFAULT_LIMIT, offset = 0, cursor, ...filter } = parsed
    if (cursor !== undefined && offset > 0) throw wrong('offset', 'left out beside "cursor"')
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

/** How a list is read whose rows may be large. */
interface Portions<Row> {
  /** So many rows are read at once: what a storage reads in one go stops the process. */
  readonly rows: number
  /** Characters of a row in the answer; absent: few. */
  readonly size?: (row: Row) => number
}

/** A page that has so many characters ends there. */
const MAX_SIZE = 2 * 1024 * 1024

/** As {@link listOf}, of rows that may be large. */
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
    // What is not full ends the page: the storage has looked at as many rows as it does in one.
    const ends = nextCursor === null || page.items.length < limit
    if (ends || items.length >= request.limit || characters >= MAX_SIZE)
      return listOf(list, { items, nextCursor }, request, (item) => item)
    from = { offset: 0, cursor: nextCursor }
    await nextTurn()
  }
}
