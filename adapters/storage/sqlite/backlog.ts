import type { Backlog } from '../../../src/core/ports/storage/backlog.ts'
import { type BacklogRow, toBacklog } from '../rows/counts.ts'
import type { Connection } from './connection.ts'

/** The range of endpoint ids, which are the lanes of endpoints. The upper bound is the first text after them. */
const ENDPOINTS = { from: 'wh_', until: 'wh`' }

/** One step of a loose index scan, which skips all jobs of a lane. */
const NEXT_LANE = `
  SELECT lane FROM carillon_jobs WHERE state = 0 AND lane > ? ORDER BY lane LIMIT 1`

const READY = `
  SELECT count(*) AS jobs, min(due_at) AS oldest FROM
    (SELECT due_at FROM carillon_jobs WHERE state = 0 AND lane = ? LIMIT ?)`

const READY_EVENTS = `
  SELECT count(*) AS jobs, min(due_at) AS oldest FROM
    (SELECT due_at FROM carillon_jobs WHERE state = 0 AND lane >= ? AND lane < ? LIMIT ?)`

/** Odd ids belong to events. Jobs past their time, or past their lease, count as due even before a claim moves them. */
const WAITING = `
  SELECT iif(id % 2 = 1, NULL, lane) AS name, due_at <= ? AS due, count(*) AS jobs, min(due_at) AS oldest FROM
    (SELECT id, lane, due_at FROM carillon_jobs WHERE state = 1 ORDER BY due_at LIMIT ?)
  GROUP BY 1, 2`

const LEASED = `
  SELECT iif(id % 2 = 1, NULL, lane) AS name, until <= ? AS due, count(*) AS jobs, min(until) AS oldest FROM
    (SELECT id, lane, lease_until AS until FROM carillon_jobs WHERE state = 2 ORDER BY lease_until LIMIT ?)
  GROUP BY 1, 2`

const RECOVERED = `
  SELECT iif(id % 2 = 1, NULL, lane) AS name, 1 AS due, count(*) AS jobs, min(due_at) AS oldest FROM
    (SELECT id, lane, due_at FROM carillon_jobs WHERE state = 3 LIMIT ?)
  GROUP BY 1`

const HELD = `
  SELECT count(*) AS held FROM (SELECT 1 FROM carillon_deliveries WHERE state = 'held' LIMIT ?)`

interface CountRow {
  readonly jobs: number
  readonly oldest: number
}

interface LaneRow extends CountRow {
  /** Null: an endpoint. */
  readonly name: string | null
  readonly due: 0 | 1
}

/** Counts unfinished jobs. Every count reads one partial index up to its limit. */
export function createBacklog(connection: Connection): (most: number) => Promise<Backlog> {
  const nextLane = connection.statement<{ lane: string }>(NEXT_LANE)
  const ready = connection.statement<CountRow>(READY)
  const readyEvents = connection.statement<CountRow>(READY_EVENTS)
  const waiting = connection.statement<LaneRow>(WAITING)
  const leased = connection.statement<LaneRow>(LEASED)
  const recovered = connection.statement<LaneRow>(RECOVERED)
  const held = connection.statement<{ held: number }>(HELD)

  function countReady(lane: string | null, most: number): CountRow[] {
    return lane === null ? readyEvents().all(ENDPOINTS.from, ENDPOINTS.until, most) : ready().all(lane, most)
  }

  function* readyLanes(most: number): Generator<LaneRow> {
    let lane = nextLane().get('')?.lane
    while (lane !== undefined) {
      const ofEvents = lane >= ENDPOINTS.from && lane < ENDPOINTS.until
      const name = ofEvents ? null : lane
      for (const row of countReady(name, most)) yield { ...row, name, due: 1 }
      lane = nextLane().get(ofEvents ? ENDPOINTS.until : lane)?.lane
    }
  }

  function* rows(most: number, now: number): Generator<BacklogRow> {
    const of = (
      { name: lane, due, jobs, oldest }: LaneRow,
      otherwise: 'scheduled' | 'leased',
    ): BacklogRow => {
      return { lane, kind: due === 1 ? 'due' : otherwise, jobs, oldest }
    }
    for (const row of readyLanes(most)) yield of(row, 'scheduled')
    for (const row of waiting().all(now, most)) yield of(row, 'scheduled')
    for (const row of leased().all(now, most)) yield of(row, 'leased')
    for (const row of recovered().all(most)) yield of(row, 'leased')
  }

  return (most) =>
    connection.read(() => {
      const now = connection.now()
      return toBacklog(rows(most, now), held().get(most)?.held ?? 0, most, now)
    })
}
