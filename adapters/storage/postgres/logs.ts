import type { LogEntry, LogFilter, LogRepository } from '../../../src/core/ports/storage/logs.ts'
import type { Page, PageRequest } from '../../../src/core/ports/storage/page.ts'
import { decodeCursor } from '../../../src/core/records/cursor.ts'
import { firstIdAt } from '../../../src/core/records/ids.ts'
import { ALL_ORGANIZATIONS } from '../../../src/core/tenancy/all-organizations.ts'
import { type CountedRow, countFacts, toLogCounts } from '../rows/counts.ts'
import { type LogRow, toLogEntry } from '../rows/log-entry.ts'
import { labelWalk, MAX_GATHERED, MAX_SCANNED, skipsEntries } from '../scan.ts'
import { toPage } from '../to-page.ts'
import type { Connection, Runner } from './connection.ts'
import { inOrder } from './in-order.ts'
import { labelConditions, labelIndex, SHOWN } from './labels.ts'
import { listLogsOfAll } from './logs-of-all.ts'
import { ACCEPTED } from './rows.ts'
import type { Value } from './values.ts'

/** All entries but accepts. OFFSET 0 keeps the planner from hashing all notifications. */
const eventsOf = (table: string): string => `
  SELECT e.seq, e.sequence, e.at, e.status, e.fact, ${SHOWN}
  FROM ${table} AS e
  CROSS JOIN LATERAL (SELECT * FROM carillon.notifications WHERE id = e.notification OFFSET 0) AS n`

/** Accept entries, derived from the notifications. */
const ACCEPTS = `
  SELECT n.seq, 1 AS sequence, n.created_at AS at, ${ACCEPTED} AS status, NULL AS fact, ${SHOWN}
  FROM`

const TYPE = `substring(fact FROM '"type":"([a-z_]+)"')`

const COUNT = `
  SELECT 'accepted' AS name, count(*) AS notifications, 0 AS bounced, count(*) AS entries FROM
    (SELECT 1 FROM carillon.notifications
      WHERE organization = $1 AND created_at >= $2 AND created_at < $3 ORDER BY created_at, seq LIMIT $4::bigint) AS part
  UNION ALL ${countFacts(`
    (SELECT notification, ${TYPE} AS type FROM carillon.events
      WHERE organization = $1 AND at >= $2 AND at < $3 ORDER BY at, seq, sequence LIMIT $4::bigint) AS part`)}`

const COUNT_ALL = `
  SELECT 'accepted' AS name, count(*) AS notifications, 0 AS bounced, count(*) AS entries FROM
    (SELECT 1 FROM carillon.notifications WHERE id >= $1 AND id < $2 ORDER BY id LIMIT $5::bigint) AS part
  UNION ALL ${countFacts(`
    (SELECT notification, ${TYPE} AS type FROM carillon.events
      WHERE at >= $3 AND at < $4 ORDER BY at LIMIT $5::bigint) AS part`)}`

/** The delivery log merges two lists, each with an index by time. */
export function createLogs(connection: Connection): LogRepository {
  return {
    async list(filter, page) {
      if (filter.organizationId === ALL_ORGANIZATIONS) return listLogsOfAll(connection, filter, page)
      if (!skipsEntries(filter)) return read(connection, filter, page)
      const among = await gather(connection, filter)
      if (among !== undefined) return read(connection, filter, page, { among })
      return inOrder(connection, async (tx) => {
        const { sql, values } = beyondStatement(filter, page)
        const [row] = await tx.rows<Pick<LogRow, 'at' | 'seq' | 'sequence'>>(sql, values)
        return read(tx, filter, page, { beyond: row && [row.at, row.seq, row.sequence] })
      })
    },
    async count({ organizationId, from, until }, most) {
      const [sql, values] =
        organizationId === ALL_ORGANIZATIONS
          ? [COUNT_ALL, [firstIdAt(from), firstIdAt(until), from, until, most]]
          : [COUNT, [organizationId, from, until, most]]
      const rows = await inOrder(connection, (tx) => tx.rows<CountedRow>(sql, values))
      return toLogCounts(rows, most)
    },
  }
}

/** What a page of the log reads. */
interface Reading {
  /** Sort key of the first unread entry. */
  readonly beyond?: readonly number[] | undefined
  /** Ids of the notifications to read, if they are few: nothing else is read. */
  readonly among?: readonly string[] | undefined
}

async function read(
  runner: Runner,
  filter: LogFilter,
  page: PageRequest,
  reading: Reading = {},
): Promise<Page<LogEntry>> {
  const { sql, values } = listStatement(filter, page, reading)
  const rows = await runner.rows<LogRow>(sql, values)
  return toPage(rows, page, ({ at, seq, sequence }) => [at, seq, sequence], toLogEntry, reading.beyond)
}

