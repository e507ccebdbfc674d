import { shareSlots } from '../../../src/core/delivery/share-slots.ts'
import { createSlotDivider, type SlotDivider } from '../../../src/core/delivery/slot-divider.ts'
import type { LaneDemand } from '../../../src/core/ports/storage/claim.ts'
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

  /** At most `most` organizations that may have a slot, in round-robin order after `last`. */
  function organizationsAfter(
    { lane, high }: Place,
    last: string,
    most: number,
    slots: SlotDivider,
  ): string[] {
    const organizations: string[] = []
    let after = last
    let wrapped = last === ''
    while (organizations.length < most) {
      const next = nextOrganization().get(lane, high, after)?.organization
      if (next !== undefined && !(wrapped && last !== '' && next > last)) {
        if (slots.permits(next)) organizations.push(next)
        after = next
      } else if (wrapped) break
      else {
        wrapped = true
        after = ''
      }
    }
    return organizations
  }

  /** Divides at most `count` jobs. Unused shares go to the other organizations; the next claim starts behind the last. */
  function leaseEvenly(
    count: number,
    from: Place,
    last: LaneTurns['last'],
    slots: SlotDivider,
    lease: LeaseJob,
  ): JobRow[] {
    const jobs: JobRow[] = []
    let waiting = organizationsAfter(from, last[from.high], count, slots)
    for (;;) {
      const { shares, last: behind } = slots.divide(count - jobs.length, waiting)
      if (behind === null) return jobs
      last[from.high] = behind
      waiting = waiting.filter((organization, index) => {
        const share = shares[index] ?? 0
        if (share === 0) return true
        const chosen = oldest().all(from.lane, from.high, organization, share)
        for (const job of chosen) lease(job)
        jobs.push(...chosen)
        slots.use(organization, chosen.length)
        return chosen.length === share
      })
    }
  }

  /** All ready jobs of a lane, if all may be leased: then their order does not matter. */
  function whole({ lane, free }: LaneDemand, ready: number, slots: SlotDivider): JobRow[] | null {
    if (ready > free) return null
    const jobs = ready === 0 ? [] : allReady().all(lane)
    return slots.hold(jobs.map(({ organization }) => organization)) ? jobs : null
  }

  return function leaseInTurn(demand, lease) {
    const { lane: name, free, shared } = demand
    const { ready, high } = countReady().get(name, free + 1) ?? { ready: 0, high: 0 }
    const slots = createSlotDivider(shared)
    const all = high > 0 ? null : whole(demand, ready, slots)
    if (all !== null) {
      // The round-robin starts again.
      lanes.delete(name)
      for (const job of all) lease(job)
      return all
    }
    const lane: LaneTurns = lanes.get(name) ?? { turn: 0, last: ['', ''] }
    lanes.set(name, lane)
    const normal = high === 0 ? free : (countNormal().get(name, free)?.ready ?? 0)
    const share = shareSlots(free, high, normal, lane.turn)
    lane.turn = share.turn
    const most = share.high + share.normal
    const take = (count: number, priority: 0 | 1): JobRow[] =>
      leaseEvenly(count, { lane: name, high: priority }, lane.last, slots, lease)
    const urgent = take(share.high, 1)
    // What the organizations of one priority may not have goes to the other.
    const others = take(most - urgent.length, 0)
    if (high > 0) urgent.push(...take(most - urgent.length - others.length, 1))
    return [...urgent, ...others]
  }
}
