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
  readonly recovered: number
}

export const JOB_COLUMNS = 'id, organization, lane, due_at, attempts, recovered'

const COUNT_READY = `
  SELECT count(*) AS count
  FROM (SELECT 1 FROM carillon_jobs WHERE state = 0 AND lane = ? AND high = ? LIMIT ?)`

/** One step of a loose index scan: the next organization with a ready job, never the jobs between. */
const NEXT_ORGANIZATION = `
  SELECT organization FROM carillon_jobs
  WHERE state = 0 AND lane = ? AND high = ? AND organization > ?
  ORDER BY organization LIMIT 1`

const LEASE_OLDEST = `
  UPDATE carillon_jobs SET state = 2, token = ?, lease_until = ?
  WHERE id IN
    (SELECT id FROM carillon_jobs
     WHERE state = 0 AND lane = ? AND high = ? AND organization = ? ORDER BY id LIMIT ?)
  RETURNING ${JOB_COLUMNS}`

export interface Lease {
  readonly token: number
  readonly until: number
}

/** Leases at most `free` jobs of a lane. */
export type LeaseTurns = (demand: LaneDemand, lease: Lease) => JobRow[]

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
  const countReady = connection.statement<{ count: number }>(COUNT_READY)
  const nextOrganization = connection.statement<{ organization: string }>(NEXT_ORGANIZATION)
  const leaseOldest = connection.statement<JobRow>(LEASE_OLDEST)
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

  function leaseOldestOf(organization: string, count: number, from: Place, lease: Lease): JobRow[] {
    const rows = leaseOldest().all(lease.token, lease.until, from.lane, from.high, organization, count)
    // RETURNING has no order of its own.
    return rows.sort((a, b) => a.id - b.id)
  }

  /** Divides `count` jobs evenly; what one organization does not have goes to the others. */
  function leaseEvenly(count: number, from: Place, last: LaneTurns['last'], lease: Lease): JobRow[] {
    const jobs: JobRow[] = []
    let waiting = organizationsAfter(from.lane, from.high, last[from.high], count)
    while (jobs.length < count && waiting.length > 0) {
      const shares = divide(count - jobs.length, waiting.length)
      // Those ahead may get one more than the others: the next claim goes on behind them.
      last[from.high] = waiting[shares.lastIndexOf(shares[0] ?? 0)] ?? ''
      const withMore = []
      for (const [index, share] of shares.entries()) {
        const organization = waiting[index] ?? ''
        const leased = leaseOldestOf(organization, share, from, lease)
        jobs.push(...leased)
        if (leased.length === share) withMore.push(organization)
      }
      waiting = withMore
    }
    return jobs
  }

  return function leaseTurns({ lane: name, free }, lease) {
    const lane: LaneTurns = lanes.get(name) ?? { turn: 0, last: ['', ''] }
    const high = countReady().get(name, 1, free)?.count ?? 0
    const normal = high === 0 ? free : (countReady().get(name, 0, free)?.count ?? 0)
    const share = shareSlots(free, high, normal, lane.turn)
    const jobs = share.high === 0 ? [] : leaseEvenly(share.high, { lane: name, high: 1 }, lane.last, lease)
    if (share.normal > 0) jobs.push(...leaseEvenly(share.normal, { lane: name, high: 0 }, lane.last, lease))
    lane.turn = share.turn
    if (jobs.length > 0) lanes.set(name, lane)
    else lanes.delete(name)
    return jobs
  }
}

/** Shares that differ by one at most, the larger ones first; no empty ones. */
function divide(count: number, among: number): number[] {
  const shares = []
  for (let index = 0, left = count; index < among && left > 0; index += 1) {
    const share = Math.ceil(left / (among - index))
    shares.push(share)
    left -= share
  }
  return shares
}
