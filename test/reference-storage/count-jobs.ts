import type { JobCount, JobCounts, JobsOf } from '../../src/core/ports/storage/job-counts.ts'
import type { Job, MemoryState } from './state.ts'

/** Scans all jobs: a storage in memory holds few. */
export function countJobs(state: MemoryState, of: JobsOf, most: number): JobCounts {
  const now = state.now()
  const counts = new Map<string, JobCount>()
  for (const job of jobsOf(state, of)) {
    const [lane, kind] = [job.subject.kind === 'event' ? null : job.lane, stateOf(job, now)]
    const key = `${lane} ${kind}`
    const { jobs, dueAt } = counts.get(key) ?? { jobs: 0, dueAt: Number.POSITIVE_INFINITY }
    const earliest = Math.min(dueAt, job.state === 'leased' ? job.leaseUntil : job.dueAt)
    counts.set(key, { lane, state: kind, jobs: Math.min(jobs + 1, most), dueAt: earliest })
  }
  const all = of === 'all' ? [...state.deliveries.values()] : []
  const held = all.filter((delivery) => delivery.state === 'held').length
  return { counts: [...counts.values()], held: Math.min(held, most), now }
}

function jobsOf(state: MemoryState, of: JobsOf): readonly Job[] {
  if (of === 'all') return [...state.jobs.values()]
  if ('notificationId' in of) {
    const job = state.notifications.get(of.notificationId)?.job
    return job === undefined ? [] : [job]
  }
  const { organizationId, lanes } = of
  return [...state.jobs.values()].filter(
    (job) =>
      job.organizationId === organizationId &&
      job.subject.kind !== 'event' &&
      (job.state !== 'ready' || lanes.includes(job.lane)),
  )
}

function stateOf(
  { state, leaseUntil, dueAt, attempts, earlierAttempts }: Job,
  now: number,
): JobCount['state'] {
  if (state === 'leased') return leaseUntil > now ? 'running' : 'due'
  if (state !== 'waiting' || dueAt <= now) return 'due'
  return attempts > earlierAttempts ? 'retrying' : 'scheduled'
}
