import { LONGEST_LEASE_MS } from '../../../src/core/delivery/lease.ts'
import type {
  ClaimAnswer,
  ClaimRequest,
  LeaseRef,
  SharedSlots,
} from '../../../src/core/ports/storage/claim.ts'
import type { Storage } from '../../../src/core/ports/storage/storage.ts'
import { makeDue } from '../../map-storage/accept.ts'
import { type Job, type State, where } from '../../map-storage/state.ts'
import { eachIsFound, type Fault, pause } from './storage-faults.ts'

type Claim = Storage['claim']

const claiming =
  (wrong: (claim: Claim, request: ClaimRequest, state: State) => Promise<ClaimAnswer>): Fault =>
  (good, state) => ({ ...good, claim: (request) => wrong(good.claim, request, state) })

/** Changes what is stored before each claim. */
const before = (change: (state: State) => void): Fault =>
  claiming((claim, request, state) => {
    change(state)
    return claim(request)
  })

const sharing = (wrong: (shared: SharedSlots) => SharedSlots): Fault =>
  claiming((claim, request) => {
    if (!('lanes' in request)) return claim(request)
    const lanes = request.lanes.map(({ shared, ...demand }) => ({
      ...demand,
      shared: shared === undefined ? undefined : wrong(shared),
    }))
    return claim({ ...request, lanes })
  })

const saying = (wrong: (answer: ClaimAnswer) => Partial<ClaimAnswer>): Fault =>
  claiming(async (claim, request) => {
    const answer = await claim(request)
    return { ...answer, ...wrong(answer) }
  })

/** The same job under its present lease. */
const current = (state: State, ref: LeaseRef): LeaseRef => ({
  jobId: ref.jobId,
  token: state.jobs.get(ref.jobId)?.token ?? ref.token,
})

function expired(state: State): Job[] {
  return [...state.jobs.values()].filter(({ leaseUntil }) => (leaseUntil ?? Infinity) <= state.now())
}

/** The jobs of a lane without a lease, oldest first. */
const waiting = (state: State, lane: string): Job[] => where(state.jobs.values(), { lane, leaseUntil: null })