/** The notifications that the walk of a label finds, if they are few. Undefined: many, or no label. */
async function gather(runner: Runner, filter: LogFilter): Promise<readonly string[] | undefined> {
  const walk = labelWalk(filter)
  if (walk === null) return undefined
  const values: Value[] = []
  const parameter = (value: Value): string => `$${values.push(value)}`
  const { t, table, id, conditions } = labelIndex(filter, walk, parameter)
  const sql = `
    SELECT ${id} AS id FROM carillon.${table} AS ${t} WHERE ${conditions.join(' AND ')}
    LIMIT ${parameter(MAX_GATHERED + 1)}`
  const found = await runner.rows<{ id: string }>(sql, values)
  return found.length > MAX_GATHERED ? undefined : found.map((row) => row.id)
}

/** Conditions for the sort keys that bound a page. */
function within(
  page: PageRequest,
  beyond: readonly number[] | undefined,
  parameter: (value: Value) => string,
) {
  const key = (parts: readonly number[]): string => {
    const [at = 0, seq = 0, sequence = 0] = parts
    return `(${parameter(at)}::bigint, ${parameter(seq)}::bigint, ${parameter(sequence)}::bigint)`
  }
  const bounds = [
    ...(page.cursor === undefined ? [] : [`< ${key(decodeCursor(page.cursor, 3))}`]),
    ...(beyond === undefined ? [] : [`> ${key(beyond)}`]),
  ]
  return {
    events: bounds.map((bound) => `(e.at, e.seq, e.sequence) ${bound}`),
    accepts: bounds.map((bound) => `(n.created_at, n.seq, 1) ${bound}`),
  }
}

/** Finds the first unread entry of either list, the newer of the two. */
function beyondStatement(
  { organizationId }: LogFilter,
  page: PageRequest,
): { readonly sql: string; readonly values: readonly Value[] } {
  const values: Value[] = []
  const parameter = (value: Value): string => `$${values.push(value)}`
  const organization = parameter(organizationId)
  const skipped = parameter(MAX_SCANNED + page.offset)
  const { events, accepts } = within(page, undefined, parameter)
  return {
    sql: `
      SELECT * FROM (
        (SELECT e.at, e.seq, e.sequence FROM carillon.events AS e
          WHERE ${[`e.organization = ${organization}`, ...events].join(' AND ')}
          ORDER BY e.at DESC, e.seq DESC, e.sequence DESC LIMIT 1 OFFSET ${skipped})
        UNION ALL
        (SELECT n.created_at AS at, n.seq, 1 AS sequence FROM carillon.notifications AS n
          WHERE ${[`n.organization = ${organization}`, ...accepts].join(' AND ')}
          ORDER BY n.created_at DESC, n.seq DESC LIMIT 1 OFFSET ${skipped})
      ) AS entries
      ORDER BY at DESC, seq DESC, sequence DESC LIMIT 1`,
    values,
  }
}

function listStatement(
  filter: LogFilter,
  page: PageRequest,
  { beyond, among }: Reading,
): { readonly sql: string; readonly values: readonly Value[] } {
  const { organizationId, channel, status, notificationId } = filter
  const values: Value[] = []
  const parameter = (value: Value): string => `$${values.push(value)}`
  const organization = parameter(organizationId)
  const most = parameter(page.offset + page.limit + 1)
  const bounds = within(page, beyond, parameter)
  const events = [`e.organization = ${organization}`, ...bounds.events]
  const accepts = [`n.organization = ${organization}`, ...bounds.accepts]
  if (channel !== undefined) {
    const wanted = `n.channel = ${parameter(channel)}`
    events.push(wanted)
    accepts.push(wanted)
  }
  let source = eventsOf('carillon.events')
  let acceptsOf = 'carillon.notifications'
  const labels = labelConditions(filter, null, parameter)
  events.push(...labels)
  accepts.push(...labels)
  const ids = notificationId === undefined ? among : [notificationId]
  if (ids !== undefined) {
    const wanted = `ANY (${parameter(ids)}::text[])`
    // Reads the events of these notifications first, regardless of the statistics; otherwise a plan may gather all
    // events of the organization.
    source = eventsOf(`(SELECT * FROM carillon.events WHERE notification = ${wanted} OFFSET 0)`)
    acceptsOf = `(SELECT * FROM carillon.notifications WHERE id = ${wanted} OFFSET 0)`
  }
  if (status !== undefined) {
    const wanted = parameter(status)
    events.push(`e.status = ${wanted}`)
    accepts.push(`${ACCEPTED} = ${wanted}`)
  }
  return {
    sql: `
      SELECT * FROM (
        (${source} WHERE ${events.join(' AND ')} ORDER BY e.at DESC, e.seq DESC, e.sequence DESC LIMIT ${most})
        UNION ALL
        (${ACCEPTS} ${acceptsOf} AS n WHERE ${accepts.join(' AND ')} ORDER BY n.created_at DESC, n.seq DESC LIMIT ${most})
      ) AS entries
      ORDER BY at DESC, seq DESC, sequence DESC LIMIT ${parameter(page.limit + 1)} OFFSET ${parameter(page.offset)}`,
    values,
  }
}
