import type { State } from '../../map-storage/state.ts'
import { eachIsFound, type Fault } from './storage-faults.ts'

/** Runs a call on the clock of this process instead of the storage's. */
async function onCallersClock<Answer>(state: State, call: () => Promise<Answer>): Promise<Answer> {
  const { now } = state
  Object.assign(state, { now: Date.now })
  // A verb in memory has done its work when it returns.
  const answer = call()
  Object.assign(state, { now })
  return answer
}

/** Verbs that use the wrong clock, each with a check that finds it. */
const FAULTS: Readonly<Record<string, readonly [found: string, fault: Fault]>> = {
  'an accept': [
    'is so by the clock of the storage',
    (good, state) => ({ ...good, accept: (requests) => onCallersClock(state, () => good.accept(requests)) }),
  ],
  'a claim': [
    'is so by the clock of the storage',
    (good, state) => ({ ...good, claim: (request) => onCallersClock(state, () => good.claim(request)) }),
  ],
  'the start of an attempt': [
    'an attempt cannot start after its lease',
    (good, state) => ({
      ...good,
      startAttempts: (refs) => onCallersClock(state, () => good.startAttempts(refs)),
    }),
  ],
  'a renewal': [
    'a renewed lease lasts from the renewal',
    (good, state) => ({
      ...good,
      renew: (refs, leaseMs) => onCallersClock(state, () => good.renew(refs, leaseMs)),
    }),
  ],
  'a settlement': [
    'every stored time is one of the clock',
    (good, state) => ({ ...good, settle: (all) => onCallersClock(state, () => good.settle(all)) }),
  ],
  'a look-up of a key': [
    'an expired record is replaced',
    (good, state) => ({
      ...good,
      findIdempotent: (keys) => onCallersClock(state, () => good.findIdempotent(keys)),
    }),
  ],
  'a write of records': [
    'every stored time is one of the clock',
    (good, state) => ({
      ...good,
      records: { ...good.records, write: (sets) => onCallersClock(state, () => good.records.write(sets)) },
    }),
  ],
  'the creation of an endpoint': [
    'every stored time is one of the clock',
    (good, state) => ({
      ...good,
      webhookEndpoints: {
        ...good.webhookEndpoints,
        create: (endpoint, most) => onCallersClock(state, () => good.webhookEndpoints.create(endpoint, most)),
      },
    }),
  ],
  'an expiry': [
    'what is old enough is removed',
    (good, state) => ({ ...good, expire: (request) => onCallersClock(state, () => good.expire(request)) }),
  ],
  'a count of jobs': [
    'how long the oldest due job of a lane has waited',
    (good, state) => ({
      ...good,
      countJobs: (of, most) => onCallersClock(state, () => good.countJobs(of, most)),
    }),
  ],
}

eachIsFound(
  Object.fromEntries(
    Object.entries(FAULTS).map(([verb, found]) => [`${verb} goes by the caller's clock`, found]),
  ),
)
