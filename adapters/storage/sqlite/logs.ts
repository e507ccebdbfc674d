import type { LogEntry, LogFilter, LogRepository, LogSpan } from '../../../src/core/ports/storage/logs.ts'
import type { Page, PageRequest } from '../../../src/core/ports/storage/page.ts'
import { decodeCursor } from '../../../src/core/records/cursor.ts'
import { firstIdAt } from '../../../src/core/records/ids.ts'
import { ALL_ORGANIZATIONS } from '../../../src/core/tenancy/all-organizations.ts'
import { type CountedRow, countFacts, toLogCounts } from '../rows/counts.ts'
import { type LogRow, toLogEntry } from '../rows/log-entry.ts'
import { labelWalk, MAX_GATHERED, MAX_SCANNED, skipsEntries } from '../scan.ts'
import { toPage } from '../to-page.ts'
import type { Connection } from './connection.ts'
import { ACCEPTED, SHOWN } from './log-columns.ts'
import { createLogsOfAll } from './logs-of-all.ts'
import { type Condition, indexOf, labelConditions, whereOf } from './walk.ts'

/** All entries but accepts. */
const EVENTS = `
  SELECT e.notification AS seq, e.sequence, e.at, e.status, e.fact, ${SHOWN}
  FROM carillon_events AS e JOIN carillon_notifications AS n ON n.seq = e.notification`

const EVENTS_ORDER = 'ORDER BY e.at DESC, e.notification DESC, e.sequence DESC'

/** Accept entries, derived from the notifications. */
const ACCEPTS = `
  SELECT n.seq, 1 AS sequence, n.created_at AS at, ${ACCEPTED} AS status, NULL AS fact, ${SHOWN}
  FROM carillon_notifications AS n`

const ACCEPTS_ORDER = 'ORDER BY n.created_at DESC, n.seq DESC'

const COUNT = `
  SELECT 'accepted' AS name, count(*) AS notifications, 0 AS bounced, count(*) AS entries FROM
    (SELECT 1 FROM carillon_notifications WHERE organization = ? AND created_at >= ? AND created_at < ? LIMIT ?)
  UNION ALL ${countFacts(`
    (SELECT notification, json_extract(fact, '$.type') AS type FROM carillon_events
      WHERE organization = ? AND at >= ? AND at < ? ORDER BY at LIMIT ?)`)}`

const COUNT_ALL = `
  SELECT 'accepted' AS name, count(*) AS notifications, 0 AS bounced, count(*) AS entries FROM
    (SELECT 1 FROM carillon_notifications WHERE id >= ? AND id < ? LIMIT ?)
  UNION ALL ${countFacts(`
    (SELECT notification, json_extract(fact, '$.type') AS type FROM carillon_events
      WHERE at >= ? AND at < ? ORDER BY at LIMIT ?)`)}`

const EVENTS_BEYOND = `
  SELECT e.at, e.notification AS seq, e.sequence FROM carillon_events AS e`

const ACCEPTS_BEYOND = `
  SELECT n.created_at AS at, n.seq, 1 AS sequence FROM carillon_notifications AS n`

/** Sort key of an entry: time, `seq` of the notification, `sequence`. */
type Key = Pick<LogRow, 'at' | 'seq' | 'sequence'>

const keyOf = ({ at, seq, sequence }: Key): number[] => [at, seq, sequence]

const newestFirst = (a: Key, b: Key): number => b.at - a.at || b.seq - a.seq || b.sequence - a.sequence

/** What a page of the log reads. */
interface Reading {
  /** Sort key of the first unread entry. */
  readonly beyond?: readonly number[] | undefined
  /** `seq` of the notifications to read, if they are few: nothing else is read. */
  readonly among?: readonly number[] | undefined
}

