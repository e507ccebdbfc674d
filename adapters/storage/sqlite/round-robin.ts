import { createSlotDivider } from '../../../src/core/delivery/slot-divider.ts'
import type { LaneDemand } from '../../../src/core/ports/storage/claim.ts'
import { type LaneTurns, pickFairly, type ReadyJobs } from '../pick-fairly.ts'
import type { Connection } from './connection.ts'

/** The columns of a job that a lease needs. */
export interface JobRow {
  readonly id: number
  readonly organization: string
  readonly lane: string
  readonly due_at: number
  readonly attempts: number
  readonly outages: number
  readonly earlier_attempts: number
  readonly recovered: number
}

export const JOB_COLUMNS = 'id, organization, lane, due_at, attempts, outages, earlier_attempts, recovered'

/**
 * Counts ready jobs of a lane up to a limit, high priority first.
 *
 * A bare parameter in LIMIT makes SQLite prepare the statement again for each run, because the planner reads its value
 * (3.53). Inside an expression it does not.
 */
const COUNT_READY = `
  SELECT count(*) AS ready, total(high) AS high FROM
    (SELECT high FROM carillon_jobs WHERE state = 0 AND lane = ? ORDER BY high DESC LIMIT ? + 0)`

const COUNT_NORMAL = `
  SELECT count(*) AS ready FROM
    (SELECT 1 FROM carillon_jobs WHERE state = 0 AND lane = ? AND high = 0 LIMIT ? + 0)`

/** In index order, like all statements here. */
const ALL_READY = `
  SELECT ${JOB_COLUMNS} FROM carillon_jobs WHERE state = 0 AND lane = ? ORDER BY high, organization, id`

/** One step of a loose index scan to the next organization with a ready job, which skips all jobs between. */
const NEXT_ORGANIZATION = `
  SELECT organization FROM carillon_jobs
  WHERE state = 0 AND lane = ? AND high = ? AND organization > ?
  ORDER BY organization LIMIT 1`

const OLDEST = `
  SELECT ${JOB_COLUMNS} FROM carillon_jobs
  WHERE state = 0 AND lane = ? AND high = ? AND organization = ? ORDER BY id LIMIT ? + 0`

/** One statement per row: UPDATE … IN (SELECT …) RETURNING builds temporary tables, which cost more than ten rows. */
export const LEASE = 'UPDATE carillon_jobs SET state = 2, token = ?, lease_until = ? WHERE id = ?'

/** Also begins the attempt. It has no provider, which `release` checks. */
export const LEASE_AND_BEGIN = `
  UPDATE carillon_jobs SET state = 2, token = ?, lease_until = ?, attempts = attempts + 1, provider = '' WHERE id = ?`

/** Leases a ready job with the token and end time of one claim. */
export type LeaseJob = (job: JobRow) => void

/** Chooses and leases at most `free` jobs of a lane. */
export type LeaseInTurn = (demand: LaneDemand, lease: LeaseJob) => JobRow[]

/**
 * Chooses fairly: round-robin over organizations within a lane and priority, continued by the next claim. The work
 * depends on the number of leased jobs, not on that of waiting ones.
 *
 * The round-robin state lives in this process; processes that share a database each have their own.
 */
export function createRoundRobin(connection: Connection): LeaseInTurn {
  const countReady = connection.statement<{ ready: number; high: number }>(COUNT_READY)
  const countNormal = connection.statement<{ ready: number }>(COUNT_NORMAL)
  const allReady = connection.statement<JobRow>(ALL_READY)
  const nextOrganization = connection.statement<{ organization: string }>(NEXT_ORGANIZATION)
  const oldest = connection.statement<JobRow>(OLDEST)
  const turns = new Map<string, LaneTurns>()

  /** All ready jobs of a lane, if all may be leased: then their order does not matter. */
  function whole({ lane, free, shared }: LaneDemand, ready: number): JobRow[] | null {
    if (ready > free) return null
    const jobs = ready === 0 ? [] : allReady().all(lane)
    return createSlotDivider(shared).hold(jobs.map(({ organization }) => organization)) ? jobs : null
  }

  return function leaseInTurn(demand, lease) {
    const { lane, free } = demand
    const { ready, high } = countReady().get(lane, free + 1) ?? { ready: 0, high: 0 }
    const all = high > 0 ? null : whole(demand, ready)
    if (all !== null) {
      // The round-robin starts again.
      turns.delete(lane)
      for (const job of all) lease(job)
      return all
    }
    const waiting: ReadyJobs<JobRow> = {
      high,
      normal: high === 0 ? free : (countNormal().get(lane, free)?.ready ?? 0),
      nextOrganization: (isHigh, after) => nextOrganization().get(lane, Number(isHigh), after)?.organization,
      take(isHigh, organization, most) {
        const jobs = oldest().all(lane, Number(isHigh), organization, most)
        for (const job of jobs) lease(job)
        return jobs
      },
    }
    return pickFairly(demand, waiting, turns)
  }
}
