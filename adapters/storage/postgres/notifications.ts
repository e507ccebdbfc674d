import { lowerAddress } from '../../../src/core/notification/lower-address.ts'
import type { Notification } from '../../../src/core/notification/notification.ts'
import type {
  Failure,
  FailureSpan,
  NotificationFilter,
  NotificationRepository,
} from '../../../src/core/ports/storage/notifications.ts'
import type { Page, PageRequest } from '../../../src/core/ports/storage/page.ts'
import { ALL_ORGANIZATIONS } from '../../../src/core/tenancy/all-organizations.ts'
import { type FailureRow, toFailure } from '../rows/failure.ts'
import {
  type AcceptRow,
  type EventRow,
  toNotification,
  toStates,
  toTimeline,
  type WholeRow,
} from '../rows/notification.ts'
import {
  examined,
  findsByAddress,
  hasJob,
  keyOf,
  labelWalk,
  MAX_SCANNED,
  pageBounds,
  skipsRows,
} from '../scan.ts'
import { toPage } from '../to-page.ts'
import type { Addresses } from './addresses.ts'
import { type Change, cancelling, lockWaiting, rescheduling } from './changes.ts'
import type { Connection, Runner, Transaction } from './connection.ts'
import { inOrder } from './in-order.ts'
import { createJudgeAgain } from './judge-again.ts'
import { labelConditions, labelIndex } from './labels.ts'
import { createRetry } from './retry.ts'
import { ACCEPTED } from './rows.ts'
import { FACT_COLUMNS } from './states.ts'
import type { Value } from './values.ts'

const COLUMNS = `${FACT_COLUMNS}, n.high, n.expires_at, n.content, n.resend_of,
  s.status, s.provider, s.provider_message_id, s.error`

/** Joins one row at a time inside parentheses that a plan cannot start with: a hash join would read the whole table. */
const WITH_STATE = `
  LEFT JOIN LATERAL (SELECT * FROM carillon.states WHERE notification = n.id OFFSET 0) AS s ON true`

const from = (notifications: string): string => `FROM ${notifications} AS n ${WITH_STATE}`

/** Walks the index of failed notifications. */
const fromFailed = (states: string): string => `
  FROM ${states} AS s
  CROSS JOIN LATERAL (SELECT * FROM carillon.notifications WHERE id = s.notification OFFSET 0) AS n`

/** Walks the index of metadata. */
const FROM_METADATA = `
  FROM carillon.metadata AS m
  CROSS JOIN LATERAL (SELECT * FROM carillon.notifications WHERE id = m.notification OFFSET 0) AS n ${WITH_STATE}`

/** Walks the index of copies. */
const FROM_COPIES = `
  FROM carillon.copies AS o
  CROSS JOIN LATERAL (SELECT * FROM carillon.notifications WHERE id = o.notification OFFSET 0) AS n ${WITH_STATE}`

/** Walks the jobs; even ids belong to notifications. */
const FROM_JOBS = `
  FROM carillon.jobs AS j
  CROSS JOIN LATERAL (SELECT * FROM carillon.notifications WHERE id = j.subject OFFSET 0) AS n ${WITH_STATE}`

const COUNT_JOBS = 'SELECT count(*) AS jobs FROM (SELECT 1 FROM carillon.jobs LIMIT $1::bigint) AS part'

const SELECT = `
  SELECT ${COLUMNS}, n.attachments
  FROM carillon.notifications AS n LEFT JOIN carillon.states AS s ON s.notification = n.id WHERE n.id = $1`

const SELECT_STATES = `
  SELECT n.id, n.recipient, coalesce(s.status, ${ACCEPTED}) AS status
  ${from('(SELECT * FROM carillon.notifications WHERE id = ANY ($1::text[]) OFFSET 0)')}`

const SELECT_ACCEPT = 'SELECT created_at, send_at FROM carillon.notifications WHERE id = $1'

const SELECT_EVENTS = `
  SELECT sequence, status, at, fact FROM carillon.events WHERE notification = $1 ORDER BY sequence`

/** Reads that need no more than a runner, as in a transaction of the caller. */
export function notificationsById(
  runner: Runner,
): Pick<NotificationRepository, 'get' | 'states' | 'timeline'> {
  return {
    async get(id) {
      const [row] = await runner.rows<WholeRow>(SELECT, [id])
      return row === undefined ? null : toNotification(row)
    },
    async states(ids) {
      return toStates(ids, await runner.rows(SELECT_STATES, [ids]))
    },
    async timeline(id) {
      const [row] = await runner.rows<AcceptRow>(SELECT_ACCEPT, [id])
      if (row === undefined) return []
      return toTimeline(row, await runner.rows<EventRow>(SELECT_EVENTS, [id]))
    },
  }
}

