import type { NotificationContent } from '../../../src/core/notification/notification.ts'
import { rescheduled } from '../../../src/core/notification/reschedule.ts'
import type { CancelAnswer, RescheduleAnswer } from '../../../src/core/ports/storage/notifications.ts'
import type { Transaction } from './connection.ts'
import { addRefs, type JobRow } from './due-jobs.ts'
import { createLedger } from './facts.ts'
import { setContents } from './set-contents.ts'
import { lockNotifications, type Standing } from './states.ts'

const SELECT_JOB = `
  SELECT j.attempts - j.earlier_attempts AS attempts FROM carillon.jobs AS j WHERE j.id = $1`

const PROVE_CANCELLED = "SELECT 1 FROM carillon.states WHERE notification = $1 AND status = 'cancelled'"

/** Values: job, state, time. */
const MOVE_JOB = `
  UPDATE carillon.jobs
  SET state = $2::smallint, due_at = $3::bigint, token = NULL, lease_until = NULL, delayed_address = NULL, delayed_person = NULL
  WHERE id = $1::bigint RETURNING id, lane`

const SET_SEND_AT = 'UPDATE carillon.notifications SET send_at = $2::bigint WHERE id = $1'

const PROVE_RESCHEDULED = 'SELECT 1 FROM carillon.notifications WHERE id = $1 AND send_at = $2::bigint'

const DELETE_JOB = 'DELETE FROM carillon.jobs WHERE id = $1::bigint'

/** A locked notification whose first attempt has not begun. */
export interface Unbegun {
  readonly standing: Standing
  readonly jobId: number
}

/** A change of a notification whose first attempt has not begun. */
export type Change<Answer> = (tx: Transaction, unbegun: Unbegun) => Promise<Answer>

/** Locks a notification whose first attempt has not begun; a text tells why there is none. */
export async function lockUnbegun(
  tx: Transaction,
  id: string,
): Promise<Unbegun | 'unknown' | 'ended' | 'too_late'> {
  const standing = (await lockNotifications(tx, [id])).get(id)
  if (standing === undefined) return 'unknown'
  const jobId = 2 * standing.row.seq
  const [job] = await tx.rows<{ attempts: number }>(SELECT_JOB, [jobId])
  if (job === undefined) return 'ended'
  return job.attempts > 0 ? 'too_late' : { standing, jobId }
}

export function cancelling(content: NotificationContent | undefined): Change<CancelAnswer> {
  return async (tx, { standing, jobId }) => {
    const { id } = standing.row
    await tx.rows(DELETE_JOB, [jobId])
    const ledger = createLedger(tx)
    const events = ledger.add(standing, [{ type: 'cancelled' }], 'engine')
    await ledger.write()
    await setContents(tx, [{ id, content }])
    tx.prove(PROVE_CANCELLED, [id])
    return { kind: 'cancelled', events }
  }
}

export function rescheduling(asked: number | null): Change<RescheduleAnswer> {
  return async (tx, { standing, jobId }) => {
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
  }
}
