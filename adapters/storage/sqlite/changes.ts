import type { NotificationContent } from '../../../src/core/notification/notification.ts'
import { rescheduled } from '../../../src/core/notification/reschedule.ts'
import type { CancelAnswer, RescheduleAnswer } from '../../../src/core/ports/storage/notifications.ts'
import { acceptedStatus } from '../rows/notification.ts'
import type { Connection } from './connection.ts'
import type { Deliveries } from './deliveries.ts'
import { type AddFacts, FACT_COLUMNS, FROM_NOTIFICATIONS, type NotificationRow } from './facts.ts'
import { notificationJob, READY, WAITING } from './jobs.ts'
import { createSetContent } from './set-content.ts'

export const SELECT_STATE: string = `SELECT ${FACT_COLUMNS} ${FROM_NOTIFICATIONS} WHERE n.id = ?`

/** Attempts of this round, without those before a retry. */
const SELECT_ATTEMPTS = 'SELECT attempts - earlier_attempts AS attempts FROM carillon_jobs WHERE id = ?'

const MOVE_JOB = `
  UPDATE carillon_jobs
  SET state = ?, due_at = ?, token = NULL, lease_until = NULL, delayed_address = NULL, delayed_person = NULL
  WHERE id = ?`

const SET_SEND_AT = 'UPDATE carillon_notifications SET send_at = ? WHERE seq = ?'

const DELETE_JOB = 'DELETE FROM carillon_jobs WHERE id = ?'

/** Changes of notifications whose first attempt has not begun, each inside a transaction. */
export interface Changes {
  cancel(id: string, content?: NotificationContent): CancelAnswer
  reschedule(id: string, asked: number | null): RescheduleAnswer
}

export function createChanges(
  connection: Connection,
  { addFacts, deliveries }: { readonly addFacts: AddFacts; readonly deliveries: Deliveries },
): Changes {
  const selectState = connection.statement<NotificationRow>(SELECT_STATE)
  const selectAttempts = connection.statement<{ attempts: number }>(SELECT_ATTEMPTS)
  const moveJob = connection.statement(MOVE_JOB)
  const setSendAt = connection.statement(SET_SEND_AT)
  const deleteJob = connection.statement(DELETE_JOB)
  const setContent = createSetContent(connection)

  /** A notification whose first attempt has not begun; a text tells why there is none. */
  function unbegun(id: string): NotificationRow | 'unknown' | 'ended' | 'too_late' {
    const row = selectState().get(id)
    if (row === undefined) return 'unknown'
    const attempts = selectAttempts().get(notificationJob(row.seq))?.attempts
    if (attempts === undefined) return 'ended'
    return attempts > 0 ? 'too_late' : row
  }

  function cancel(id: string, content: NotificationContent | undefined): CancelAnswer {
    const row = unbegun(id)
    if (typeof row === 'string') return { kind: row }
    deleteJob().run(notificationJob(row.seq))
    setContent(row.seq, content)
    const publisher = deliveries.publisher(connection.now())
    return { kind: 'cancelled', events: addFacts(row, [{ type: 'cancelled' }], 'engine', publisher) }
  }

  function reschedule(id: string, asked: number | null): RescheduleAnswer {
    const row = unbegun(id)
    if (typeof row === 'string') return { kind: row }
    if ((row.status ?? acceptedStatus(row)) !== 'scheduled') return { kind: 'not_scheduled' }
    const now = connection.now()
    const change = rescheduled(asked, { createdAt: row.created_at, sequence: row.sequence }, now)
    if (change === null) return { kind: 'too_often' }
    const { sendAt, dueAt, fact } = change
    moveJob().run(dueAt > now ? WAITING : READY, dueAt, notificationJob(row.seq))
    setSendAt().run(sendAt, row.seq)
    addFacts(row, [fact], 'engine', deliveries.publisher(now))
    return { kind: 'rescheduled' }
  }

  return { cancel, reschedule }
}
