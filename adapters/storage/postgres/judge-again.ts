import type {
  DelayedOf,
  JudgeAgainAnswer,
  JudgeAgainRequest,
  NotificationRepository,
} from '../../../src/core/ports/storage/notifications.ts'
import { decodeCursor } from '../../../src/core/records/cursor.ts'
import { type DelayedRow, stepOf } from '../rows/delayed.ts'
import type { Connection, Transaction } from './connection.ts'
import { addRefs, type JobRow } from './due-jobs.ts'
import type { Value } from './values.ts'

/** Walks the index of delayed jobs for this condition, in its order: `place` keeps plans from the order of ids. */
const lockDelayed = (whose: string): string => `
  SELECT j.id, j.due_at, n.send_at, n.category FROM carillon.jobs AS j
  CROSS JOIN LATERAL (SELECT send_at, category FROM carillon.notifications WHERE id = j.subject OFFSET 0) AS n
  WHERE j.state = 1 AND ${whose} AND j.organization = $1 AND j.place > $2::bigint
  ORDER BY j.place LIMIT $3 FOR UPDATE OF j SKIP LOCKED`

/** The next claim finds them due. */
const MOVE = `
  UPDATE carillon.jobs AS j SET due_at = moved.due_at, delayed_address = NULL, delayed_person = NULL
  FROM unnest($1::bigint[], $2::bigint[]) AS moved (id, due_at) WHERE j.id = moved.id RETURNING j.id, j.lane, j.due_at`

/** Makes delayed notifications due, one step per commit. */
export function createJudgeAgain(connection: Connection): NotificationRepository['judgeAgain'] {
  return (request) => connection.transaction((tx) => judgeAgain(tx, request))
}

async function judgeAgain(
  tx: Transaction,
  { organizationId, of, most, after }: JudgeAgainRequest,
): Promise<JudgeAgainAnswer> {
  const [last = 0] = after === undefined ? [] : decodeCursor(after, 1)
  const [whose, ...values] = whoseOf(of)
  const rows = await tx.rows<DelayedRow>(lockDelayed(whose), [organizationId, last, most, ...values])
  const { moved, next } = stepOf(rows, of, most, tx.now)
  if (moved.length === 0) return { moved: 0, next }
  const jobs = await tx.rows<JobRow & { readonly due_at: number }>(MOVE, [
    moved.map(({ id }) => id),
    moved.map(({ dueAt }) => dueAt),
  ])
  addRefs(
    tx.made,
    jobs.map(({ id, lane, due_at }) => ({ jobId: String(id), lane, dueInMs: Math.max(0, due_at - tx.now) })),
  )
  return { moved: moved.length, next }
}

function whoseOf(of: DelayedOf): readonly [condition: string, ...values: Value[]] {
  if (of.by === 'recipient') return ['j.delayed_person = $4', of.recipient]
  return of.by === 'address' ? ['j.delayed_address = $4', of.address] : ['length(j.delayed_address) > 0']
}
