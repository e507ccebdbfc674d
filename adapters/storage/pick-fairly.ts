import { shareSlots } from '../../src/core/delivery/share-slots.ts'
import { createSlotDivider, type SlotDivider } from '../../src/core/delivery/slot-divider.ts'
import type { LaneDemand } from '../../src/core/ports/storage/claim.ts'

/** Where the next claim of a lane continues. */
export interface LaneTurns {
  /** See `shareSlots`. */
  turn: number
  /** The organization that had the last turn, by priority. */
  readonly last: [normal: string, high: string]
}

/** The ready jobs of a lane. */
export interface ReadyJobs<Job> {
  /** Number of jobs with high priority. May be capped, not below the free slots. */
  readonly high: number
  /** The same with normal priority. */
  readonly normal: number
  /** The next organization with a job of this priority, in ascending order behind `after`. Undefined: none. */
  nextOrganization(high: boolean, after: string): string | undefined
  /** Takes up to `most` jobs of an organization, the oldest first. They are not ready any more. */
  take(high: boolean, organizationId: string, most: number): readonly Job[]
}

/**
 * Chooses the jobs that a claim of a lane leases: organizations take turns within each priority, continued by the next
 * claim, and normal jobs get at least one slot of five even if high ones wait. The work depends on the number of chosen
 * jobs.
 *
 * @param demand of the claim's request
 * @param ready a query for each of its methods, or {@link readyJobs}
 * @param turns by lane. Kept between claims; each process may have its own
 *
 * @example
 * const turns = new Map<string, LaneTurns>()
 * const jobs = request.lanes.flatMap((demand) => pickFairly(demand, readyJobs(dueJobsOf(demand.lane)), turns))
 */
export function pickFairly<Job>(
  { lane: name, free, shared }: LaneDemand,
  ready: ReadyJobs<Job>,
  turns: Map<string, LaneTurns>,
): Job[] {
  const lane: LaneTurns = turns.get(name) ?? { turn: 0, last: ['', ''] }
  turns.set(name, lane)
  const share = shareSlots(free, ready.high, ready.normal, lane.turn)
  lane.turn = share.turn
  const most = share.high + share.normal
  const slots = createSlotDivider(shared)
  const take = (count: number, high: boolean): Job[] => takeEvenly(count, high, ready, lane.last, slots)
  const high = take(share.high, true)
  // What the organizations of one priority may not have goes to the other.
  const normal = take(most - high.length, false)
  if (ready.high > 0) high.push(...take(most - high.length - normal.length, true))
  return [...high, ...normal]
}

/** Divides at most `count` jobs. Unused shares go to the other organizations; the next claim starts behind the last. */
function takeEvenly<Job>(
  count: number,
  high: boolean,
  ready: ReadyJobs<Job>,
  last: LaneTurns['last'],
  slots: SlotDivider,
): Job[] {
  const priority = high ? 1 : 0
  const jobs: Job[] = []
  let waiting = organizationsAfter(last[priority], count, high, ready, slots)
  for (;;) {
    const { shares, last: behind } = slots.divide(count - jobs.length, waiting)
    if (behind === null) return jobs
    last[priority] = behind
    waiting = waiting.filter((organization, index) => {
      const share = shares[index] ?? 0
      if (share === 0) return true
      const taken = ready.take(high, organization, share)
      jobs.push(...taken)
      slots.use(organization, taken.length)
      return taken.length === share
    })
  }
}

/** At most `most` organizations that may have a slot, in the order of their turns. */
function organizationsAfter<Job>(
  last: string,
  most: number,
  high: boolean,
  ready: ReadyJobs<Job>,
  slots: SlotDivider,
): string[] {
  const organizations: string[] = []
  let after = last
  let wrapped = last === ''
  while (organizations.length < most) {
    const next = ready.nextOrganization(high, after)
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

/**
 * Ready jobs of a lane that a storage has read, for {@link pickFairly}.
 *
 * @param jobs the oldest first. Of each organization and priority, as many as there are free slots suffice
 *
 * @example
 * const ready = readyJobs([
 *   { id: 'job_1', organizationId: 'org_acme', high: false },
 *   { id: 'job_2', organizationId: 'org_default', high: true },
 * ])
 */
export function readyJobs<Job extends { readonly organizationId: string; readonly high: boolean }>(
  jobs: readonly Job[],
): ReadyJobs<Job> {
  const queues = { high: new Map<string, Job[]>(), normal: new Map<string, Job[]>() }
  const queuesOf = (high: boolean): Map<string, Job[]> => (high ? queues.high : queues.normal)
  for (const job of jobs) {
    const queue = queuesOf(job.high).get(job.organizationId)
    if (queue === undefined) queuesOf(job.high).set(job.organizationId, [job])
    else queue.push(job)
  }
  const high = jobs.filter((job) => job.high).length
  return {
    high,
    normal: jobs.length - high,
    nextOrganization(high, after) {
      const behind = [...queuesOf(high).keys()].filter((organization) => organization > after)
      return behind.sort()[0]
    },
    take(high, organizationId, most) {
      const queue = queuesOf(high).get(organizationId) ?? []
      const taken = queue.splice(0, most)
      if (queue.length === 0) queuesOf(high).delete(organizationId)
      return taken
    },
  }
}