export function createNotifications(
  connection: Connection,
  addresses: Pick<Addresses, 'catchUp' | 'find'>,
): NotificationRepository {
  function change<Answer>(
    id: string,
    changed: Change<Answer>,
  ): Promise<Answer | { readonly kind: 'unknown' | 'ended' | 'too_late' }> {
    return connection.transaction(async (tx) => {
      const found = await lockWaiting(tx, id, changed)
      return typeof found === 'string' ? { kind: found } : changed.make(tx, found)
    })
  }

  return {
    ...notificationsById(connection),
    async list(filter, page) {
      const label = labelWalk(filter)
      const skips = skipsRows(filter)
      const isOfOne = filter.organizationId !== ALL_ORGANIZATIONS
      if (!skips && label === null && isOfOne) return read(connection, filter, page)
      const finds = findsByAddress(filter) && (await addresses.catchUp())
      return inOrder(connection, async (tx) => {
        if (!skips) return read(tx, filter, page)
        const found = finds ? await addresses.find(tx, filter) : null
        if (found !== null) {
          const { rows, beyond } = examined(filter, page, found)
          return read(tx, { ...filter, ids: rows.map(({ id }) => id) }, page, { beyond })
        }
        if (label === null && hasJob(filter.status) && (await areJobsFew(tx)))
          return read(tx, filter, page, { jobs: true })
        return read(tx, filter, page, { beyond: await findBeyond(tx, filter, page) })
      })
    },
    failures: (span, page) => failures(connection, span, page),
    cancel: (id, content) => change(id, cancelling(content)),
    reschedule: (id, sendAt) => change(id, rescheduling(sendAt)),
    judgeAgain: createJudgeAgain(connection),
    retry: createRetry(connection),
  }
}

interface Look {
  /** True: start with the jobs. If they are few, nothing else needs to be read. */
  readonly jobs?: boolean
  /** Sort key of the first unread notification. */
  readonly beyond?: readonly number[] | undefined
}

async function read(
  runner: Runner,
  filter: NotificationFilter,
  page: PageRequest,
  look: Look = {},
): Promise<Page<Notification>> {
  const { sql, values } = listStatement(filter, page, look)
  const rows = await runner.rows<WholeRow>(sql, values)
  return toPage(rows, page, (row) => keyOf(filter, row), toNotification, look.beyond)
}

async function failures(
  connection: Connection,
  span: FailureSpan,
  page: PageRequest,
): Promise<Page<Failure>> {
  const { conditions, newestFirst, parameter, values } = walkOf({ ...span, status: 'failed' }, page)
  const sql = `
    SELECT n.id, s.created_at, s.seq, n.channel, s.provider, s.error ${fromFailed('carillon.states')}
    WHERE ${conditions.join(' AND ')} ${newestFirst}
    LIMIT ${parameter(page.limit + 1)} OFFSET ${parameter(page.offset)}`
  const rows = await inOrder(connection, (tx) => tx.rows<FailureRow & { readonly id: string }>(sql, values))
  return toPage(rows, page, (row) => keyOf(span, row), toFailure)
}

async function areJobsFew(tx: Transaction): Promise<boolean> {
  const [counted] = await tx.rows<{ jobs: number }>(COUNT_JOBS, [MAX_SCANNED + 1])
  return counted !== undefined && counted.jobs <= MAX_SCANNED
}

async function findBeyond(
  tx: Transaction,
  filter: NotificationFilter,
  page: PageRequest,
): Promise<Look['beyond']> {
  const { t, id, table, conditions, newestFirst, parameter, values } = walkOf(filter, page)
  const sql = `
    SELECT ${id} AS id, ${t}.created_at, ${t}.seq FROM carillon.${table} AS ${t} WHERE ${conditions.join(' AND ')}
    ${newestFirst} LIMIT 1 OFFSET ${parameter(MAX_SCANNED + page.offset)}`
  const [row] = await tx.rows<Pick<WholeRow, 'id' | 'created_at' | 'seq'>>(sql, values)
  return row && keyOf(filter, row)
}

