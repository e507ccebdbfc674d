import { setImmediate as nextTurn } from 'node:timers/promises'
import { ownLane } from '../../core/channels/provider-registry.ts'
import type { FeatureCore } from '../../core/feature.ts'
import { groupFailures } from '../../core/notification/failure-groups.ts'
import type { JobCounts, JobsOf } from '../../core/ports/storage/job-counts.ts'
import type { LogCounts } from '../../core/ports/storage/logs.ts'
import { ALL_ORGANIZATIONS } from '../../core/tenancy/all-organizations.ts'
import type { PerTenant } from '../../core/tenancy/per-tenant.ts'
import type { StatisticsApi } from './api.ts'
import type { Statistics } from './model.ts'

const HOUR_MS = 3_600_000
const HOURS = 24
/** Where every count ends. */
const MOST = 10_000
/** How long after its end commits of an hour may still arrive. */
const SETTLED_MS = 5 * 60_000
/** Hours that are remembered: those of some 400 organizations. */
const MOST_REMEMBERED = 10_000

/** Counts for an overview of an organization, or of all. Concurrent calls share one read. */
export function createStatistics({
  storage,
  organizations,
  kinds,
  clock,
}: FeatureCore): PerTenant<StatisticsApi> {
  const remembered = new Map<string, LogCounts>()
  const running = new Map<string, Promise<Statistics>>()

  async function hourOf(organizationId: string, from: number): Promise<LogCounts> {
    const key = `${organizationId} ${from}`
    const known = remembered.get(key)
    if (known !== undefined) return known
    const until = from + HOUR_MS
    const counts = await storage.logs.count({ organizationId, from, until }, MOST)
    if (until + SETTLED_MS <= clock.now()) {
      if (remembered.size >= MOST_REMEMBERED) remembered.clear()
      remembered.set(key, counts)
    }
    // A storage that works synchronously would otherwise keep the process from everything else until the last hour.
    await nextTurn()
    return counts
  }

  async function read(organizationId: string): Promise<Statistics> {
    await organizations.readable(organizationId)
    const now = clock.now()
    const first = Math.floor(now / HOUR_MS) * HOUR_MS - (HOURS - 1) * HOUR_MS
    const hours: Statistics['hours'][number][] = []
    for (let from = first; from <= now; from += HOUR_MS) {
      const counts = await hourOf(organizationId, from)
      hours.push({ from: new Date(from).toISOString(), ...counts })
    }
    const failures = await groupFailures(storage, { organizationId, from: first })
    const waiting = waitingIn(await storage.countJobs(jobsOf(organizationId), MOST))
    return { at: new Date(now).toISOString(), hours, failures, waiting, most: MOST }
  }

  function jobsOf(organizationId: string): JobsOf {
    if (organizationId === ALL_ORGANIZATIONS) return 'all'
    const lanes = [...kinds.known.keys()].flatMap((channel) => [channel, ownLane(channel, organizationId)])
    return { organizationId, lanes }
  }

  return {
    async get(organizationId) {
      const shared = running.get(organizationId)
      if (shared !== undefined) return shared
      const reading = read(organizationId).finally(() => running.delete(organizationId))
      running.set(organizationId, reading)
      return reading
    },
  }
}

function waitingIn({ counts, now }: JobCounts): Statistics['waiting'] {
  const waiting = { due: 0, scheduled: 0, retrying: 0, running: 0 }
  let oldestDueMs: number | null = null
  for (const { lane, state, jobs, dueAt } of counts) {
    // The lane of events, which only a count of all jobs has.
    if (lane === null) continue
    waiting[state] = Math.min(waiting[state] + jobs, MOST)
    if (state === 'due') oldestDueMs = Math.max(oldestDueMs ?? 0, now - dueAt)
  }
  return { ...waiting, oldestDueMs }
}
