import { beginningLanes } from '../../src/core/delivery/beginning-lanes.ts'
import { LONGEST_LEASE_MS } from '../../src/core/delivery/lease.ts'
import { shareSlots } from '../../src/core/delivery/share-slots.ts'
import { createSlotDivider } from '../../src/core/delivery/slot-divider.ts'
import { lostAttempt, lostPost } from '../../src/core/notification/lost-attempt.ts'
import { wholeContent } from '../../src/core/notification/stored-content.ts'
import type {
  ClaimAnswer,
  ClaimedJob,
  ClaimRequest,
  LaneDemand,
  LeaseRef,
  StartRef,
} from '../../src/core/ports/storage/claim.ts'
import { addFacts, labelsOf } from './facts.ts'
import {
  extend,
  lease,
  makeDue,
  nextLeased,
  nextRecovered,
  nextWaiting,
  takeDue,
  takeFairly,
  underLease,
} from './jobs.ts'
import { hold } from './settle.ts'
import type { Job, MemoryState } from './state.ts'
import { toEndpoint } from './webhook-endpoints.ts'

const MAX_LANES = 1_000
/** For an attempt begun by its claim. */
const NO_PROVIDER = ''

export function claim(state: MemoryState, request: ClaimRequest): ClaimAnswer {
  recoverExpired(state)
  for (let job = takeDue(state); job !== undefined; job = takeDue(state)) makeDue(state, job, job.dueAt)

  state.token += 1
  const jobs: ClaimedJob[] = []
  const begin = beginningLanes(request)
  for (const job of choose(state, request)) {
    lease(state, job, request.leaseMs)
    const claimed = claimedJob(state, job)
    if (claimed === undefined) hold(state, job)
    else if (begin.has(job.lane)) {
      start(job, NO_PROVIDER)
      jobs.push({ ...claimed, begun: true })
    } else jobs.push(claimed)
  }
  return { jobs, ...dueLanes(state) }
}

function choose(state: MemoryState, request: ClaimRequest): Job[] {
  if ('lanes' in request) return request.lanes.flatMap((demand) => chooseFromLane(state, demand))
  if ('ids' in request) {
    return [...new Set(request.ids)].flatMap((id) => {
      const job = state.jobs.get(Number(id))
      return job?.state === 'ready' ? [job] : []
    })
  }
  let oldest: Job | undefined
  for (const lane of request.recovered) {
    const job = nextRecovered(state, lane)
    if (job !== undefined && (oldest === undefined || job.number < oldest.number)) oldest = job
  }
  return oldest === undefined ? [] : [oldest]
}

function chooseFromLane(state: MemoryState, { lane: name, free, shared }: LaneDemand): Job[] {
  const lane = state.lanes.get(name)
  if (lane === undefined) return []
  const share = shareSlots(free, lane.high.count, lane.normal.count, lane.turn)
  lane.turn = share.turn
  const slots = createSlotDivider(shared)
  const high = takeFairly(lane.high, share.high, slots)
  const normal = takeFairly(lane.normal, share.high + share.normal - high.length, slots)
  const rest = takeFairly(lane.high, share.high + share.normal - high.length - normal.length, slots)
  return [...high, ...rest, ...normal]
}

/** The claimed job for the engine. Undefined: its endpoint takes no deliveries any more. */
function claimedJob(state: MemoryState, job: Job): ClaimedJob | undefined {
  const now = state.now()
  const about = {
    jobId: String(job.number),
    token: job.token,
    lane: job.lane,
    organizationId: job.organizationId,
    attempts: job.attempts,
    outages: job.outages,
    earlierAttempts: job.earlierAttempts,
    recovered: job.recovered,
    waitedMs: Math.max(0, now - job.dueAt),
  }
  if (job.subject.kind === 'notification') {
    const { notification } = job.subject
    const { id, channel, to, content, attachments, createdAt, expiresAt, trace = null } = notification
    return {
      ...about,
      kind: 'notification',
      notification: {
        id,
        channel,
        to,
        content: wholeContent({ content, attachments }),
        createdAt,
        expiresInMs: expiresAt === null ? null : expiresAt - now,
        trace,
        ...labelsOf(notification),
      },
    }
  }
  const { eventId, eventType, payload, endpointId, trace } = job.subject.delivery
  const stored = state.endpoints.get(endpointId)
  if (stored === undefined || stored.status === 'disabled') return undefined
  const endpoint = toEndpoint(state, stored)
  return { ...about, kind: 'event', delivery: { eventId, eventType, payload, endpoint, trace } }
}

