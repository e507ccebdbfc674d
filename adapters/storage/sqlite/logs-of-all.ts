import type { LogEntry, LogFilter } from '../../../src/core/ports/storage/logs.ts'
import type { Page, PageRequest } from '../../../src/core/ports/storage/page.ts'
import { belowCursor, idKey } from '../id-order.ts'
import { type LogRow, toLogEntry } from '../rows/log-entry.ts'
import { MAX_SCANNED, skipsEntries } from '../scan.ts'
import { toPage } from '../to-page.ts'
import type { Connection } from './connection.ts'
import { ACCEPTED, SHOWN } from './log-columns.ts'
import { type Condition, labelConditions, whereOf } from './walk.ts'

const FROM = 'FROM carillon_notifications AS n'

const ACCEPTS = `
  SELECT n.seq, 1 AS sequence, n.created_at AS at, ${ACCEPTED} AS status, NULL AS fact, ${SHOWN} ${FROM}`

/** The planner keeps the order of a cross join. */
const EVENTS = `
  SELECT n.seq, e.sequence, e.at, e.status, e.fact, ${SHOWN} ${FROM}
  CROSS JOIN carillon_events AS e ON e.notification = n.seq`

const BEYOND = `SELECT n.id ${FROM}`

/** Sorts after every entry of its notification. */
const NEWEST = Number.MAX_SAFE_INTEGER - 1

const newestFirst = (a: LogRow, b: LogRow): number =>
  a.id === b.id ? b.sequence - a.sequence : a.id < b.id ? 1 : -1

/**
 * The delivery log over all organizations. It walks the ids of notifications: each has at least one entry, so a page
 * needs no more notifications than it has entries.
 */
export function createLogsOfAll(
  connection: Connection,
): (filter: LogFilter, page: PageRequest) => Page<LogEntry> {
  function select<Row>(
    head: string,
    conditions: readonly Condition[],
    rest: string,
    ...last: number[]
  ): Row[] {
    const { where, values } = whereOf(conditions)
    return connection
      .statement<Row>(`${head} ${where} ORDER BY n.id DESC${rest}`)()
      .all(...values, ...last)
  }

  return function list(filter, page) {
    const { channel, status, notificationId } = filter
    const cursor = page.cursor === undefined ? undefined : belowCursor(page.cursor)
    const below: Condition = ['n.id <= ?', cursor?.id]
    const [beyond] = skipsEntries(filter)
      ? select<Pick<LogRow, 'id'>>(BEYOND, [below], ' LIMIT 1 OFFSET ?', MAX_SCANNED + page.offset)
      : []
    const conditions: Condition[] = [
      below,
      ['n.id > ?', beyond?.id],
      ['n.channel = ?', channel],
      ['n.id = ?', notificationId],
      ...labelConditions(filter),
    ]
    const most = page.offset + page.limit + 1
    const accepts = select<LogRow>(
      ACCEPTS,
      [...conditions, ['(n.id, 1) < (?, ?)', cursor?.id, cursor?.sequence], [`${ACCEPTED} = ?`, status]],
      ' LIMIT ?',
      most,
    )
    // With a status, the accepts do not show how many notifications the page needs.
    const last = status === undefined ? accepts[most - 1]?.id : undefined
    const events = select<LogRow>(
      EVENTS,
      [
        ...conditions,
        ['n.id >= ?', last],
        ['(n.id, e.sequence) < (?, ?)', cursor?.id, cursor?.sequence],
        ['e.status = ?', status],
      ],
      ', e.sequence DESC LIMIT ?',
      most,
    )
    const rows = [...accepts, ...events].sort(newestFirst).slice(page.offset)
    const keyOf = ({ id, sequence }: LogRow): readonly number[] => idKey(id, sequence)
    return toPage(rows, page, keyOf, toLogEntry, beyond && idKey(beyond.id, NEWEST))
  }
}
