import { TEST_EVENT_TYPE } from '../../../src/core/delivery/endpoint-health.ts'
import type { Redelivery } from '../../../src/core/ports/storage/webhook-endpoints.ts'
import type { Transaction } from './connection.ts'
import { addDue, type JobRow, makingDue } from './due-jobs.ts'

/** Makes chosen deliveries due, oldest first. Each gets a job that counts all its earlier attempts. */
const MAKE_PENDING = `
  taken AS (
    UPDATE carillon.deliveries AS d SET state = 'pending' FROM chosen
    WHERE d.event_id = chosen.event_id AND d.endpoint = chosen.endpoint
    RETURNING d.seq, d.organization, d.endpoint, d.event_id)
  INSERT INTO carillon.jobs (id, place, due_at, state, high, lane, organization, subject)
  SELECT 2 * seq + 1, 2 * seq + 1, $1::bigint, 0, false, endpoint, organization, event_id FROM taken
  RETURNING id, lane`

/** The condition on `state` matches the index. */
const REDELIVER = `
  WITH chosen AS (
    SELECT event_id, endpoint FROM carillon.deliveries
    WHERE endpoint = $2 AND created_at >= $3 AND state IN ('held', 'failed')
      AND event_type <> '${TEST_EVENT_TYPE}'
    ORDER BY created_at, seq LIMIT $4 FOR UPDATE),
  ${MAKE_PENDING}`

const RETRY = `
  WITH chosen AS (
    SELECT event_id, endpoint FROM carillon.deliveries
    WHERE event_id = $2 AND endpoint = $3 AND state <> 'pending' FOR UPDATE),
  ${MAKE_PENDING}`

/** A leased job is already running and stays unchanged. */
const MAKE_DUE = `
  UPDATE carillon.jobs SET state = CASE WHEN recovered THEN 3 ELSE 0 END, due_at = $1
  WHERE id = (SELECT 2 * seq + 1 FROM carillon.deliveries WHERE event_id = $2 AND endpoint = $3) AND state = 1`

const SELECT_ONE = 'SELECT 1 FROM carillon.deliveries WHERE event_id = $1 AND endpoint = $2'

/** Makes deliveries due, under the endpoint's lock. Returns their number. */
export async function redeliver(tx: Transaction, endpoint: string, which: Redelivery): Promise<number> {
  if (which.eventId === undefined) {
    const rows = await tx.rows<JobRow>(REDELIVER, [tx.now, endpoint, Math.ceil(which.since), which.most])
    addDue(tx.made, rows)
    return rows.length
  }
  const values = [tx.now, which.eventId, endpoint]
  const rows = await tx.rows<JobRow>(RETRY, values)
  addDue(tx.made, rows)
  if (rows.length > 0) return 1
  await makingDue(tx, MAKE_DUE, values)
  return (await tx.rows(SELECT_ONE, values.slice(1))).length
}
