import { LONGEST_LEASE_MS } from '../../../src/core/delivery/lease.ts'
import type { Storage } from '../../../src/core/ports/storage/storage.ts'
import { DEFAULT_ORGANIZATION } from '../../../src/core/tenancy/organization.ts'
import type { State } from '../../map-storage/state.ts'
import { eachIsFound, type Fault, ownLock, pause } from './storage-faults.ts'

/*
 * Right in one process, wrong in two. Each instance runs its own calls one after the other, and decides on what it read
 * before a pause.
 */

/** Locks within its own process: what it reads is undone in between by others' writes. */
const locked =
  (fault: (good: Storage, state: State, lock: ReturnType<typeof ownLock>) => Partial<Storage>): Fault =>
  (good, state) => ({ ...good, ...fault(good, state, ownLock()) })

/** Remembers the first answers of a read in its own process. */
function remembered<Args extends readonly unknown[], Answer>(
  read: (...args: Args) => Promise<Answer>,
): (...args: Args) => Promise<Answer> {
  const known = new Map<string, Promise<Answer>>()
  return (...args) => {
    const name = JSON.stringify(args)
    const answer = known.get(name) ?? read(...args)
    known.set(name, answer)
    return answer
  }
}

eachIsFound({
  'claims lock within their process': [
    'claims of two instances in a race',
    locked((good, state, lock) => ({
      claim: (request) =>
        lock(async () => {
          const ready = [...state.jobs.values()].filter(({ leaseUntil }) => leaseUntil === null)
          await pause()
          if (!('lanes' in request)) return good.claim(request)
          const { jobs, ...due } = await good.claim(request)
          const leased = ready
            .filter(({ leaseUntil }) => leaseUntil !== null)
            .slice(0, request.lanes[0]?.free ?? 0)
          const twice = leased.flatMap(({ jobId }) => jobs.map((job) => ({ ...job, jobId })))
          return { ...due, jobs: jobs.length > 0 ? [...jobs, ...twice.slice(0, 1)] : jobs }
        }),
    })),
  ],
  'tokens are counted in each process': [
    'a claim has a new token, whichever instance',
    (good, state) => {
      let token = 0
      return {
        ...good,
        claim(request) {
          state.token = token
          token += 1
          return good.claim(request)
        },
      }
    },
  ],
  'settlements lock within their process': [
    'a job that two instances settle in a race',
    locked((good, state, lock) => ({
      settle: (all) =>
        lock(async () => {
          const held = all.map(({ jobId }) => state.jobs.has(jobId))
          await pause()
          const answers = await good.settle(all)
          return answers.map((answer, index) =>
            answer.kind === 'stale' && held[index] ? { kind: 'settled', events: [] } : answer,
          )
        }),
    })),
  ],
  'a start decides on what it read before a cancellation elsewhere': [
    'a start here and a cancel there',
    (good, state) => ({
      ...good,
      async startAttempts(refs) {
        const held = refs.map(({ jobId }) => state.jobs.has(jobId))
        await pause()
        await good.startAttempts(refs)
        return held
      },
    }),
  ],
  'leases are kept in the process': [
    'what an instance leaves behind',
    (good, state) => ({
      ...good,
      async stop() {
        await good.stop()
        for (const job of state.jobs.values()) job.leaseUntil = state.now() + LONGEST_LEASE_MS
      },
    }),
  ],
  'equal requests lock within their process': [
    'equal requests to two instances',
    locked((good, state, lock) => ({
      accept: (requests) =>
        lock(async () => {
          const known = state.idempotency.size
          await pause()
          if (known === 0) state.idempotency.clear()
          return good.accept(requests)
        }),
    })),
  ],
  'the quota locks within its process': [
    'accepts of two instances in a race never exceed',
    locked((good, state, lock) => ({
      accept: (requests) =>
        lock(async () => {
          const used = new Map(state.usage)
          await pause()
          for (const key of state.usage.keys()) state.usage.set(key, used.get(key) ?? 0)
          return good.accept(requests)
        }),
    })),
  ],
  'reports lock within their process': [
    'a report to two instances in a race',
    locked((good, state, lock) => ({
      recordReceipts: (receipts) =>
        lock(async () => {
          const known = state.receipts.size
          await pause()
          if (known === 0) state.receipts.clear()
          return good.recordReceipts(receipts)
        }),
    })),
  ],
  'keys of records lock within their process': [
    'of inserts of one key through two instances',
    locked((good, state, lock) => ({
      records: {
        ...good.records,
        write: (sets) =>
          lock(async () => {
            const known = state.records
            await pause()
            for (const row of state.records) if (!known.includes(row)) Object.assign(row, { key: null })
            return good.records.write(sets)
          }),
      },
    })),
  ],
  'revisions lock within their process': [
    'of replacements through two instances',
    locked((good, state, lock) => ({
      records: {
        ...good.records,
        write: (sets) =>
          lock(async () => {
            const known = new Map(state.records.map(({ seq, revision }) => [seq, revision]))
            await pause()
            for (const row of state.records)
              Object.assign(row, { revision: known.get(row.seq) ?? row.revision })
            return good.records.write(sets)
          }),
      },
    })),
  ],
  'notifications are remembered in each process': [
    'what one instance changes the other reads',
    (good) => ({
      ...good,
      notifications: { ...good.notifications, get: remembered(good.notifications.get) },
    }),
  ],
  'endpoints are remembered in each process': [
    'what one instance changes the other reads',
    (good) => ({
      ...good,
      webhookEndpoints: { ...good.webhookEndpoints, get: remembered(good.webhookEndpoints.get) },
    }),
  ],
  'the use of a quota is remembered in each process': [
    'what one instance changes the other reads',
    (good) => ({ ...good, quotaUsed: remembered(good.quotaUsed) }),
  ],
  'a count of jobs is remembered in each process': [
    'what one instance changes the other reads',
    (good) => ({ ...good, countJobs: remembered(good.countJobs) }),
  ],
  'organizations are remembered in each process': [
    'a deletion that one instance began',
    (good) => {
      const known = new Set([DEFAULT_ORGANIZATION])
      return {
        ...good,
        async accept(requests) {
          const answers = await good.accept(requests)
          for (const [index, { organizationId }] of requests.entries()) {
            if (answers[index]?.kind === 'accepted') known.add(organizationId)
          }
          return answers.map((answer, index) =>
            answer.kind === 'failed' && known.has(requests[index]?.organizationId ?? '')
              ? { kind: 'accepted', admitted: 1, createdAt: 0 }
              : answer,
          )
        },
      }
    },
  ],
})
