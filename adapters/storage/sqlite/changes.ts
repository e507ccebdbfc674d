import type { NotificationContent } from '../../../src/core/notification/notification.ts'
import { rescheduled } from '../../../src/core/notification/reschedule.ts'
import type { CancelAnswer, RescheduleAnswer } from '../../../src/core/ports/storage/notifications.ts'
import { acceptedStatus } from '../rows/notification.ts'
import { createCancelWaiting } from './cancel-waiting.ts'
import type { Connection } from './connection.ts'
import type { Deliveries } from './deliveries.ts'
import { type AddFacts, FACT_COLUMNS, FROM_NOTIFICATIONS, type NotificationRow } from './facts.ts'
import { notificationJob, READY, WAITING } from './jobs.ts'
import { createSetContent } from './set-content.ts'

export const SELECT_STATE: string = `SELECT ${FACT_COLUMNS} ${FROM_NOTIFICATIONS} WHERE n.id = ?`

/** `begun`: attempts of this round, without those before a retry. */
const SELECT_JOB = `
  SELECT attempts - earlier_attempts AS begun, provider IS NOT NULL AS running FROM carillon_jobs WHERE id = ?`

const MOVE_JOB = `
  UPDATE carillon_jobs
  SET state = ?, due_at = ?, token = NULL, lease_until = NULL, delayed_address = NULL, delayed_person = NULL
  WHERE id = ?`

const SET_SEND_AT = 'UPDATE carillon_notifications SET send_at = ? WHERE seq = ?'

interface JobRow {
  readonly begun: number
  readonly running: 0 | 1
}

/** Changes of notifications that wait, each inside a transaction. */
export interface Changes {
  cancel(id: string, content?: NotificationContent): CancelAnswer
  reschedule(id: string, asked: number | null): RescheduleAnswer
}

export function createChanges(
  connection: Connection,
  { addFacts, deliveries }: { readonly addFacts: AddFacts; readonly deliveries: Deliveries },
): Changes {
  const selectState = connection.statement<NotificationRow>(SELECT_STATE)
  const selectJob = connection.statement<JobRow>(SELECT_JOB)
  const moveJob = connection.statement(MOVE_JOB)
  const setSendAt = connection.statement(SET_SEND_AT)
  const cancelWaiting = createCancelWaiting(connection, addFacts)
  const setContent = createSetContent(connection)

  /** A notification that waits; a text tells why there is none. */
  function waiting(
    id: string,
    isTooLate: (job: JobRow) => boolean,
  ): NotificationRow | 'unknown' | 'ended' | 'too_late' {
    const row = selectState().get(id)
    if (row === undefined) return 'unknown'
    const job = selectJob().get(notificationJob(row.seq))
    if (job === undefined) return 'ended'
    return isTooLate(job) ? 'too_late' : row
  }

  function cancel(id: string, content: NotificationContent | undefined): CancelAnswer {
    const row = waiting(id, ({ running }) => running === 1)
    if (typeof row === 'string') return { kind: row }
    setContent(row.seq, content)
    return { kind: 'cancelled', events: cancelWaiting(row, deliveries.publisher(connection.now())) }
  }

  function reschedule(id: string, asked: number | null): RescheduleAnswer {
    const row = waiting(id, ({ begun }) => begun > 0)
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