/** Conditions covered by the indexes of both lists: the organization, and the sort keys that bound a page. */
function within(
  { organizationId, notificationId }: LogFilter,
  page: PageRequest,
  { beyond, among }: Reading = {},
) {
  const bounds: Condition[] = [
    ...(page.cursor === undefined
      ? []
      : [['< (?, ?, ?)', ...decodeCursor(page.cursor, 3)] satisfies Condition]),
    ...(beyond === undefined ? [] : [['> (?, ?, ?)', ...beyond] satisfies Condition]),
  ]
  const on = (organization: string, key: string): Condition[] => [
    [`${organization} = ?`, organizationId],
    ...bounds.map<Condition>(([bound, ...values]) => [`${key} ${bound}`, ...values]),
  ]
  // The plus sign makes the planner use the events of these notifications.
  const walked = notificationId === undefined && among === undefined ? '' : '+'
  const ofAccepts = among === undefined ? 'n.organization' : '+n.organization'
  const seqs = among && JSON.stringify(among)
  return {
    events: [
      ...on(`${walked}e.organization`, '(e.at, e.notification, e.sequence)'),
      ['e.notification IN (SELECT value FROM json_each(?))', seqs] satisfies Condition,
    ],
    accepts: [
      ...on(ofAccepts, '(n.created_at, n.seq, 1)'),
      ['n.seq IN (SELECT value FROM json_each(?))', seqs] satisfies Condition,
    ],
  }
}

/**
 * The delivery log merges two lists, each with an index by time: events and accepts. A page reads enough of both and
 * merges by (time, seq, sequence).
 */
export function createLogs(connection: Connection): LogRepository {
  function select<Row>(
    [head, order]: readonly [string, string],
    conditions: readonly Condition[],
    limit: number,
    offset = 0,
  ): Row[] {
    const { where, values } = whereOf(conditions)
    return connection
      .statement<Row>(`${head} ${where} ${order} LIMIT ? OFFSET ?`)()
      .all(...values, limit, offset)
  }

  const count = connection.statement<CountedRow>(COUNT)
  const countAll = connection.statement<CountedRow>(COUNT_ALL)
  const listAll = createLogsOfAll(connection)

  function counted({ organizationId, from, until }: LogSpan, most: number): readonly CountedRow[] {
    if (organizationId === ALL_ORGANIZATIONS)
      return countAll().all(firstIdAt(from), firstIdAt(until), most, from, until, most)
    const values = [organizationId, from, until, most]
    return count().all(...values, ...values)
  }

  /** Sort key of the first unread entry of either list, the newer of the two. */
  function findBeyond(filter: LogFilter, page: PageRequest): readonly number[] | undefined {
    if (!skipsEntries(filter)) return undefined
    const { events, accepts } = within(filter, page)
    const skipped = MAX_SCANNED + page.offset
    const [first] = [
      ...select<Key>([EVENTS_BEYOND, EVENTS_ORDER], events, 1, skipped),
      ...select<Key>([ACCEPTS_BEYOND, ACCEPTS_ORDER], accepts, 1, skipped),
    ].sort(newestFirst)
    return first && keyOf(first)
  }

  /** The notifications that the walk of a label finds, if they are few. Undefined: many, or no label. */
  function gather(filter: LogFilter): readonly number[] | undefined {
    const walk = filter.notificationId === undefined ? labelWalk(filter) : null
    if (walk === null) return undefined
    const { table, key, conditions } = indexOf({ ...filter, status: undefined }, walk)
    const found = select<{ seq: number }>(
      [`SELECT ${key[1]} AS seq FROM ${table}`, ''],
      conditions,
      MAX_GATHERED + 1,
    )
    return found.length > MAX_GATHERED ? undefined : found.map(({ seq }) => seq)
  }

  function list(filter: LogFilter, page: PageRequest): Page<LogEntry> {
    const { channel, status, notificationId } = filter
    const among = gather(filter)
    const beyond = among === undefined ? findBeyond(filter, page) : undefined
    const bounds = within(filter, page, { beyond, among })
    const most = page.offset + page.limit + 1
    const shared: Condition[] = [
      ['n.channel = ?', channel],
      ['n.id = ?', notificationId],
      ...labelConditions(filter),
    ]
    const events: Condition[] = [...bounds.events, ...shared, ['e.status = ?', status]]
    const accepts: Condition[] = [...bounds.accepts, ...shared, [`${ACCEPTED} = ?`, status]]
    const rows = [
      ...select<LogRow>([EVENTS, EVENTS_ORDER], events, most),
      ...select<LogRow>([ACCEPTS, ACCEPTS_ORDER], accepts, most),
    ]
    const skipped = rows.sort(newestFirst).slice(page.offset)
    return toPage(skipped, page, keyOf, toLogEntry, beyond)
  }

  return {
    async list(filter, page) {
      const read = filter.organizationId === ALL_ORGANIZATIONS ? listAll : list
      return connection.read(() => read(filter, page))
    },
    async count(span, most) {
      return connection.read(() => toLogCounts(counted(span, most), most))
    },
  }
}
