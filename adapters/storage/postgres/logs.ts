import { decodeCursor } from '../../../src/domain/cursor.ts'
import type { LogFilter, LogRepository } from '../../../src/ports/storage/logs.ts'
import type { PageRequest } from '../../../src/ports/storage/page.ts'
import { type LogRow, toLogEntry } from '../rows/log-entry.ts'
import { toPage } from '../to-page.ts'
import type { Connection } from './connection.ts'
import { ACCEPTED } from './rows.ts'
import type { Value } from './values.ts'

/** Everything but the accepts. */
const EVENTS = `
  SELECT e.seq, e.sequence, e.at, e.status, e.fact, n.id, n.channel, n.recipient, n.template_name AS template
  FROM carillon.events AS e JOIN carillon.notifications AS n ON n.id = e.notification`

/** The accepts, derived from the notifications. */
const ACCEPTS = `
  SELECT n.seq, 1 AS sequence, n.created_at AS at, ${ACCEPTED} AS status, NULL AS fact,
    n.id, n.channel, n.recipient, n.template_name AS template
  FROM carillon.notifications AS n`

/** The delivery log is two lists, each of which has an index by time: a page merges the newest of both. */
export function createLogs(connection: Connection): LogRepository {
  return {
    async list(filter, page) {
      const { sql, values } = listStatement(filter, page)
      const rows = await connection.rows<LogRow>(sql, values)
      return toPage(rows, page.limit, ({ at, seq, sequence }) => [at, seq, sequence], toLogEntry)
    },
  }
}

function listStatement(
  { organizationId, channel, status, notificationId }: LogFilter,
  page: PageRequest,
): { readonly sql: string; readonly values: readonly Value[] } {
  const values: Value[] = []
  const parameter = (value: Value): string => `$${values.push(value)}`
  const organization = parameter(organizationId)
  const most = parameter(page.offset + page.limit + 1)
  const shared = [
    ...(channel === undefined ? [] : [`n.channel = ${parameter(channel)}`]),
    ...(notificationId === undefined ? [] : [`n.id = ${parameter(notificationId)}`]),
  ]
  const events = [`e.organization = ${organization}`, ...shared]
  const accepts = [`n.organization = ${organization}`, ...shared]
  if (status !== undefined) {
    const wanted = parameter(status)
    events.push(`e.status = ${wanted}`)
    accepts.push(`${ACCEPTED} = ${wanted}`)
  }
  if (page.cursor !== undefined) {
    const [at = 0, seq = 0, sequence = 0] = decodeCursor(page.cursor, 3)
    const after = `(${parameter(at)}::bigint, ${parameter(seq)}::bigint, ${parameter(sequence)}::integer)`
    events.push(`(e.at, e.seq, e.sequence) < ${after}`)
    accepts.push(`(n.created_at, n.seq, 1) < ${after}`)
  }
  return {
    sql: `
      SELECT * FROM (
        (${EVENTS} WHERE ${events.join(' AND ')} ORDER BY e.at DESC, e.seq DESC, e.sequence DESC LIMIT ${most})
        UNION ALL
        (${ACCEPTS} WHERE ${accepts.join(' AND ')} ORDER BY n.created_at DESC, n.seq DESC LIMIT ${most})
      ) AS entries
      ORDER BY at DESC, seq DESC, sequence DESC LIMIT ${parameter(page.limit + 1)} OFFSET ${parameter(page.offset)}`,
    values,
  }
}
