import type {
  DelayedOf,
  JudgeAgainAnswer,
  JudgeAgainRequest,
} from '../../../src/core/ports/storage/notifications.ts'
import { decodeCursor } from '../../../src/core/records/cursor.ts'
import { type DelayedRow, stepOf } from '../rows/delayed.ts'
import type { Connection } from './connection.ts'
import type { SqliteValue } from './driver.ts'

/** @param whose a further condition on the index */
const selectDelayed = (index: string, whose: string): string => `
  SELECT j.id, j.due_at, n.send_at, n.category FROM carillon_jobs AS j INDEXED BY ${index}
  CROSS JOIN carillon_notifications AS n ON n.seq = j.id / 2
  WHERE j.state = 1 AND j.delayed_address IS NOT NULL AND j.organization = ? AND j.id > ? ${whose}
  ORDER BY j.id LIMIT ?`

/** The next claim finds it due. */
const MOVE = `
  UPDATE carillon_jobs SET due_at = ?, delayed_address = NULL, delayed_person = NULL WHERE id = ?`

/** Makes delayed notifications due, one step per commit. */
export function createJudgeAgain(
  connection: Connection,
): (request: JudgeAgainRequest) => Promise<JudgeAgainAnswer> {
  const select = {
    all: connection.statement<DelayedRow>(selectDelayed('carillon_jobs_delayed', '')),
    recipient: connection.statement<DelayedRow>(
      selectDelayed('carillon_jobs_delayed_for', 'AND j.delayed_person = ?'),
    ),
    address: connection.statement<DelayedRow>(
      selectDelayed('carillon_jobs_delayed_to', 'AND j.delayed_address = ?'),
    ),
  }
  const move = connection.statement(MOVE)

  return async function judgeAgain({ organizationId, of, most, after }) {
    const [last = 0] = after === undefined ? [] : decodeCursor(after, 1)
    return connection.durably(() => {
      const now = connection.now()
      const by = of.by === 'categories' ? 'all' : of.by
      const rows = select[by]().all(organizationId, last, ...whose(of), most)
      const { moved, next } = stepOf(rows, of, most, now)
      for (const { id, dueAt } of moved) move().run(dueAt, id)
      return { moved: moved.length, next }
    })
  }
}

function whose(of: DelayedOf): SqliteValue[] {
  if (of.by === 'recipient') return [of.recipient]
  return of.by === 'address' ? [of.address] : []
}
