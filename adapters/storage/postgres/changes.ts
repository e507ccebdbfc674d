import { cancellation } from '../../../src/core/notification/cancellation.ts'
import type { NotificationEvent } from '../../../src/core/notification/event-payload.ts'
import type { Fact } from '../../../src/core/notification/facts.ts'
import type { NotificationContent } from '../../../src/core/notification/notification.ts'
import { rescheduled } from '../../../src/core/notification/reschedule.ts'
import type { CancelAnswer, RescheduleAnswer } from '../../../src/core/ports/storage/notifications.ts'
import type { Transaction } from './connection.ts'
import { addRefs, type JobRow } from './due-jobs.ts'
import { createLedger } from './facts.ts'
import { setContents } from './set-contents.ts'
import { lockNotifications, type Standing } from './states.ts'

const SELECT_JOB = `
  SELECT j.attempts - j.earlier_attempts AS begun, j.provider IS NOT NULL AS running
  FROM carillon.jobs AS j WHERE j.id = $1`

const SELECT_FACTS = `
  SELECT notification, fact FROM carillon.events WHERE notification = ANY ($1::text[])
  ORDER BY notification, sequence`

const PROVE_CANCELLED = "SELECT 1 FROM carillon.states WHERE notification = $1 AND status = 'cancelled'"

/** Values: job, state, time. */
const MOVE_JOB = `
  UPDATE carillon.jobs
  SET state = $2::smallint, due_at = $3::bigint, token = NULL, lease_until = NULL, delayed_address = NULL, delayed_person = NULL
  WHERE id = $1::bigint RETURNING id, lane`

const SET_SEND_AT = 'UPDATE carillon.notifications SET send_at = $2::bigint WHERE id = $1'

const PROVE_RESCHEDULED = 'SELECT 1 FROM carillon.notifications WHERE id = $1 AND send_at = $2::bigint'

const DELETE_JOBS = 'DELETE FROM carillon.jobs WHERE id = ANY ($1::bigint[])'

/** A locked notification that waits. */
export interface Waiting {
  readonly standing: Standing
  readonly jobId: number
}

/** A change of a notification that waits. */
export interface Change<Answer> {
  /** Also for another attempt. False: for its first one. */
  readonly betweenAttempts: boolean
  make(tx: Transaction, waiting: Waiting): Promise<Answer>
}

/** Locks a notification that waits; a text tells why there is none. */
export async function lockWaiting(
  tx: Transaction,
  id: string,
  { betweenAttempts }: Pick<Change<unknown>, 'betweenAttempts'>,
): Promise<Waiting | 'unknown' | 'ended' | 'too_late'> {
  const standing = (await lockNotifications(tx, [id])).get(id)
  if (standing === undefined) return 'unknown'
  const jobId = 2 * standing.row.seq
  const [job] = await tx.rows<{ begun: number; running: boolean }>(SELECT_JOB, [jobId])
  if (job === undefined) return 'ended'
  const isTooLate = betweenAttempts ? job.running : job.begun > 0
  return isTooLate ? 'too_late' : { standing, jobId }
}

/** Ends notifications that wait, with locked jobs. Returns the published events. */
export async function cancelWaiting(
  tx: Transaction,
  standings: readonly Standing[],
): Promise<NotificationEvent[]> {
  if (standings.length === 0) return []
  const ids = standings.map(({ row }) => row.id)
  const rows = await tx.rows<{ notification: string; fact: string }>(SELECT_FACTS, [ids])
  await tx.rows(DELETE_JOBS, [standings.map(({ row }) => 2 * row.seq)])
  const ledger = createLedger(tx)
  const events = standings.flatMap((standing) => {
    const own = rows.filter(({ notification }) => notification === standing.row.id)
    const facts = own.map(({ fact }): Fact => JSON.parse(fact))
    return ledger.add(standing, [cancellation(facts)], 'engine')
  })
  await ledger.write()
  return events
}

export function cancelling(content: NotificationContent | undefined): Change<CancelAnswer> {
  return {
    betweenAttempts: true,
    async make(tx, { standing }) {
      const { id } = standing.row
      const events = await cancelWaiting(tx, [standing])
      await setContents(tx, [{ id, content }])
      tx.prove(PROVE_CANCELLED, [id])
      return { kind: 'cancelled', events }
    },
  }
}

export function rescheduling(asked: number | null): Change<RescheduleAnswer> {
  return {
    betweenAttempts: false,
    async make(tx, { standing, jobId }) {
      const { row, state } = standing
      if (state.status !== 'scheduled') return { kind: 'not_scheduled' }
      const about = { createdAt: row.created_at, sequence: state.sequence }
      const change = rescheduled(asked, about, tx.now)
      if (change === null) return { kind: 'too_often' }
      const { sendAt, dueAt, fact } = change
      const jobs = await tx.rows<JobRow>(MOVE_JOB, [jobId, dueAt > tx.now ? 1 : 0, dueAt])
      await tx.rows(SET_SEND_AT, [row.id, sendAt])
      const ledger = createLedger(tx)
      ledger.add(standing, [fact], 'engine')
      await ledger.write()
      addRefs(
        tx.made,
        jobs.map(({ id, lane }) => ({ jobId: String(id), lane, dueInMs: dueAt - tx.now })),
      )
      tx.prove(PROVE_RESCHEDULED, [row.id, sendAt])
      return { kind: 'rescheduled' }
    },
  }
}
