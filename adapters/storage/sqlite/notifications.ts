import type { Notification } from '../../../src/core/notification/notification.ts'
import type {
  Failure,
  FailureSpan,
  NotificationFilter,
  NotificationRepository,
  NotificationState,
} from '../../../src/core/ports/storage/notifications.ts'
import type { Page, PageRequest } from '../../../src/core/ports/storage/page.ts'
import { ALL_ORGANIZATIONS } from '../../../src/core/tenancy/all-organizations.ts'
import { type FailureRow, toFailure } from '../rows/failure.ts'
import { type EventRow, toNotification, toStates, toTimeline, type WholeRow } from '../rows/notification.ts'
import {
  examined,
  findsByAddress,
  hasJob,
  type KeyRow,
  keyOf,
  MAX_SCANNED,
  pageBounds,
  skipsRows,
  type Walk,
  walkFor,
} from '../scan.ts'
import { toPage } from '../to-page.ts'
import type { Addresses } from './addresses.ts'
import { type Changes, SELECT_STATE } from './changes.ts'
import type { Connection } from './connection.ts'
import type { Deliveries } from './deliveries.ts'
import type { SqliteValue } from './driver.ts'
import {
  type AddFacts,
  FACT_COLUMNS,
  FROM_NOTIFICATIONS,
  type NotificationRow,
  WITH_NEWEST_EVENT,
} from './facts.ts'
import { createJudgeAgain } from './judge-again.ts'
import { createRetry } from './retry.ts'
import {
  addressConditions,
  type Condition,
  indexOf,
  labelConditions,
  type WalkedIndex,
  walkedIndex,
  whereOf,
} from './walk.ts'

const COLUMNS = `${FACT_COLUMNS}, n.high, n.expires_at, n.content, n.resend_of`

const SELECT = `SELECT ${COLUMNS}, n.attachments ${FROM_NOTIFICATIONS} WHERE n.id = ?`

const SELECT_EVENTS = `
  SELECT sequence, status, at, fact FROM carillon_events WHERE notification = ? ORDER BY sequence`

/** Walks the jobs; even ids belong to notifications. The planner keeps the order of a cross join. */
const FROM_JOBS = `
  FROM carillon_jobs AS j CROSS JOIN carillon_notifications AS n ON n.seq = j.id / 2 ${WITH_NEWEST_EVENT}`

/** Reads named rows. */
const FROM_FOUND = `
  FROM json_each(?) AS g CROSS JOIN carillon_notifications AS n ON n.seq = g.value ${WITH_NEWEST_EVENT}`

const COUNT_JOBS = 'SELECT count(*) AS jobs FROM (SELECT 1 FROM carillon_jobs LIMIT ?)'

/** Status, also for a notification without facts. */
const STATUS = `coalesce(e.status, CASE WHEN n.send_at > n.created_at THEN 'scheduled' ELSE 'queued' END)`

const SELECT_STATES = `
  SELECT n.id, n.recipient, ${STATUS} AS status ${FROM_NOTIFICATIONS} WHERE n.id IN (SELECT value FROM json_each(?))`

export function createNotifications(
  connection: Connection,
  parts: {
    readonly addFacts: AddFacts
    readonly deliveries: Deliveries
    readonly changes: Changes
    readonly addresses: Addresses
  },
): NotificationRepository {
  const { changes, addresses } = parts
  const select = connection.statement<WholeRow>(SELECT)
  const selectState = connection.statement<NotificationRow>(SELECT_STATE)
  const selectStates = connection.statement<
    Pick<WholeRow, 'id' | 'recipient'> & Pick<NotificationState, 'status'>
  >(SELECT_STATES)
  const selectEvents = connection.statement<EventRow>(SELECT_EVENTS)
  const countJobs = connection.statement<{ jobs: number }>(COUNT_JOBS)
  const judgeAgain = createJudgeAgain(connection)
  const retry = createRetry(connection, parts)

  function lookFor(filter: NotificationFilter, page: PageRequest): Look {
    const found = findsByAddress(filter) ? addresses.find(filter) : null
    if (found !== null) return examined(filter, page, found)
    if (!skipsRows(filter)) return {}
    if (
      walkFor(filter) === 'time' &&
      hasJob(filter.status) &&
      (countJobs().get(MAX_SCANNED + 1)?.jobs ?? 0) <= MAX_SCANNED
    )
      return { jobs: true }
    const { sql, values } = beyondStatement(filter, page)
    const row = connection
      .statement<Pick<WholeRow, 'id' | 'created_at' | 'seq'>>(sql)()
      .get(...values)
    return { beyond: row && keyOf(filter, row) }
  }

  function list(filter: NotificationFilter, page: PageRequest): Page<Notification> {
    const look = lookFor(filter, page)
    const { sql, values } = listStatement(filter, page, look)
    const rows = connection
      .statement<WholeRow>(sql)()
      .all(...values)
    return toPage(rows, page, (row) => keyOf(filter, row), toNotification, look.beyond)
  }

  function failures(span: FailureSpan, page: PageRequest): Page<Failure> {
    const walk = walkOf({ ...span, status: 'failed' }, page)
    const head = `n.id, n.created_at, n.seq, n.channel, e.provider, e.error FROM ${walk.from} ${WITH_NEWEST_EVENT}`
    const { sql, values } = selectOf(head, walk, page.limit + 1, page.offset)
    const rows = connection
      .statement<FailureRow & { readonly id: string }>(sql)()
      .all(...values)
    return toPage(rows, page, (row) => keyOf(span, row), toFailure)
  }

  return {
    async get(id) {
      const row = await connection.read(() => select().get(id))
      return row === undefined ? null : toNotification(row)
    },
    async states(ids) {
      return toStates(ids, await connection.read(() => selectStates().all(JSON.stringify(ids))))
    },
    async list(filter, page) {
      // Without a run to write, the page is read within the call: the caller decides how many are read in one turn.
      const lacksRuns = (): boolean => findsByAddress(filter) && addresses.lacksRuns()
      const found = await connection.read(() => (lacksRuns() ? null : list(filter, page)))
      if (found !== null) return found
      await addresses.write()
      return connection.read(() => list(filter, page))
    },
    async failures(span, page) {
      return connection.read(() => failures(span, page))
    },
    async timeline(id) {
      return connection.read(() => {
        const row = selectState().get(id)
        return row === undefined ? [] : toTimeline(row, selectEvents().all(row.seq))
      })
    },
    async cancel(id, content) {
      return connection.durably(() => changes.cancel(id, content))
    },
    async reschedule(id, sendAt) {
      return connection.durably(() => changes.reschedule(id, sendAt))
    },
    judgeAgain,
    async retry(request) {
      return retry(request)
    },
  }
}

