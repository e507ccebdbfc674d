import type { SlotDivider } from '../../src/core/delivery/slot-divider.ts'
import { createHeap } from './heap.ts'
import { addReady, createRoundRobin, type RoundRobin, takeReady } from './round-robin.ts'
import { type Job, type Lane, type MemoryState, nextNumber } from './state.ts'

/** Fewer stale entries are not worth a cleanup. */
const FEW = 100

/** Creates a job due at `dueAt`. @param job `attempts`: those before a retry */
export function createJob(
  state: MemoryState,
  job: Pick<Job, 'lane' | 'organizationId' | 'high' | 'subject' | 'dueAt'> & { readonly attempts?: number },
): Job {
  const { attempts = 0 } = job
  const created: Job = {
    ...job,
    number: nextNumber(state),
    state: 'done',
    attempts,
    earlierAttempts: attempts,
    outages: 0,
    token: 0,
    leaseUntil: 0,
    started: undefined,
    recovered: false,
  }
  state.jobs.set(created.number, created)
  makeDue(state, created, job.dueAt)
  state.enqueue?.(created)
  return created
}

/** Makes an unleased job due at `dueAt`. */
export function makeDue(state: MemoryState, job: Job, dueAt: number): void {
  leave(state, job)
  job.dueAt = dueAt
  job.started = undefined
  if (dueAt > state.now()) {
    job.state = 'waiting'
    state.waiting.push(dueAt, job)
  } else if (job.recovered) {
    job.state = 'recovered'
    const heap = state.recovered.get(job.lane) ?? createHeap<Job>()
    state.recovered.set(job.lane, heap)
    heap.push(job.number, job)
  } else {
    job.state = 'ready'
    addReady(readyQueueOf(state, job), job)
  }
}

/** Leases a job under the current token. */
export function lease(state: MemoryState, job: Job, leaseMs: number): void {
  leave(state, job)
  job.state = 'leased'
  job.token = state.token
  job.started = undefined
  extend(state, job, leaseMs)
}

/** Sets the end of a lease. The older heap entry is stale, and dropped when it is found. */
export function extend(state: MemoryState, job: Job, leaseMs: number): void {
  job.leaseUntil = state.now() + leaseMs
  state.leased.push(job.leaseUntil, job)
}

export function removeJob(state: MemoryState, job: Job): void {
  leave(state, job)
  job.state = 'done'
  state.jobs.delete(job.number)
  if (job.subject.kind === 'notification') job.subject.notification.job = undefined
  // A cancelled job would otherwise stay, with its content, until its due time.
  if (state.waiting.size() > 2 * state.jobs.size + FEW) state.waiting.keep(waits)
}

function waits(job: Job, dueAt: number): boolean {
  return job.state === 'waiting' && job.dueAt === dueAt
}

/** The job under this lease. Undefined: the lease was lost. */
export function underLease(
  state: MemoryState,
  ref: { readonly jobId: string; readonly token: number },
): Job | undefined {
  const job = state.jobs.get(Number(ref.jobId))
  return job?.state === 'leased' && job.token === ref.token ? job : undefined
}

/** Removes and returns the next waiting job that is due. */
export function takeDue(state: MemoryState): Job | undefined {
  const job = nextWaiting(state)
  if (job === undefined || job.dueAt > state.now()) return undefined
  return job
}

export function nextWaiting(state: MemoryState): Job | undefined {
  for (let top = state.waiting.peek(); top !== undefined; top = state.waiting.peek()) {
    if (waits(top.value, top.key)) return top.value
    state.waiting.pop()
  }
  return undefined
}

export function nextLeased(state: MemoryState): Job | undefined {
  for (let top = state.leased.peek(); top !== undefined; top = state.leased.peek()) {
    if (top.value.state === 'leased' && top.value.leaseUntil === top.key) return top.value
    state.leased.pop()
  }
  return undefined
}

export function nextRecovered(state: MemoryState, lane: string): Job | undefined {
  const heap = state.recovered.get(lane)
  for (let top = heap?.peek(); top !== undefined; top = heap?.peek()) {
    if (top.value.state === 'recovered') return top.value
    heap?.pop()
  }
  state.recovered.delete(lane)
  return undefined
}

/** Takes up to `count` ready jobs round-robin. */
export function takeFairly(queue: RoundRobin<Job>, count: number, slots: SlotDivider): Job[] {
  const jobs: Job[] = []
  while (jobs.length < count) {
    const job = takeReady(queue, slots.permits)
    if (job === undefined) break
    slots.use(job.organizationId, 1)
    // It is no longer counted; `leave` must not subtract it again.
    job.state = 'done'
    jobs.push(job)
  }
  return jobs
}

function leave(state: MemoryState, job: Job): void {
  if (job.state === 'ready') readyQueueOf(state, job).count -= 1
}

function readyQueueOf(state: MemoryState, job: Job): RoundRobin<Job> {
  let lane: Lane | undefined = state.lanes.get(job.lane)
  if (lane === undefined) {
    lane = { high: createRoundRobin(), normal: createRoundRobin(), turn: 0 }
    state.lanes.set(job.lane, lane)
  }
  return job.high ? lane.high : lane.normal
}
