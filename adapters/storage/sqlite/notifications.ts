import type { SQLInputValue } from 'node:sqlite'
import { decodeCursor } from '../../../src/domain/cursor.ts'
import type {
  CancelAnswer,
  NotificationFilter,
  NotificationRepository,
} from '../../../src/ports/storage/notifications.ts'
import type { PageRequest } from '../../../src/ports/storage/page.ts'
import { type EventRow, toNotification, toTimeline, type WholeRow } from '../rows/notification.ts'
import { toPage } from '../to-page.ts'
import type { Connection } from './connection.ts'
import type { Deliveries } from './deliveries.ts'
import { type AddFacts, FACT_COLUMNS, FROM_NOTIFICATIONS } from './facts.ts'
import { notificationJob } from './jobs.ts'
import { createRedrive } from './redrive.ts'
import type { NotificationRow } from './rows.ts'

const COLUMNS = `${FACT_COLUMNS}, n.high, n.expires_at, n.content, n.resend_of`

const SELECT = `SELECT ${COLUMNS}, n.attachments ${FROM_NOTIFICATIONS} WHERE n.id = ?`

const SELECT_STATE = `SELECT ${FACT_COLUMNS} ${FROM_NOTIFICATIONS} WHERE n.id = ?`

const SELECT_EVENTS = `
  SELECT sequence, status, at, fact FROM carillon_events WHERE notification = ? ORDER BY sequence`

/** Of this round: not those before a redrive. */
const SELECT_ATTEMPTS = 'SELECT attempts - earlier_attempts AS attempts FROM carillon_jobs WHERE id = ?'

const DELETE_JOB = 'DELETE FROM carillon_jobs WHERE id = ?'

/** What the status is called when no fact has changed it. */
const STATUS = `coalesce(e.status, CASE WHEN n.send_at > n.created_at THEN 'scheduled' ELSE 'queued' END)`

export function createNotifications(
  connection: Connection,
  parts: { readonly addFacts: AddFacts; readonly deliveries: Deliveries },
): NotificationRepository {
  const { addFacts, deliveries } = parts
  const select = connection.statement<WholeRow>(SELECT)
  const selectState = connection.statement<NotificationRow>(SELECT_STATE)
  const selectEvents = connection.statement<EventRow>(SELECT_EVENTS)
  const selectAttempts = connection.statement<{ attempts: number }>(SELECT_ATTEMPTS)
  const deleteJob = connection.statement(DELETE_JOB)
  const redrive = createRedrive(connection, parts)

  function cancel(id: string): CancelAnswer {
    const row = selectState().get(id)
    if (row === undefined) return { kind: 'unknown' }
    const job = notificationJob(row.seq)
    const attempts = selectAttempts().get(job)?.attempts
    if (attempts === undefined) return { kind: 'ended' }
    if (attempts > 0) return { kind: 'too_late' }
    deleteJob().run(job)
    const announcements = deliveries.announcements(connection.now())
    return { kind: 'cancelled', events: addFacts(row, [{ type: 'cancelled' }], 'engine', announcements) }
  }

  return {
    async get(id) {
      const row = connection.read(() => select().get(id))
      return row === undefined ? null : toNotification(row)
    },
    async list(filter, page) {
      const { sql, values } = listStatement(filter, page)
      const rows = connection.read(() =>
        connection
          .statement<WholeRow>(sql)()
          .all(...values),
      )
      return toPage(rows, page.limit, ({ created_at, seq }) => [created_at, seq], toNotification)
    },
    async timeline(id) {
      return connection.read(() => {
        const row = selectState().get(id)
        return row === undefined ? [] : toTimeline(row, selectEvents().all(row.seq))
      })
    },
    async cancel(id) {
      return connection.durably(() => cancel(id))
    },
    async redrive(request) {
      return redrive(request)
    },
  }
}

/** The conditions are ours; the values are parameters. */
function listStatement(
  filter: NotificationFilter,
  page: PageRequest,
): { readonly sql: string; readonly values: SQLInputValue[] } {
  const conditions: [condition: string, ...values: (SQLInputValue | undefined)[]][] = [
    ['n.organization = ?', filter.organizationId],
    ['n.channel = ?', filter.channel],
    // The condition of the index of what has failed.
    filter.status === 'failed' ? ['n.failed = 1'] : [`${STATUS} = ?`, filter.status],
    ['n.recipient = ?', filter.to],
    [`json_extract(n.content, '$.template.id') = ?`, filter.templateId],
    ['n.created_at >= ?', filter.from],
    ['n.created_at < ?', filter.until],
    [`json_extract(e.error, '$.code') = ?`, filter.code],
    // No condition on `e` alone may be one that null cannot meet: the planner would take the join for an inner one, and begin
    // with the events of everybody.
    [`coalesce(e.provider, '') = ?`, filter.provider],
    ['n.id IN (SELECT value FROM json_each(?))', filter.ids && JSON.stringify(filter.ids)],
  ]
  if (page.cursor !== undefined) {
    conditions.push(['(n.created_at, n.seq) < (?, ?)', ...decodeCursor(page.cursor, 2)])
  }
  const used = conditions.filter(([, ...values]) => !values.includes(undefined))
  const values = used.flatMap(([, ...values]) => values.map((value) => value ?? null))
  return {
    sql: `
      SELECT ${COLUMNS} ${FROM_NOTIFICATIONS}
      WHERE ${used.map(([condition]) => condition).join(' AND ')}
      ORDER BY n.created_at DESC, n.seq DESC LIMIT ? OFFSET ?`,
    values: [...values, page.limit + 1, page.offset],
  }
}