interface Look {
  /** True: start with the jobs. If they are few, nothing else needs to be read. */
  readonly jobs?: boolean
  /** Start with these. */
  readonly rows?: readonly KeyRow[]
  /** Sort key of the first unread notification. */
  readonly beyond?: readonly number[] | undefined
}

interface Select {
  readonly sql: string
  readonly values: SqliteValue[]
}

/** The SQL is fixed; all values are parameters. */
function selectOf(
  head: string,
  { conditions, key }: Pick<WalkedIndex, 'conditions' | 'key'>,
  limit: number,
  offset: number,
): Select {
  const { where, values } = whereOf(conditions)
  return {
    sql: `
      SELECT ${head} ${where}
      ${newestFirst(key)} LIMIT ? OFFSET ?`,
    values: [...values, limit, offset],
  }
}

function beyondStatement(filter: NotificationFilter, page: PageRequest): Select {
  const walk = walkOf(filter, page)
  const [first, seq] = walk.key
  const head = `${seq === undefined ? first : `${first} AS created_at, ${seq} AS seq`} FROM ${walk.table}`
  return selectOf(head, walk, 1, MAX_SCANNED + page.offset)
}

/** What a list must match, without what its walk covers. */
function matching(filter: NotificationFilter, walk: Walk): Condition[] {
  return [
    ['n.channel = ?', filter.channel],
    [`${STATUS} = ?`, walk === 'failed' ? undefined : filter.status],
    ...addressConditions(filter),
    [`json_extract(n.content, '$.template.id') = ?`, filter.templateId],
    [`json_extract(e.error, '$.code') = ?`, filter.code],
    // Conditions on `e` alone must accept null. Otherwise the planner turns the join into an inner one and starts with
    // the events of all organizations.
    [`coalesce(e.provider, '') = ?`, filter.provider],
    ['n.id IN (SELECT value FROM json_each(?))', filter.ids && JSON.stringify(filter.ids)],
    ...labelConditions(filter, walk),
  ]
}

function listStatement(filter: NotificationFilter, page: PageRequest, { jobs, rows, beyond }: Look): Select {
  const [limit, offset] = [page.limit + 1, page.offset]
  if (rows !== undefined) {
    const { key } = indexOf(filter, 'time')
    const inner = selectOf(
      `n.seq ${FROM_FOUND}`,
      { conditions: matching(filter, 'time'), key },
      limit,
      offset,
    )
    return sortedFirst(inner, key, [JSON.stringify(rows.map(({ seq }) => seq))])
  }
  const walk = walkOf(filter, page, beyond)
  const conditions = [...walk.conditions, ...matching(filter, walkFor(filter))]
  const { key } = walk
  if (jobs !== true)
    return selectOf(`${COLUMNS} FROM ${walk.from} ${WITH_NEWEST_EVENT}`, { conditions, key }, limit, offset)
  const { organizationId } = filter
  conditions.push(['j.id % 2 = 0'])
  if (organizationId !== ALL_ORGANIZATIONS) conditions.push(['j.organization = ?', organizationId])
  return sortedFirst(selectOf(`n.seq ${FROM_JOBS}`, { conditions, key }, limit, offset), key)
}

/** Sorts without the contents, which may be large, and then reads only those of the page. */
function sortedFirst({ sql, values }: Select, key: WalkedIndex['key'], first: SqliteValue[] = []): Select {
  const sorted = newestFirst(key)
  return {
    sql: `SELECT ${COLUMNS} ${FROM_NOTIFICATIONS} WHERE n.seq IN (${sql}) ${sorted}`,
    values: [...first, ...values],
  }
}

const newestFirst = (key: WalkedIndex['key']): string =>
  `ORDER BY ${key.map((column) => `${column} DESC`).join(', ')}`

/** The index that a list walks, with the bounds of the page. */
function walkOf(filter: NotificationFilter, page: PageRequest, beyond?: readonly number[]): WalkedIndex {
  const index = walkedIndex(filter)
  const { above, below } = pageBounds(filter, page, beyond)
  const key = `(${index.key.join(', ')})`
  const values = `(${index.key.map(() => '?').join(', ')})`
  const bounds: Condition[] = [
    ...(above === undefined ? [] : [[`${key} > ${values}`, ...above] satisfies Condition]),
    ...(below === undefined ? [] : [[`${key} < ${values}`, ...below] satisfies Condition]),
  ]
  return { ...index, conditions: [...index.conditions, ...bounds] }
}
