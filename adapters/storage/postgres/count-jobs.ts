import type { JobCount, JobCounts, JobsOf } from '../../../src/core/ports/storage/job-counts.ts'
import { type Connection, NOW } from './connection.ts'
import { inOrder } from './in-order.ts'

/** The range of endpoint ids, which are the lanes of endpoints. The upper bound is the first text after them. */
const ENDPOINTS = ['wh_', 'wh`']

/**
 * Every count walks one partial index in order and stops at its limit; without ORDER BY a plan may gather all rows
 * first. Odd ids belong to events. Jobs past their time, or past their lease, count as due even before a claim moves
 * them.
 */
function others(where: string, of = ''): string {
  return `
    SELECT CASE WHEN id % 2 = 1 THEN NULL ELSE lane END AS lane,
      CASE WHEN state IN (0, 3) OR at <= now THEN 'due' WHEN state = 2 THEN 'running'
        WHEN attempts > earlier_attempts THEN 'retrying' ELSE 'scheduled' END AS state,
      count(*) AS jobs, min(at) AS "dueAt"
    FROM clock, (SELECT id, organization, lane, state, attempts, earlier_attempts,
      CASE WHEN state = 2 THEN lease_until ELSE due_at END AS at FROM carillon.jobs WHERE ${where}) AS part
    ${of} GROUP BY 1, 2`
}

const LIMIT = 'LIMIT $2::bigint'
const LEASED = `state = 2 ORDER BY lease_until ${LIMIT}`
const RECOVERED = `state = 3 ORDER BY lane, place ${LIMIT}`
const OF_ONE = 'WHERE id % 2 = 0 AND organization = $3'

/**
 * A loose index scan finds the lanes and skips the jobs inside each: `lane` plus one more character is the next possible
 * text. Values: time, limit, range of endpoints.
 */
const ALL = `
  WITH RECURSIVE clock AS MATERIALIZED (SELECT ${NOW} AS now),
  lanes (lane) AS (
    (SELECT lane FROM carillon.jobs WHERE state = 0 ORDER BY lane LIMIT 1)
    UNION ALL
    SELECT (SELECT j.lane FROM carillon.jobs AS j WHERE j.state = 0
      AND j.lane > CASE WHEN l.lane >= $3 AND l.lane < $4 THEN $4 ELSE l.lane END ORDER BY j.lane LIMIT 1)
    FROM lanes AS l WHERE l.lane IS NOT NULL),
  ready AS (
    SELECT CASE WHEN l.lane >= $3 AND l.lane < $4 THEN NULL ELSE l.lane END AS lane, 'due' AS state,
      counted.jobs, counted."dueAt"
    FROM lanes AS l, LATERAL (
      SELECT count(*) AS jobs, min(part.due_at) AS "dueAt" FROM (
        SELECT j.due_at FROM carillon.jobs AS j WHERE j.state = 0 AND j.lane >= l.lane
          AND j.lane < CASE WHEN l.lane >= $3 AND l.lane < $4 THEN $4 ELSE l.lane || chr(1) END COLLATE "C"
        ${LIMIT}) AS part) AS counted
    WHERE l.lane IS NOT NULL)
  SELECT counts.*, clock.now,
    (SELECT count(*) FROM (SELECT 1 FROM carillon.deliveries WHERE state = 'held' ORDER BY event_id ${LIMIT}) AS part) AS held
  FROM clock LEFT JOIN (
    SELECT * FROM ready UNION ALL (${others(`state = 1 ORDER BY due_at ${LIMIT}`)})
    UNION ALL (${others(LEASED)}) UNION ALL (${others(RECOVERED)})) AS counts ON true`

/** Values: time, limit, organization, lanes. */
const OF_ORGANIZATION = `
  WITH clock AS MATERIALIZED (SELECT ${NOW} AS now),
  ready AS (
    SELECT l.lane, 'due' AS state, counted.jobs, counted."dueAt"
    FROM unnest($4::text[]) AS l (lane), (VALUES (true), (false)) AS h (high), LATERAL (
      SELECT count(*) AS jobs, min(part.due_at) AS "dueAt" FROM (
        SELECT j.due_at FROM carillon.jobs AS j
        WHERE j.state = 0 AND j.lane = l.lane AND j.high = h.high AND j.organization = $3
        ORDER BY j.lane, j.high, j.organization, j.place ${LIMIT}) AS part) AS counted)
  SELECT counts.*, clock.now, 0 AS held FROM clock LEFT JOIN (
    SELECT * FROM ready
    UNION ALL (${others(`state = 1 AND id % 2 = 0 AND organization = $3 ORDER BY organization, due_at ${LIMIT}`)})
    UNION ALL (${others(LEASED, OF_ONE)}) UNION ALL (${others(RECOVERED, OF_ONE)})) AS counts ON true`

/** Values: time, notification. */
const OF_NOTIFICATION = `
  WITH clock AS MATERIALIZED (SELECT ${NOW} AS now)
  SELECT counts.*, clock.now, 0 AS held FROM clock LEFT JOIN (
    ${others('id = (SELECT 2 * seq FROM carillon.notifications WHERE id = $2)')}) AS counts ON true`

type CountRow = JobCount & { readonly now: number; readonly held: number }

export function createCountJobs(connection: Connection): (of: JobsOf, most: number) => Promise<JobCounts> {
  function rowsOf(of: JobsOf, most: number): Promise<CountRow[]> {
    const time = connection.time()
    // In a transaction, whose settings make plans walk indexes.
    if (of === 'all')
      return connection.transaction((tx) => tx.rows<CountRow>(ALL, [time, most, ...ENDPOINTS]), [], true)
    if ('notificationId' in of) return connection.rows<CountRow>(OF_NOTIFICATION, [time, of.notificationId])
    const values = [time, most, of.organizationId, of.lanes]
    return inOrder(connection, (tx) => tx.rows<CountRow>(OF_ORGANIZATION, values))
  }

  return async function countJobs(of, most) {
    const rows = await rowsOf(of, most)
    const counts = rows.flatMap(({ lane, state, jobs, dueAt }) =>
      jobs > 0 ? [{ lane, state, jobs, dueAt }] : [],
    )
    return { counts, held: rows[0]?.held ?? 0, now: rows[0]?.now ?? 0 }
  }
}
