import type { Waiting } from '../../../src/core/ports/storage/notifications.ts'
import { toWaiting, type WaitingRow } from '../rows/counts.ts'
import type { Connection } from './connection.ts'

const READY = `
  SELECT 'due' AS kind, count(*) AS jobs, min(due_at) AS oldest FROM
    (SELECT due_at FROM carillon_jobs WHERE state = 0 AND lane = ? AND high = ? AND organization = ? LIMIT ?)`

/** Even ids belong to notifications. */
const WAITING = `
  SELECT CASE WHEN due_at <= ? THEN 'due' WHEN attempts > earlier_attempts THEN 'retrying' ELSE 'scheduled' END AS kind,
    count(*) AS jobs, min(due_at) AS oldest FROM
    (SELECT due_at, attempts, earlier_attempts FROM carillon_jobs
      WHERE state = 1 AND id % 2 = 0 AND organization = ? ORDER BY due_at LIMIT ?)
  GROUP BY 1`

/** Leases are few: their number is bounded by what all processes do at once. */
const LEASED = `
  SELECT CASE WHEN until <= ? THEN 'due' ELSE 'running' END AS kind, count(*) AS jobs, min(until) AS oldest FROM
    (SELECT id, organization, lease_until AS until FROM carillon_jobs WHERE state = 2 ORDER BY lease_until LIMIT ?)
  WHERE id % 2 = 0 AND organization = ? GROUP BY 1`

const RECOVERED = `
  SELECT 'due' AS kind, count(*) AS jobs, min(due_at) AS oldest FROM
    (SELECT id, organization, due_at FROM carillon_jobs WHERE state = 3 LIMIT ?)
  WHERE id % 2 = 0 AND organization = ?`

/** Counts the unfinished notifications of one organization. Every count reads one partial index up to its limit. */
export function createWaiting(
  connection: Connection,
): (organizationId: string, lanes: readonly string[], most: number) => Promise<Waiting> {
  const ready = connection.statement<WaitingRow>(READY)
  const waiting = connection.statement<WaitingRow>(WAITING)
  const leased = connection.statement<WaitingRow>(LEASED)
  const recovered = connection.statement<WaitingRow>(RECOVERED)

  return (organizationId, lanes, most) =>
    connection.read(() => {
      const now = connection.now()
      const rows = [
        ...lanes.flatMap((lane) => [0, 1].flatMap((high) => ready().all(lane, high, organizationId, most))),
        ...waiting().all(now, organizationId, most),
        ...leased().all(now, most, organizationId),
        ...recovered().all(most, organizationId),
      ]
      return toWaiting(rows, most, now)
    })
}
