import type { LogEntry, LogFilter } from '../../../src/core/ports/storage/logs.ts'
import type { Page, PageRequest } from '../../../src/core/ports/storage/page.ts'
import { belowCursor, idKey } from '../id-order.ts'
import { type LogRow, toLogEntry } from '../rows/log-entry.ts'
import { MAX_SCANNED, skipsEntries } from '../scan.ts'
import { toPage } from '../to-page.ts'
import type { Connection, Transaction } from './connection.ts'
import { inOrder } from './in-order.ts'
import { labelConditions, SHOWN } from './labels.ts'
import { ACCEPTED } from './rows.ts'
import type { Value } from './values.ts'

/** Sorts after every entry of its notification. */
const NEWEST = Number.MAX_SAFE_INTEGER - 1

/**
 * The delivery log over all organizations. It walks the ids of notifications: each has at least one entry, so a page
 * needs no more notifications than it has entries.
 */
export function listLogsOfAll(
  connection: Connection,
  filter: LogFilter,
  page: PageRequest,
): Promise<Page<LogEntry>> {
  return inOrder(connection, async (tx) => {
    const beyond = skipsEntries(filter) ? await findBeyond(tx, page) : undefined
    const { sql, values } = listStatement(filter, page, beyond)
    const rows = await tx.rows<LogRow>(sql, values)
    const keyOf = ({ id, sequence }: LogRow): readonly number[] => idKey(id, sequence)
    return toPage(rows, page, keyOf, toLogEntry, beyond === undefined ? undefined : idKey(beyond, NEWEST))
  })
}

/** The first unread notification. */
async function findBeyond(tx: Transaction, { offset, cursor }: PageRequest): Promise<string | undefined> {
  const { where, values, parameter } = below(cursor)
  const sql = `
    SELECT n.id FROM carillon.notifications AS n WHERE ${where}
    ORDER BY n.id DESC LIMIT 1 OFFSET ${parameter(MAX_SCANNED + offset)}`
  return (await tx.rows<Pick<LogRow, 'id'>>(sql, values))[0]?.id
}

function below(cursor: string | undefined) {
  const values: Value[] = []
  const parameter = (value: Value): string => `$${values.push(value)}`
  const key = cursor === undefined ? undefined : belowCursor(cursor)
  return { key, values, parameter, where: key === undefined ? 'true' : `n.id <= ${parameter(key.id)}` }
}

function listStatement(
  filter: LogFilter,
  page: PageRequest,
  beyond: string | undefined,
): { readonly sql: string; readonly values: readonly Value[] } {
  const { channel, status, notificationId } = filter
  const { key, values, parameter, where } = below(page.cursor)
  const walked = [where, ...labelConditions(filter, null, parameter)]
  if (beyond !== undefined) walked.push(`n.id > ${parameter(beyond)}`)
  if (channel !== undefined) walked.push(`n.channel = ${parameter(channel)}`)
  if (notificationId !== undefined) walked.push(`n.id = ${parameter(notificationId)}`)
  const entries: string[] = []
  if (key !== undefined)
    entries.push(`(n.id, e.sequence) < (${parameter(key.id)}, ${parameter(key.sequence)}::bigint)`)
  if (status !== undefined) entries.push(`e.status = ${parameter(status)}`)
  // With a status, any number of notifications may come before the first entry; the first may have no entry left.
  const most = status === undefined ? `LIMIT ${parameter(page.offset + page.limit + 2)}` : 'OFFSET 0'
  return {
    sql: `
      SELECT n.seq, e.sequence, e.at, e.status, e.fact, ${SHOWN}
      FROM (SELECT * FROM carillon.notifications AS n WHERE ${walked.join(' AND ')} ORDER BY n.id DESC ${most}) AS n
      CROSS JOIN LATERAL (
        SELECT 1 AS sequence, n.created_at AS at, ${ACCEPTED} AS status, NULL AS fact
        UNION ALL
        SELECT sequence, at, status, fact FROM carillon.events WHERE notification = n.id) AS e
      ${entries.length === 0 ? '' : `WHERE ${entries.join(' AND ')}`}
      ORDER BY n.id DESC, e.sequence DESC LIMIT ${parameter(page.limit + 1)} OFFSET ${parameter(page.offset)}`,
    values,
  }
}
