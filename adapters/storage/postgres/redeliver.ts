import type { Transaction } from './connection.ts'
import type { DeliveryRef } from './deliveries.ts'
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

/** Makes finished deliveries due again, under the endpoint's lock. Returns their number. */
export async function redeliverDeliveries(
  tx: Transaction,
  endpoint: string,
  { since, most }: { readonly since: number; readonly most: number },
): Promise<number> {
  const rows = await tx.rows<JobRow>(REDELIVER, [tx.now, endpoint, Math.ceil(since), most])
  addDue(tx.made, rows)
  return rows.length
}

/** Makes one delivery due, under the endpoint's lock. */
export async function redeliverOne(tx: Transaction, { eventId, endpoint }: DeliveryRef): Promise<void> {
  const values = [tx.now, eventId, endpoint]
  const rows = await tx.rows<JobRow>(RETRY, values)
  addDue(tx.made, rows)
  if (rows.length === 0) await makingDue(tx, MAKE_DUE, values)
}
