import type { Waiting } from '../../../src/core/ports/storage/notifications.ts'
import { toWaiting, type WaitingRow } from '../rows/counts.ts'
import { type Connection, NOW } from './connection.ts'
import { inOrder } from './page.ts'

/** As in backlog.ts, every count walks one partial index in order and stops at its limit. */
const COUNT = `
  WITH clock AS MATERIALIZED (SELECT ${NOW} AS now),
  ready AS (
    SELECT 'due' AS kind, counted.jobs, counted.oldest
    FROM unnest($4::text[]) AS l (lane), (VALUES (true), (false)) AS h (high), LATERAL (
      SELECT count(*) AS jobs, min(part.due_at) AS oldest FROM (
        SELECT j.due_at FROM carillon.jobs AS j
        WHERE j.state = 0 AND j.lane = l.lane AND j.high = h.high AND j.organization = $2
        ORDER BY j.lane, j.high, j.organization, j.place LIMIT $3::bigint) AS part) AS counted),
  waiting AS (
    SELECT CASE WHEN due_at <= now THEN 'due' WHEN attempts > earlier_attempts THEN 'retrying' ELSE 'scheduled' END AS kind,
      count(*) AS jobs, min(due_at) AS oldest
    FROM (SELECT due_at, attempts, earlier_attempts FROM carillon.jobs
      WHERE state = 1 AND id % 2 = 0 AND organization = $2 ORDER BY organization, due_at LIMIT $3::bigint) AS part, clock
    GROUP BY 1),
  leased AS (
    SELECT CASE WHEN lease_until <= now THEN 'due' ELSE 'running' END AS kind, count(*) AS jobs, min(lease_until) AS oldest
    FROM (SELECT id, organization, lease_until FROM carillon.jobs WHERE state = 2 ORDER BY lease_until LIMIT $3::bigint) AS part, clock
    WHERE id % 2 = 0 AND organization = $2 GROUP BY 1),
  recovered AS (
    SELECT 'due' AS kind, count(*) AS jobs, min(due_at) AS oldest
    FROM (SELECT id, organization, due_at FROM carillon.jobs WHERE state = 3 ORDER BY lane, place LIMIT $3::bigint) AS part
    WHERE id % 2 = 0 AND organization = $2)
  SELECT counts.*, clock.now FROM clock, (
    SELECT * FROM ready UNION ALL SELECT * FROM waiting UNION ALL SELECT * FROM leased
    UNION ALL SELECT * FROM recovered) AS counts`

/** Counts the unfinished notifications of one organization. */
export function createWaiting(
  connection: Connection,
): (organizationId: string, lanes: readonly string[], most: number) => Promise<Waiting> {
  return async (organizationId, lanes, most) => {
    const values = [connection.time(), organizationId, most, lanes]
    const rows = await inOrder(connection, (tx) =>
      tx.rows<WaitingRow & { readonly now: number }>(COUNT, values),
    )
    return toWaiting(rows, most, rows[0]?.now ?? 0)
  }
}
