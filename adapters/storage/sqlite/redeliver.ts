import type { Connection } from './connection.ts'
import { eventJob } from './jobs.ts'

/** The condition on `state` matches the index. */
const SELECT_OVER = `
  SELECT id, organization FROM carillon_deliveries
  WHERE endpoint = ? AND created_at >= ? AND state IN ('held', 'failed') ORDER BY created_at, id LIMIT ?`

const MAKE_PENDING = "UPDATE carillon_deliveries SET state = 'pending' WHERE id = ?"

const INSERT_JOB = `
  INSERT INTO carillon_jobs (id, organization, lane, high, state, due_at) VALUES (?, ?, ?, 0, 0, ?)`

const SELECT_ONE = `
  SELECT id, organization, EXISTS (SELECT 1 FROM carillon_jobs WHERE id = 2 * d.id + 1) AS pending
  FROM carillon_deliveries AS d WHERE event_id = ? AND endpoint = ?`

/** A leased job is already running and stays unchanged. */
const MAKE_DUE = `
  UPDATE carillon_jobs SET state = CASE recovered WHEN 1 THEN 3 ELSE 0 END, due_at = ?
  WHERE id = ? AND state = 1`

/** Both run inside a transaction. */
export interface Redelivery {
  /** Makes finished deliveries due again. Returns their number. */
  redeliver(endpoint: string, which: { readonly since: number; readonly most: number }): number
  /** Makes one delivery due. Returns its id; null: unknown. */
  redeliverOne(endpoint: string, eventId: string): number | null
}

interface DeliveryRow {
  readonly id: number
  readonly organization: string
}

export function createRedelivery(connection: Connection): Redelivery {
  const selectOver = connection.statement<DeliveryRow>(SELECT_OVER)
  const selectOne = connection.statement<DeliveryRow & { readonly pending: 0 | 1 }>(SELECT_ONE)
  const makePending = connection.statement(MAKE_PENDING)
  const insertJob = connection.statement(INSERT_JOB)
  const hurry = connection.statement(MAKE_DUE)

  function makeDue({ id, organization }: DeliveryRow, endpoint: string, now: number): void {
    makePending().run(id)
    insertJob().run(eventJob(id), organization, endpoint, now)
  }

  return {
    redeliver(endpoint, { since, most }) {
      const now = connection.now()
      const rows = selectOver().all(endpoint, since, most)
      for (const row of rows) makeDue(row, endpoint, now)
      return rows.length
    },
    redeliverOne(endpoint, eventId) {
      const now = connection.now()
      const row = selectOne().get(eventId, endpoint)
      if (row === undefined) return null
      if (row.pending === 1) hurry().run(now, eventJob(row.id))
      else makeDue(row, endpoint, now)
      return row.id
    },
  }
}
