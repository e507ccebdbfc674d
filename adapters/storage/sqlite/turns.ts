import { shareSlots } from '../../../src/domain/share-slots.ts'
import type { LaneDemand } from '../../../src/ports/storage/claim.ts'
import type { Connection } from './connection.ts'

/** What a lease needs to know of a job. */
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
 * Ready jobs of a lane as far as somebody wants to know, those of high priority first.
 *
 * In a LIMIT a parameter alone makes SQLite prepare the statement again each time that it runs, because its planner looks at
 * the value (3.53); inside of an expression it does not.
 */
const COUNT_READY = `
  SELECT count(*) AS ready, total(high) AS high FROM
    (SELECT high FROM carillon_jobs WHERE state = 0 AND lane = ? ORDER BY high DESC LIMIT ? + 0)`

const COUNT_NORMAL = `
  SELECT count(*) AS ready FROM
    (SELECT 1 FROM carillon_jobs WHERE state = 0 AND lane = ? AND high = 0 LIMIT ? + 0)`

/** In the order of the index, as all statements here. */
const ALL_READY = `
  SELECT ${JOB_COLUMNS} FROM carillon_jobs WHERE state = 0 AND lane = ? ORDER BY high, organization, id`

/** One step of a loose index scan: the next organization with a ready job, never the jobs between. */
const NEXT_ORGANIZATION = `
  SELECT organization FROM carillon_jobs
  WHERE state = 0 AND lane = ? AND high = ? AND organization > ?
  ORDER BY organization LIMIT 1`

const OLDEST = `
  SELECT ${JOB_COLUMNS} FROM carillon_jobs
  WHERE state = 0 AND lane = ? AND high = ? AND organization = ? ORDER BY id LIMIT ? + 0`

/** One statement a row: UPDATE … IN (SELECT …) RETURNING builds temporary tables, which cost more than ten rows. */
export const LEASE = 'UPDATE carillon_jobs SET state = 2, token = ?, lease_until = ? WHERE id = ?'

/** Begins the attempt as well; it has no provider, by which `release` knows it. */
export const LEASE_AND_BEGIN = `
  UPDATE carillon_jobs SET state = 2, token = ?, lease_until = ?, attempts = attempts + 1, provider = '' WHERE id = ?`

/** Leases a ready job, under the token and until the time of one claim. */
export type LeaseJob = (job: JobRow) => void

/** Chooses and leases at most `free` jobs of a lane. */
export type LeaseTurns = (demand: LaneDemand, lease: LeaseJob) => JobRow[]

/** The organization that had the last turn in each priority of a lane, and the turn of the priorities. */
interface LaneTurns {
  turn: number
  readonly last: [normal: string, high: string]
}

interface Place {
  readonly lane: string
  readonly high: 0 | 1
}

/**
 * Chooses fairly: organizations take turns inside a lane and priority, the turn goes on where the claim before
 * ended, and the work depends on the jobs that are leased, not on those that wait.
 *
 * Whose turn it is lives in this process: several processes that share a database each take turns on their own.
 */
export function createTurns(connection: Connection): LeaseTurns {
  const countReady = connection.statement<{ ready: number; high: number }>(COUNT_READY)
  const countNormal = connection.statement<{ ready: number }>(COUNT_NORMAL)
  const allReady = connection.statement<JobRow>(ALL_READY)
  const nextOrganization = connection.statement<{ organization: string }>(NEXT_ORGANIZATION)
  const oldest = connection.statement<JobRow>(OLDEST)
  const lanes = new Map<string, LaneTurns>()

  /** At most `most` organizations, in the order of their turns after `last`. */
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

  /** Divides `count` jobs evenly; what one organization does not have goes to the others. */
  function leaseEvenly(count: number, from: Place, last: LaneTurns['last'], lease: LeaseJob): JobRow[] {
    const jobs: JobRow[] = []
    let waiting = organizationsAfter(from.lane, from.high, last[from.high], count)
    while (jobs.length < count && waiting.length > 0) {
      const shares = divide(count - jobs.length, waiting)
      // Those ahead may get one more than the others: the next claim goes on behind them.
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

  /** Where everything has room nobody needs a turn, and the next ones begin anew. */
  function leaseAll(lane: string, lease: LeaseJob): JobRow[] {
    const jobs = allReady().all(lane)
    for (const job of jobs) lease(job)
    return jobs
  }

  return function leaseTurns({ lane: name, free }, lease) {
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

/** Shares that differ by one at most, the larger ones first; no empty ones. */
function divide(
  count: number,
  organizations: readonly string[],
): { readonly organization: string; readonly share: number }[] {
  const among = organizations.slice(0, count)
  const share = Math.floor(count / among.length)
  const ahead = count % among.length
  return among.map((organization, index) => ({ organization, share: index < ahead ? share + 1 : share }))
}