type Table = 'metadata' | 'copies' | 'states' | 'notifications'

/** The index that a list walks, and the conditions it covers. The SQL is fixed; all values are parameters. */
function walkOf(filter: NotificationFilter, page: PageRequest, beyond?: readonly number[]) {
  const values: Value[] = []
  const parameter = (value: Value): string => `$${values.push(value)}`
  const label = filter.ids === undefined ? labelWalk(filter) : null
  const failed = label === null && filter.status === 'failed'
  const index = label === null ? null : labelIndex(filter, label, parameter)
  const t = index?.t ?? (failed ? 's' : 'n')
  const id = index?.id ?? (failed ? 's.notification' : 'n.id')
  const all = filter.organizationId === ALL_ORGANIZATIONS
  const ofOne = (): string => (all ? 'true' : `${t}.organization = ${parameter(filter.organizationId)}`)
  const conditions = [...(index?.conditions ?? [ofOne()])]
  if (failed) conditions.push("s.status = 'failed'")
  const { above, below } = pageBounds(filter, page, beyond)
  const columns = all ? [id] : [`${t}.created_at`, `${t}.seq`]
  const key = (parts: readonly Value[]): string => `(${parts.map((part) => parameter(part)).join(', ')})`
  if (above !== undefined) conditions.push(`(${columns.join(', ')}) > ${key(above)}`)
  if (below !== undefined) conditions.push(`(${columns.join(', ')}) < ${key(below)}`)
  const newestFirst = `ORDER BY ${columns.map((column) => `${column} DESC`).join(', ')}`
  const own: Table = failed ? 'states' : 'notifications'
  const table: Table = index?.table ?? own
  return { t, id, label, failed, table, conditions, newestFirst, parameter, values }
}

function listStatement(
  filter: NotificationFilter,
  page: PageRequest,
  { jobs = false, beyond }: Look,
): { readonly sql: string; readonly values: readonly Value[] } {
  const {
    label,
    failed,
    table,
    conditions: used,
    newestFirst,
    parameter,
    values,
  } = walkOf(filter, page, beyond)
  const conditions = [
    ['n.channel =', filter.channel],
    [`coalesce(s.status, ${ACCEPTED}) =`, failed ? undefined : filter.status],
    ['lower(n.recipient) =', filter.to && lowerAddress(filter.to)],
    ['n.template_id =', filter.templateId],
    ['s.provider =', filter.provider],
  ] as const
  for (const [condition, value] of conditions) {
    if (value !== undefined) used.push(`${condition} ${parameter(value)}`)
  }
  if (filter.toPrefix !== undefined)
    used.push(`starts_with(lower(n.recipient), ${parameter(lowerAddress(filter.toPrefix))})`)
  if (filter.copyTo !== undefined && label !== 'copies')
    used.push(`EXISTS (SELECT 1 FROM carillon.copies AS c
      WHERE c.notification = n.id AND c.address = ${parameter(lowerAddress(filter.copyTo))} OFFSET 0)`)
  used.push(...labelConditions(filter, label, parameter))
  // Compared as text with the code first: PostgreSQL's JSON refuses documents with U+0000 or lone surrogates.
  const { code, ids } = filter
  if (code !== undefined) used.push(`starts_with(s.error, ${parameter(`{"code":${JSON.stringify(code)},`)})`)
  // Reads named rows first, regardless of the statistics; otherwise a plan may scan all rows of the organization.
  const named = (table: string, id: string): string =>
    ids === undefined
      ? table
      : `(SELECT * FROM ${table} WHERE ${id} = ANY (${parameter(ids)}::text[]) OFFSET 0)`
  if (jobs) used.push('j.id % 2 = 0')
  if (jobs && filter.organizationId !== ALL_ORGANIZATIONS)
    used.push(`j.organization = ${parameter(filter.organizationId)}`)
  const sources: Readonly<Record<Table, () => string>> = {
    metadata: () => FROM_METADATA,
    copies: () => FROM_COPIES,
    states: () => fromFailed(named('carillon.states', 'notification')),
    notifications: () => (jobs ? FROM_JOBS : from(named('carillon.notifications', 'id'))),
  }
  const source = sources[table]()
  return {
    sql: `
      SELECT ${COLUMNS} ${source} WHERE ${used.join(' AND ')}
      ${newestFirst} LIMIT ${parameter(page.limit + 1)} OFFSET ${parameter(page.offset)}`,
    values,
  }
}
