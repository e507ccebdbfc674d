import type { Page, PageRequest } from '../../../src/core/ports/storage/page.ts'
import { eachIsFound, type Fault, type Faults } from './storage-faults.ts'

/* A storage whose pages examine ten rows, with the cursor of the row at which the next page begins, or of another. */

const EXAMINED = 10

type List<Row> = (page: PageRequest) => Promise<Page<Row>>

/**
 * A page of the matches among the first ten rows.
 *
 * @param all lists all rows
 * @param rows number of rows that the next page leaves out
 */
async function bounded<Row>(
  all: List<Row>,
  { limit, offset, cursor }: PageRequest,
  matches: (row: Row) => boolean,
  rows: number,
): Promise<Page<Row>> {
  const { items } = await all({ limit: EXAMINED + offset, offset: 0, cursor })
  const found = items.flatMap((row, index) => (matches(row) ? [{ row, index }] : [])).slice(offset)
  const shown = found.slice(0, limit)
  const next = found.length > limit ? (shown.at(-1)?.index ?? 0) + 1 : rows + offset
  const { nextCursor } = await all({ limit: next, offset: 0, cursor })
  return { items: shown.map(({ row }) => row), nextCursor }
}

type Lists = 'notifications' | 'logs' | 'deliveries'

/** @param wrong the list whose cursor leaves out that many rows */
const storageWith =
  (wrong?: Lists, rows = EXAMINED): Fault =>
  (good) => {
    const rowsOf = (list: Lists): number => (list === wrong ? rows : EXAMINED)
    return {
      ...good,
      notifications: {
        ...good.notifications,
        async list(filter, page) {
          const { organizationId } = filter
          const wanted = await everything((request) => good.notifications.list(filter, request))
          const ids = new Set(wanted.map(({ id }) => id))
          const all: List<(typeof wanted)[number]> = (request) =>
            good.notifications.list({ organizationId }, request)
          return bounded(all, page, ({ id }) => ids.has(id), rowsOf('notifications'))
        },
      },
      logs: {
        ...good.logs,
        async list(filter, page) {
          const { organizationId } = filter
          const wanted = await everything((request) => good.logs.list(filter, request))
          const ids = new Set(wanted.map(({ id }) => id))
          const all: List<(typeof wanted)[number]> = (request) => good.logs.list({ organizationId }, request)
          return bounded(all, page, ({ id }) => ids.has(id), rowsOf('logs'))
        },
      },
      webhookEndpoints: {
        ...good.webhookEndpoints,
        deliveries: ({ endpointId, state }, page) =>
          bounded(
            (request) => good.webhookEndpoints.deliveries({ endpointId }, request),
            page,
            (row) => state === undefined || row.state === state,
            rowsOf('deliveries'),
          ),
      },
    }
  }

async function everything<Row>(list: List<Row>): Promise<Row[]> {
  const rows: Row[] = []
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const found = await list({ limit: 100, offset: 0, cursor })
    rows.push(...found.items)
    cursor = found.nextCursor
  }
  return rows
}

const faults = (...lists: readonly (readonly [Lists, found: string])[]): Faults =>
  Object.fromEntries(
    lists.flatMap(([list, found]) => [
      [`the cursor of ${list} skips a row (${found})`, [found, storageWith(list, EXAMINED + 1)] as const],
      [`the cursor of ${list} repeats a row (${found})`, [found, storageWith(list, EXAMINED - 1)] as const],
    ]),
  )

eachIsFound(
  faults(
    ['notifications', 'what lies far apart'],
    ['logs', 'what lies far apart'],
    ['notifications', 'what failed far apart'],
    ['deliveries', 'what failed far apart'],
  ),
  storageWith(),
  (harness) => ({ ...harness, examines: EXAMINED }),
)