function dueLanes(state: MemoryState): Omit<ClaimAnswer, 'jobs'> {
  const lanes = claimableLanes(state)
  const recoveredLanes = [...state.recovered.keys()].filter(
    (lane) => nextRecovered(state, lane) !== undefined,
  )
  const due = Math.min(nextWaiting(state)?.dueAt ?? Infinity, nextLeased(state)?.leaseUntil ?? Infinity)
  const nextDueInMs = due === Infinity ? null : Math.max(0, due - state.now())
  return { lanes, recoveredLanes, nextDueInMs }
}

function claimableLanes(state: MemoryState): string[] {
  const lanes: string[] = []
  for (const [name, lane] of state.lanes) {
    if (lane.high.count + lane.normal.count === 0) state.lanes.delete(name)
    else lanes.push(name)
  }
  if (lanes.length <= MAX_LANES) return lanes
  const shown = lanes.slice(0, MAX_LANES)
  for (const name of shown) {
    const lane = state.lanes.get(name)
    state.lanes.delete(name)
    // Moves it to the end: the next claim shows others.
    if (lane !== undefined) state.lanes.set(name, lane)
  }
  return shown
}

/** Takes back expired leases. */
function recoverExpired(state: MemoryState): void {
  const now = state.now()
  if (now < state.claimedAt) for (const job of tooLong(state, now)) takeBack(state, job, now)
  state.claimedAt = now
  for (let job = nextLeased(state); job !== undefined && job.leaseUntil <= now; job = nextLeased(state)) {
    takeBack(state, job, now)
  }
}

/** Jobs leased before the clock was set back. */
function tooLong(state: MemoryState, now: number): Job[] {
  return [...state.jobs.values()].filter(
    (job) => job.state === 'leased' && job.leaseUntil > now + LONGEST_LEASE_MS,
  )
}

function takeBack(state: MemoryState, job: Job, now: number): void {
  if (job.started !== undefined) {
    job.recovered = true
    recordLostAttempt(state, job, job.started)
  }
  makeDue(state, job, now)
}

function recordLostAttempt(state: MemoryState, job: Job, provider: string): void {
  if (job.subject.kind === 'event') {
    job.subject.delivery.attempts.push({ ...lostPost(job.attempts), at: state.now() })
    return
  }
  addFacts(state, job.subject.notification, [lostAttempt(job.attempts, provider)], 'engine')
}

/** Counts an attempt. False: its lease has ended. */
export function startAttempt(state: MemoryState, ref: StartRef): boolean {
  const job = underLease(state, ref)
  if (job === undefined || job.leaseUntil <= state.now()) return false
  start(job, ref.provider)
  if (ref.to !== undefined && job.subject.kind === 'notification') job.subject.notification.to = ref.to
  return true
}

function start(job: Job, provider: string): void {
  job.attempts += 1
  job.started = provider
}

export function renewLease(state: MemoryState, ref: LeaseRef, leaseMs: number): boolean {
  const job = underLease(state, ref)
  if (job === undefined) return false
  extend(state, job, leaseMs)
  return true
}

/** Returns a claim without an attempt. */
export function releaseLease(state: MemoryState, ref: LeaseRef): void {
  const job = underLease(state, ref)
  if (job === undefined || (job.started !== undefined && job.started !== NO_PROVIDER)) return
  if (job.started === NO_PROVIDER) job.attempts -= 1
  makeDue(state, job, job.dueAt)
  state.enqueue?.(job)
}
