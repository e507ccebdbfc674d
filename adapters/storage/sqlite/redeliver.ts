import { TEST_EVENT_TYPE } from '../../../src/core/delivery/endpoint-health.ts'
import type { Redelivery } from '../../../src/core/ports/storage/webhook-endpoints.ts'
import type { Connection } from './connection.ts'
import { eventJob } from './jobs.ts'

/** The condition on `state` matches the index. */
const SELECT_OVER = `
  SELECT id, organization FROM carillon_deliveries
  WHERE endpoint = ? AND created_at >= ? AND state IN ('held', 'failed')
    AND event_type <> '${TEST_EVENT_TYPE}' ORDER BY created_at, id LIMIT ?`

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

interface DeliveryRow {
  readonly id: number
  readonly organization: string
}

/** Makes deliveries due, inside a transaction. Returns their number. */
export function createRedeliver(connection: Connection): (endpoint: string, which: Redelivery) => number {
  const selectOver = connection.statement<DeliveryRow>(SELECT_OVER)
  const selectOne = connection.statement<DeliveryRow & { readonly pending: 0 | 1 }>(SELECT_ONE)
  const makePending = connection.statement(MAKE_PENDING)
  const insertJob = connection.statement(INSERT_JOB)
  const hurry = connection.statement(MAKE_DUE)

  function makeDue({ id, organization }: DeliveryRow, endpoint: string, now: number): void {
    makePending().run(id)
    insertJob().run(eventJob(id), organization, endpoint, now)
  }

  return function redeliver(endpoint, which) {
    const now = connection.now()
    if (which.eventId === undefined) {
      const rows = selectOver().all(endpoint, which.since, which.most)
      for (const row of rows) makeDue(row, endpoint, now)
      return rows.length
    }
    const row = selectOne().get(which.eventId, endpoint)
    if (row === undefined) return 0
    if (row.pending === 1) hurry().run(now, eventJob(row.id))
    else makeDue(row, endpoint, now)
    return 1
  }
}
