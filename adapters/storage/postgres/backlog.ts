import type { Backlog } from '../../../src/core/ports/storage/backlog.ts'
import { type BacklogRow, toBacklog } from '../rows/counts.ts'
import { type Connection, NOW } from './connection.ts'

/** The range of endpoint ids, which are the lanes of endpoints. The upper bound is the first text after them. */
const ENDPOINTS = { from: 'wh_', until: 'wh`' }

/**
 * Every count walks one partial index in order and stops at its limit; without ORDER BY a plan may gather all rows
 * first. A loose index scan finds the lanes and skips the jobs inside each: `lane` plus one more character is the next
 * possible text. Odd ids belong to events. Jobs past their time, or past their lease, count as due even before a claim
 * moves them.
 */
const COUNT = `
  WITH RECURSIVE clock AS MATERIALIZED (SELECT ${NOW} AS now),
  lanes (lane) AS (
    (SELECT lane FROM carillon.jobs WHERE state = 0 ORDER BY lane LIMIT 1)
    UNION ALL
    SELECT (SELECT j.lane FROM carillon.jobs AS j WHERE j.state = 0
      AND j.lane > CASE WHEN l.lane >= $3 AND l.lane < $4 THEN $4 ELSE l.lane END ORDER BY j.lane LIMIT 1)
    FROM lanes AS l WHERE l.lane IS NOT NULL),
  ready AS (
    SELECT CASE WHEN l.lane >= $3 AND l.lane < $4 THEN NULL ELSE l.lane END AS name, true AS due,
      'leased' AS kind, counted.jobs, counted.oldest
    FROM lanes AS l, LATERAL (
      SELECT count(*) AS jobs, min(part.due_at) AS oldest FROM (
        SELECT j.due_at FROM carillon.jobs AS j WHERE j.state = 0 AND j.lane >= l.lane AND j.lane < CASE WHEN l.lane >= $3 AND l.lane < $4 THEN $4 ELSE l.lane || chr(1) END COLLATE "C"
        LIMIT $2::bigint) AS part) AS counted
    WHERE l.lane IS NOT NULL),
  waiting AS (
    SELECT CASE WHEN id % 2 = 1 THEN NULL ELSE lane END AS name, due_at <= now AS due, 'scheduled' AS kind,
      count(*) AS jobs, min(due_at) AS oldest
    FROM (SELECT id, lane, due_at FROM carillon.jobs WHERE state = 1 ORDER BY due_at LIMIT $2::bigint) AS part, clock
    GROUP BY 1, 2),
  leased AS (
    SELECT CASE WHEN id % 2 = 1 THEN NULL ELSE lane END AS name, lease_until <= now AS due, 'leased' AS kind,
      count(*) AS jobs, min(lease_until) AS oldest
    FROM (SELECT id, lane, lease_until FROM carillon.jobs WHERE state = 2 ORDER BY lease_until LIMIT $2::bigint) AS part, clock
    GROUP BY 1, 2),
  recovered AS (
    SELECT CASE WHEN id % 2 = 1 THEN NULL ELSE lane END AS name, true AS due, 'leased' AS kind,
      count(*) AS jobs, min(due_at) AS oldest
    FROM (SELECT id, lane, due_at FROM carillon.jobs WHERE state = 3 ORDER BY lane, place LIMIT $2::bigint) AS part
    GROUP BY 1)
  SELECT counts.*, clock.now,
    (SELECT count(*) FROM (SELECT 1 FROM carillon.deliveries WHERE state = 'held' ORDER BY event_id LIMIT $2::bigint) AS part) AS held
  FROM clock LEFT JOIN (
    SELECT * FROM ready UNION ALL SELECT * FROM waiting UNION ALL SELECT * FROM leased
    UNION ALL SELECT * FROM recovered) AS counts ON true`

interface CountRow {
  readonly now: number
  readonly held: number
  /** Null: an endpoint. */
  readonly name: string | null
  readonly due: boolean
  /** Null: no job. */
  readonly kind: 'scheduled' | 'leased' | null
  readonly jobs: number
  readonly oldest: number
}

/** Counts unfinished jobs. */
export function createBacklog(connection: Connection): (most: number) => Promise<Backlog> {
  return async function backlog(most) {
    const values = [connection.time(), most, ENDPOINTS.from, ENDPOINTS.until]
    // In a transaction, whose settings make plans walk indexes.
    const rows = await connection.transaction((tx) => tx.rows<CountRow>(COUNT, values), [], true)
    const counted = rows.flatMap(({ name: lane, due, kind, jobs, oldest }): BacklogRow[] =>
      kind === null || jobs === 0 ? [] : [{ lane, kind: due ? 'due' : kind, jobs, oldest }],
    )
    return toBacklog(counted, rows[0]?.held ?? 0, most, rows[0]?.now ?? 0)
  }
}
