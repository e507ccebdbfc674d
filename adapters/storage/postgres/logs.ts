import { decodeCursor } from '../../../src/domain/cursor.ts'
import type { LogEntry, LogFilter, LogRepository } from '../../../src/ports/storage/logs.ts'
import type { Page, PageRequest } from '../../../src/ports/storage/page.ts'
import { type CountedRow, countedAs, toLogCounts } from '../rows/counts.ts'
import { type LogRow, toLogEntry } from '../rows/log-entry.ts'
import { MAX_SCANNED, skipsEntries } from '../scan.ts'
import { toPage } from '../to-page.ts'
import type { Connection, Runner } from './connection.ts'
import { inOrder } from './page.ts'
import { ACCEPTED } from './rows.ts'
import type { Value } from './values.ts'

/** All entries but accepts. OFFSET 0 keeps the planner from hashing all notifications. */
const eventsOf = (table: string): string => `
  SELECT e.seq, e.sequence, e.at, e.status, e.fact, n.id, n.channel, n.recipient, n.template_name AS template
  FROM ${table} AS e
  CROSS JOIN LATERAL (SELECT * FROM carillon.notifications WHERE id = e.notification OFFSET 0) AS n`

/** Accept entries, derived from the notifications. */
const ACCEPTS = `
  SELECT n.seq, 1 AS sequence, n.created_at AS at, ${ACCEPTED} AS status, NULL AS fact,
    n.id, n.channel, n.recipient, n.template_name AS template
  FROM carillon.notifications AS n`

const COUNT = `
  SELECT 'accepted' AS name, count(*) AS notifications, count(*) AS entries FROM
    (SELECT 1 FROM carillon.notifications
      WHERE organization = $1 AND created_at >= $2 AND created_at < $3 ORDER BY created_at, seq LIMIT $4::bigint) AS part
  UNION ALL
  SELECT ${countedAs(`substring(fact FROM '"type":"([a-z_]+)"')`)} AS name, count(DISTINCT notification) AS notifications,
    count(*) AS entries FROM
    (SELECT notification, fact FROM carillon.events
      WHERE organization = $1 AND at >= $2 AND at < $3 ORDER BY at, seq, sequence LIMIT $4::bigint) AS part
  GROUP BY 1`

/** The delivery log merges two lists, each with an index by time. */
export function createLogs(connection: Connection): LogRepository {
  return {
    async list(filter, page) {
      if (!skipsEntries(filter)) return read(connection, filter, page)
      return inOrder(connection, async (tx) => {
        const { sql, values } = beyondStatement(filter, page)
        const [row] = await tx.rows<Pick<LogRow, 'at' | 'seq' | 'sequence'>>(sql, values)
        return read(tx, filter, page, row && [row.at, row.seq, row.sequence])
      })
    },
    async count({ organizationId, from, until }, most) {
      const values = [organizationId, from, until, most]
      const rows = await inOrder(connection, (tx) => tx.rows<CountedRow>(COUNT, values))
      return toLogCounts(rows, most)
    },
  }
}

async function read(
  runner: Runner,
  filter: LogFilter,
  page: PageRequest,
  beyond?: readonly number[],
): Promise<Page<LogEntry>> {
  const { sql, values } = listStatement(filter, page, beyond)
  const rows = await runner.rows<LogRow>(sql, values)
  return toPage(rows, page, ({ at, seq, sequence }) => [at, seq, sequence], toLogEntry, beyond)
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
  { organizationId, channel, status, notificationId }: LogFilter,
  page: PageRequest,
  beyond: readonly number[] | undefined,
): { readonly sql: string; readonly values: readonly Value[] } {
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
  if (notificationId !== undefined) {
    const wanted = parameter(notificationId)
    // Reads the events of one notification first, whatever the statistics suggest; otherwise a plan may gather all
    // events of the organization.
    source = eventsOf(`(SELECT * FROM carillon.events WHERE notification = ${wanted} OFFSET 0)`)
    accepts.push(`n.id = ${wanted}`)
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
        (${ACCEPTS} WHERE ${accepts.join(' AND ')} ORDER BY n.created_at DESC, n.seq DESC LIMIT ${most})
      ) AS entries
      ORDER BY at DESC, seq DESC, sequence DESC LIMIT ${parameter(page.limit + 1)} OFFSET ${parameter(page.offset)}`,
    values,
  }
}
