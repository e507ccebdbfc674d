import type { Connection } from './connection.ts'
import { eventJob } from './jobs.ts'

/** The condition on `state` is that of the index. */
const SELECT_OVER = `
  SELECT id, organization FROM carillon_deliveries
  WHERE endpoint = ? AND created_at >= ? AND state IN ('held', 'failed') ORDER BY created_at, id LIMIT ?`

const MAKE_PENDING = "UPDATE carillon_deliveries SET state = 'pending' WHERE id = ?"

const INSERT_JOB = `
  INSERT INTO carillon_jobs (id, organization, lane, high, state, due_at) VALUES (?, ?, ?, 0, 0, ?)`

/** Makes deliveries that are over due again, inside a transaction; answers how many. */
export type Replay = (endpoint: string, which: { readonly since: number; readonly most: number }) => number

export function createReplay(connection: Connection): Replay {
  const selectOver = connection.statement<{ id: number; organization: string }>(SELECT_OVER)
  const makePending = connection.statement(MAKE_PENDING)
  const insertJob = connection.statement(INSERT_JOB)

  return function replay(endpoint, { since, most }) {
    const now = connection.now()
    const rows = selectOver().all(endpoint, since, most)
    for (const { id, organization } of rows) {
      makePending().run(id)
      insertJob().run(eventJob(id), organization, endpoint, now)
    }
    return rows.length
  }
}
