import type { JobCount, JobCounts, JobsOf } from '../../../src/core/ports/storage/job-counts.ts'
import type { Connection } from './connection.ts'

/** The range of endpoint ids, which are the lanes of endpoints. The upper bound is the first text after them. */
const ENDPOINTS = { from: 'wh_', until: 'wh`' }

/** One step of a loose index scan, which skips all jobs of a lane. */
const NEXT_LANE = `
  SELECT lane FROM carillon_jobs WHERE state = 0 AND lane > ? ORDER BY lane LIMIT 1`

/** Every count reads one partial index up to its limit. */
function ready(where: string): string {
  return `
  SELECT count(*) AS jobs, min(due_at) AS dueAt FROM
    (SELECT due_at FROM carillon_jobs WHERE state = 0 AND ${where} LIMIT ?)`
}

/** Odd ids belong to events. Jobs past their time, or past their lease, count as due even before a claim moves them. */
function others(where: string, of = ''): string {
  return `
  SELECT iif(id % 2 = 1, NULL, lane) AS lane,
    CASE WHEN state IN (0, 3) OR at <= ? THEN 'due' WHEN state = 2 THEN 'running'
      WHEN attempts > earlier_attempts THEN 'retrying' ELSE 'scheduled' END AS state,
    count(*) AS jobs, min(at) AS dueAt
  FROM (SELECT id, organization, lane, state, attempts, earlier_attempts, iif(state = 2, lease_until, due_at) AS at
    FROM carillon_jobs WHERE ${where})
  ${of} GROUP BY 1, 2`
}

const WAITING = 'ORDER BY due_at LIMIT ?'
/** Leases are few: their number is bounded by what all processes do at once. */
const LEASED = 'state = 2 ORDER BY lease_until LIMIT ?'
const RECOVERED = 'state = 3 LIMIT ?'
const OF_ORGANIZATION = 'WHERE id % 2 = 0 AND organization = ?'

const HELD = `
  SELECT count(*) AS held FROM (SELECT 1 FROM carillon_deliveries WHERE state = 'held' LIMIT ?)`

type ReadyRow = Pick<JobCount, 'jobs' | 'dueAt'>

export function createCountJobs(connection: Connection): (of: JobsOf, most: number) => Promise<JobCounts> {
  const nextLane = connection.statement<{ lane: string }>(NEXT_LANE)
  const readyIn = connection.statement<ReadyRow>(ready('lane = ?'))
  const readyEvents = connection.statement<ReadyRow>(ready('lane >= ? AND lane < ?'))
  const readyOf = connection.statement<ReadyRow>(ready('lane = ? AND high = ? AND organization = ?'))
  const waiting = connection.statement<JobCount>(others(`state = 1 ${WAITING}`))
  const waitingOf = connection.statement<JobCount>(
    others(`state = 1 AND id % 2 = 0 AND organization = ? ${WAITING}`),
  )
  const leased = connection.statement<JobCount>(others(LEASED))
  const leasedOf = connection.statement<JobCount>(others(LEASED, OF_ORGANIZATION))
  const recovered = connection.statement<JobCount>(others(RECOVERED))
  const recoveredOf = connection.statement<JobCount>(others(RECOVERED, OF_ORGANIZATION))
  const one = connection.statement<JobCount>(
    others('id = (SELECT 2 * seq FROM carillon_notifications WHERE id = ?)'),
  )
  const held = connection.statement<{ held: number }>(HELD)

  const due = (lane: string | null, rows: readonly ReadyRow[]): JobCount[] =>
    rows.flatMap((row) => (row.jobs === 0 ? [] : [{ lane, state: 'due', ...row }]))

  function readyJobs(most: number): JobCount[] {
    const counts: JobCount[] = []
    let lane = nextLane().get('')?.lane
    while (lane !== undefined) {
      const ofEvents = lane >= ENDPOINTS.from && lane < ENDPOINTS.until
      if (ofEvents) counts.push(...due(null, readyEvents().all(ENDPOINTS.from, ENDPOINTS.until, most)))
      else counts.push(...due(lane, readyIn().all(lane, most)))
      lane = nextLane().get(ofEvents ? ENDPOINTS.until : lane)?.lane
    }
    return counts
  }

  function counts(of: JobsOf, most: number, now: number): JobCount[] {
    if (of === 'all') {
      return [
        ...readyJobs(most),
        ...waiting().all(now, most),
        ...leased().all(now, most),
        ...recovered().all(now, most),
      ]
    }
    if ('notificationId' in of) return one().all(now, of.notificationId)
    const { organizationId, lanes } = of
    return [
      ...lanes.flatMap((lane) =>
        [0, 1].flatMap((high) => due(lane, readyOf().all(lane, high, organizationId, most))),
      ),
      ...waitingOf().all(now, organizationId, most),
      ...leasedOf().all(now, most, organizationId),
      ...recoveredOf().all(now, most, organizationId),
    ]
  }

  return (of, most) =>
    connection.read(() => {
      const now = connection.now()
      const kept = of === 'all' ? (held().get(most)?.held ?? 0) : 0
      // Before Node.js 22.18, rows have no prototype.
      return { counts: counts(of, most, now).map((count) => ({ ...count })), held: kept, now }
    })
}
