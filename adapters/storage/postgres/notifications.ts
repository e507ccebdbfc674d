import { decodeCursor } from '../../../src/domain/cursor.ts'
import type {
  CancelAnswer,
  NotificationFilter,
  NotificationRepository,
} from '../../../src/ports/storage/notifications.ts'
import type { PageRequest } from '../../../src/ports/storage/page.ts'
import {
  type AcceptRow,
  type EventRow,
  toNotification,
  toTimeline,
  type WholeRow,
} from '../rows/notification.ts'
import { toPage } from '../to-page.ts'
import type { Connection, Transaction } from './connection.ts'
import { createLedger } from './facts.ts'
import { createRedrive } from './redrive.ts'
import { ACCEPTED } from './rows.ts'
import { FACT_COLUMNS, lockNotifications } from './states.ts'
import type { Value } from './values.ts'

const COLUMNS = `${FACT_COLUMNS}, n.high, n.expires_at, n.content, n.resend_of,
  s.status, s.provider, s.provider_message_id, s.error`

const FROM = `
  FROM carillon.notifications AS n LEFT JOIN carillon.states AS s ON s.notification = n.id`

/** By the index of what has failed. */
const FROM_FAILED = `
  FROM carillon.states AS s JOIN carillon.notifications AS n ON n.id = s.notification`

const SELECT = `SELECT ${COLUMNS}, n.attachments ${FROM} WHERE n.id = $1`

const SELECT_ACCEPT = 'SELECT created_at, send_at FROM carillon.notifications WHERE id = $1'

const SELECT_EVENTS = `
  SELECT sequence, status, at, fact FROM carillon.events WHERE notification = $1 ORDER BY sequence`

const SELECT_JOB = `
  SELECT j.attempts - j.earlier_attempts AS attempts FROM carillon.jobs AS j WHERE j.id = $1`

const PROVE_CANCELLED = "SELECT 1 FROM carillon.states WHERE notification = $1 AND status = 'cancelled'"

const DELETE_JOB = 'DELETE FROM carillon.jobs WHERE id = $1'

export function createNotifications(connection: Connection): NotificationRepository {
  async function cancel(tx: Transaction, id: string): Promise<CancelAnswer> {
    const standing = (await lockNotifications(tx, [id])).get(id)
    if (standing === undefined) return { kind: 'unknown' }
    const jobId = 2 * standing.row.seq
    const [job] = await tx.rows<{ attempts: number }>(SELECT_JOB, [jobId])
    if (job === undefined) return { kind: 'ended' }
    if (job.attempts > 0) return { kind: 'too_late' }
    await tx.rows(DELETE_JOB, [jobId])
    const ledger = createLedger(tx)
    const events = ledger.add(standing, [{ type: 'cancelled' }], 'engine')
    await ledger.write()
    tx.prove(PROVE_CANCELLED, [id])
    return { kind: 'cancelled', events }
  }

  return {
    async get(id) {
      const [row] = await connection.rows<WholeRow>(SELECT, [id])
      return row === undefined ? null : toNotification(row)
    },
    async list(filter, page) {
      const { sql, values } = listStatement(filter, page)
      const rows = await connection.rows<WholeRow>(sql, values)
      return toPage(rows, page.limit, ({ created_at, seq }) => [created_at, seq], toNotification)
    },
    async timeline(id) {
      const [row] = await connection.rows<AcceptRow>(SELECT_ACCEPT, [id])
      if (row === undefined) return []
      return toTimeline(row, await connection.rows<EventRow>(SELECT_EVENTS, [id]))
    },
    cancel(id) {
      return connection.transaction((tx) => cancel(tx, id))
    },
    redrive: createRedrive(connection),
  }
}

/** The conditions are ours; the values are parameters. */
function listStatement(
  filter: NotificationFilter,
  page: PageRequest,
): { readonly sql: string; readonly values: readonly Value[] } {
  const values: Value[] = []
  const parameter = (value: Value): string => `$${values.push(value)}`
  const failed = filter.status === 'failed'
  /** The table whose index is walked. */
  const t = failed ? 's' : 'n'
  const conditions = [
    [`${t}.organization =`, filter.organizationId],
    ['n.channel =', filter.channel],
    [`coalesce(s.status, ${ACCEPTED}) =`, failed ? undefined : filter.status],
    ['n.recipient =', filter.to],
    ['n.template_id =', filter.templateId],
    [`${t}.created_at >=`, filter.from],
    [`${t}.created_at <`, filter.until],
    ['s.provider =', filter.provider],
  ] as const
  const used = conditions.flatMap(([condition, value]) =>
    value === undefined ? [] : [`${condition} ${parameter(value)}`],
  )
  // As text, in which the code comes first: PostgreSQL's own JSON refuses a document with U+0000 or half a character in it.
  const { code } = filter
  if (code !== undefined) used.push(`starts_with(s.error, ${parameter(`{"code":${JSON.stringify(code)},`)})`)
  if (failed) used.push("s.status = 'failed'")
  if (filter.ids !== undefined) used.push(`n.id = ANY (${parameter(filter.ids)}::text[])`)
  if (page.cursor !== undefined) {
    const [at = 0, seq = 0] = decodeCursor(page.cursor, 2)
    used.push(`(${t}.created_at, ${t}.seq) < (${parameter(at)}, ${parameter(seq)})`)
  }
  return {
    sql: `
      SELECT ${COLUMNS} ${failed ? FROM_FAILED : FROM} WHERE ${used.join(' AND ')}
      ORDER BY ${t}.created_at DESC, ${t}.seq DESC LIMIT ${parameter(page.limit + 1)} OFFSET ${parameter(page.offset)}`,
    values,
  }
}