eachIsFound({
  'a leased job is leased again': [
    'no job is leased to two',
    claiming(async (claim, request, state) => {
      const answer = await claim(request)
      for (const { jobId } of answer.jobs) {
        const job = state.jobs.get(jobId)
        if (job !== undefined) makeDue(state, job, state.now())
      }
      return answer
    }),
  ],
  'two claims at one time lease one job': [
    'no job is leased to two',
    (good) => {
      let running: Promise<ClaimAnswer> | undefined
      return {
        ...good,
        async claim(request) {
          running ??= good.claim(request)
          const answer = await running
          await pause()
          running = undefined
          return answer
        },
      }
    },
  ],
  'tokens are used again': [
    'every claim of a job has a new token',
    before((state) => void Object.assign(state, { token: 0 })),
  ],
  'an expired lease is not recovered': [
    'comes back uncounted',
    before((state) => {
      for (const job of expired(state)) job.leaseUntil = state.now() + 1
    }),
  ],
  'a lease lasts half of what was asked for': [
    'the longest there is, lasts',
    claiming((claim, request) => claim({ ...request, leaseMs: request.leaseMs / 2 })),
  ],
  'a lease of a clock that ran ahead stays': [
    'comes back when the clock is corrected',
    before((state) => {
      const longest = state.now() + LONGEST_LEASE_MS
      for (const job of state.jobs.values())
        if (job.leaseUntil !== null) job.leaseUntil = Math.min(job.leaseUntil, longest)
    }),
  ],
  'a job whose attempt was lost is not marked': [
    'is counted, recorded and runs alone',
    before((state) => {
      for (const job of expired(state)) job.provider = null
    }),
  ],
  'a lost attempt is not recorded': [
    'is counted, recorded and runs alone',
    before((state) => {
      for (const job of expired(state)) {
        job.recovered ||= job.provider !== null
        job.provider = null
      }
    }),
  ],
  'a lost attempt is not counted': [
    'is counted, recorded and runs alone',
    before((state) => {
      for (const job of expired(state)) if (job.provider !== null) job.attempts -= 1
    }),
  ],
  'recovered jobs are claimed like others': [
    'a recovered job stays one',
    claiming(async (claim, request) => {
      const answer = await claim(request)
      if (!('lanes' in request) || request.lanes.length === 0) return answer
      const recovered = request.lanes.map(({ lane }) => lane)
      const { jobs } = await claim({ recovered, leaseMs: request.leaseMs })
      return { ...answer, jobs: [...answer.jobs, ...jobs] }
    }),
  ],
  'a recovered job is claimed by its id': [
    'a recovered job is not claimed by its id',
    claiming(async (claim, request) => {
      const answer = await claim(request)
      if (!('ids' in request)) return answer
      const { recoveredLanes, leaseMs } = { ...answer, ...request }
      return claim({ recovered: recoveredLanes, leaseMs })
    }),
  ],
  'a recovered job loses its mark when its claim is returned': [
    'a recovered job stays one',
    (good, state) => ({
      ...good,
      async release(refs) {
        for (const { jobId } of refs) Object.assign(state.jobs.get(jobId) ?? {}, { recovered: false })
        await good.release(refs)
      },
    }),
  ],
  'more jobs are claimed than slots are free': [
    'no more than the free slots',
    claiming((claim, request) =>
      claim(
        'lanes' in request
          ? { ...request, lanes: request.lanes.map((one) => ({ ...one, free: one.free + 1 })) }
          : request,
      ),
    ),
  ],
  'an organization may take all shared slots': [
    'only while more are empty than it has',
    sharing(() => ({ exempt: null, used: new Map(), empty: Number.MAX_SAFE_INTEGER })),
  ],
  'what an organization has in use is not counted': [
    'only while more are empty than it has',
    sharing((shared) => ({ ...shared, used: new Map() })),
  ],
  'organizations fill all shared slots together': [
    'leave one to the next',
    sharing((shared) => ({ ...shared, empty: shared.empty + 1, used: new Map() })),
  ],
  'no organization may take all shared slots': [
    'may take all shared slots',
    sharing((shared) => ({ ...shared, exempt: null })),
  ],
  'an organization that may have no slot ends the claim': [
    'do not hide others',
    claiming(async (claim, request, state) => {
      if (!('lanes' in request)) return claim(request)
      const lanes = request.lanes.filter(({ lane, shared }) => {
        const [next] = waiting(state, lane)
        return shared === undefined || (shared.used.get(next?.organizationId ?? '') ?? 0) < shared.empty
      })
      return claim({ ...request, lanes })
    }),
  ],
  'the oldest job goes first, whosever it is': [
    'organizations take turns',
    claiming((claim, request, state) => {
      if (!('lanes' in request)) return claim(request)
      const oldest = request.lanes.flatMap(({ lane, free }) => waiting(state, lane).slice(0, free))
      const ids = oldest.map(({ jobId }) => jobId)
      return claim({ ids, leaseMs: request.leaseMs })
    }),
  ],
  'what comes next is not said': ['when the next job waits', saying(() => ({ nextDueInMs: null }))],
  'the lanes with due jobs are not said': ['only asks what is due', saying(() => ({ lanes: [] }))],
  'the lanes with recovered jobs are not said': [
    'recovered jobs are claimed one at a time',
    saying(() => ({ recoveredLanes: [] })),
  ],
  'a claim says nothing of earlier attempts': [
    'that kills every process',
    saying(({ jobs }) => ({ jobs: jobs.map((job) => ({ ...job, attempts: 0 })) })),
  ],
  'the start of an attempt is not counted': [
    'starting an attempt counts it',
    (good, state) => ({
      ...good,
      async startAttempts(refs) {
        const started = await good.startAttempts(refs)
        for (const { jobId } of refs) {
          const job = state.jobs.get(jobId)
          if (job !== undefined) job.attempts -= 1
        }
        return started
      },
    }),
  ],
  'an attempt starts under a stale token': [
    'a stale token starts nothing',
    (good, state) => ({
      ...good,
      startAttempts: (refs) => good.startAttempts(refs.map((ref) => ({ ...ref, ...current(state, ref) }))),
    }),
  ],
  'an attempt starts after its lease': [
    'cannot start after its lease has ended',
    (good) => ({
      ...good,
      async startAttempts(refs) {
        await good.renew(refs, 60_000)
        return good.startAttempts(refs)
      },
    }),
  ],
  'a returned claim counts an attempt': [
    'a released claim is due at once and uncounted',
    (good) => ({
      ...good,
      async release(refs) {
        await good.startAttempts(refs.map((ref) => ({ ...ref, provider: '' })))
        await good.settle(
          refs.map((ref) => ({
            ...ref,
            kind: 'notification',
            facts: [],
            next: { kind: 'retry', delayMs: 0 },
          })),
        )
      },
    }),
  ],
  'a returned claim waits': [
    'a released claim is due at once and uncounted',
    (good) => ({
      ...good,
      async release(refs) {
        await good.settle(
          refs.map((ref) => ({
            ...ref,
            kind: 'notification',
            facts: [],
            next: { kind: 'retry', delayMs: 9 },
          })),
        )
      },
    }),
  ],
  'an attempt that has started is returned': [
    'a started attempt is not released',
    (good, state) => ({
      ...good,
      async release(refs) {
        for (const { jobId } of refs) Object.assign(state.jobs.get(jobId) ?? {}, { provider: null })
        await good.release(refs)
      },
    }),
  ],
  'a stale token returns a job': [
    'a stale token starts nothing',
    (good, state) => ({ ...good, release: (refs) => good.release(refs.map((ref) => current(state, ref))) }),
  ],
  'a stale token renews a lease': [
    'a stale token starts nothing',
    (good, state) => ({
      ...good,
      renew: (refs, leaseMs) =>
        good.renew(
          refs.map((ref) => current(state, ref)),
          leaseMs,
        ),
    }),
  ],
  'a renewal extends nothing': [
    'a renewed lease lasts from the renewal',
    (good) => ({ ...good, renew: async (refs) => refs.map(() => true) }),
  ],
})
