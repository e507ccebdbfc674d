import { shareSlots } from '../../../src/domain/share-slots.ts'
import type { LaneDemand } from '../../../src/ports/storage/claim.ts'
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

/** Round-robin state of a lane: the last organization of each priority, and the next priority. */
interface LaneTurns {
  turn: number
  readonly last: [normal: string, high: string]
}

interface Place {
  readonly lane: string
  readonly high: 0 | 1
}

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
  const lanes = new Map<string, LaneTurns>()

  /** At most `most` organizations, in round-robin order after `last`. */
  function organizationsAfter(lane: string, high: number, last: string, most: number): string[] {
    const organizations: string[] = []
    let after = last
    let wrapped = last === ''
    while (organizations.length < most) {
      const next = nextOrganization().get(lane, high, after)?.organization
      if (next !== undefined && !(wrapped && last !== '' && next > last)) {
        organizations.push(next)
        after = next
      } else if (wrapped) break
      else {
        wrapped = true
        after = ''
      }
    }
    return organizations
  }

  /** Divides `count` jobs evenly. Unused shares go to the other organizations. */
  function leaseEvenly(count: number, from: Place, last: LaneTurns['last'], lease: LeaseJob): JobRow[] {
    const jobs: JobRow[] = []
    let waiting = organizationsAfter(from.lane, from.high, last[from.high], count)
    while (jobs.length < count && waiting.length > 0) {
      const shares = divide(count - jobs.length, waiting)
      // The first organizations may get one more. The next claim starts behind them.
      const most = shares[0]?.share
      last[from.high] = shares.findLast(({ share }) => share === most)?.organization ?? ''
      const withMore = shares.filter(({ organization, share }) => {
        const chosen = oldest().all(from.lane, from.high, organization, share)
        for (const job of chosen) lease(job)
        jobs.push(...chosen)
        return chosen.length === share
      })
      waiting = withMore.map(({ organization }) => organization)
    }
    return jobs
  }

  /** With room for all jobs the order does not matter. The round-robin starts again. */
  function leaseAll(lane: string, lease: LeaseJob): JobRow[] {
    const jobs = allReady().all(lane)
    for (const job of jobs) lease(job)
    return jobs
  }

  return function leaseInTurn({ lane: name, free }, lease) {
    const { ready, high } = countReady().get(name, free + 1) ?? { ready: 0, high: 0 }
    if (high === 0 && ready <= free) {
      lanes.delete(name)
      return ready === 0 ? [] : leaseAll(name, lease)
    }
    const lane: LaneTurns = lanes.get(name) ?? { turn: 0, last: ['', ''] }
    lanes.set(name, lane)
    const normal = high === 0 ? free : (countNormal().get(name, free)?.ready ?? 0)
    const share = shareSlots(free, high, normal, lane.turn)
    lane.turn = share.turn
    const jobs = share.high === 0 ? [] : leaseEvenly(share.high, { lane: name, high: 1 }, lane.last, lease)
    if (share.normal > 0) jobs.push(...leaseEvenly(share.normal, { lane: name, high: 0 }, lane.last, lease))
    return jobs
  }
}

/** Shares differ by at most one, larger ones first, without empty ones. */
function divide(
  count: number,
  organizations: readonly string[],
): { readonly organization: string; readonly share: number }[] {
  const among = organizations.slice(0, count)
  const share = Math.floor(count / among.length)
  const ahead = count % among.length
  return among.map((organization, index) => ({ organization, share: index < ahead ? share + 1 : share }))
}
