import type { Backlog, LaneBacklog } from '../../src/core/ports/storage/backlog.ts'
import type { JobState, Waiting } from '../../src/core/ports/storage/notifications.ts'
import type { Job, MemoryState } from './state.ts'

type Mutable<Value> = { -readonly [Key in keyof Value]: Value[Key] }

/** Scans all jobs: a storage in memory holds few. */
export function backlog(state: MemoryState, most: number): Backlog {
  const now = state.now()
  const lanes = new Map<string | null, Mutable<LaneBacklog>>()
  const left = { scheduled: most, leased: most }

  function laneOf(job: Job): Mutable<LaneBacklog> {
    const name = job.subject.kind === 'event' ? null : job.lane
    let lane = lanes.get(name)
    if (lane === undefined) {
      lane = { lane: name, due: 0, scheduled: 0, leased: 0, oldestDueMs: null }
      lanes.set(name, lane)
    }
    return lane
  }

  function countDue(job: Job, since: number): void {
    const lane = laneOf(job)
    lane.due = Math.min(lane.due + 1, most)
    lane.oldestDueMs = Math.max(lane.oldestDueMs ?? 0, now - since)
  }

  function countOther(job: Job, as: 'scheduled' | 'leased'): void {
    if (left[as] === 0) return
    left[as] -= 1
    laneOf(job)[as] += 1
  }

  for (const job of state.jobs.values()) {
    if (job.state === 'waiting' && job.dueAt > now) countOther(job, 'scheduled')
    else if (job.state !== 'leased') countDue(job, job.dueAt)
    else if (job.leaseUntil > now) countOther(job, 'leased')
    else countDue(job, job.leaseUntil)
  }
  return { lanes: [...lanes.values()], held: heldOf(state, most) }
}

function heldOf(state: MemoryState, most: number): number {
  let held = 0
  for (const delivery of state.deliveries.values()) if (delivery.state === 'held') held += 1
  return Math.min(held, most)
}

/** The same for one organization's notifications. */
export function waiting(
  state: MemoryState,
  organizationId: string,
  lanes: readonly string[],
  most: number,
): Waiting {
  const now = state.now()
  const counts = { due: 0, scheduled: 0, retrying: 0, running: 0 }
  let oldestDueMs: number | null = null
  for (const job of state.jobs.values()) {
    if (job.organizationId !== organizationId || job.subject.kind === 'event') continue
    if (job.state === 'ready' && !lanes.includes(job.lane)) continue
    const kind = kindOf(job, now)
    counts[kind] = Math.min(counts[kind] + 1, most)
    if (kind !== 'due') continue
    const since = job.state === 'leased' ? job.leaseUntil : job.dueAt
    oldestDueMs = Math.max(oldestDueMs ?? 0, now - since)
  }
  return { ...counts, oldestDueMs }
}

function kindOf(
  { state, leaseUntil, dueAt, attempts, earlierAttempts }: Job,
  now: number,
): 'due' | 'scheduled' | 'retrying' | 'running' {
  if (state === 'leased') return leaseUntil > now ? 'running' : 'due'
  if (state !== 'waiting' || dueAt <= now) return 'due'
  return attempts > earlierAttempts ? 'retrying' : 'scheduled'
}

/** Where one job stands. */
export function jobState({ now }: Pick<MemoryState, 'now'>, job: Job | undefined): JobState | null {
  if (job === undefined) return null
  const { dueAt, attempts, earlierAttempts } = job
  const kind = kindOf(job, now())
  const state = kind === 'due' || kind === 'running' ? kind : 'waiting'
  return { state, dueAt, attempts: attempts - earlierAttempts }
}
