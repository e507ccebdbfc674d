import { createDispatcher } from '../../src/core/delivery/dispatcher.ts'
import type { Lane } from '../../src/core/delivery/lane.ts'
import type { Offers } from '../../src/core/delivery/offers.ts'
import type { ClaimAnswer, ClaimedJob, ClaimRequest } from '../../src/core/ports/storage/claim.ts'
import type { Storage } from '../../src/core/ports/storage/storage.ts'
import { fakeClock, settled } from '../../src/testing/fake-clock.ts'

export const NOTHING: ClaimAnswer = { jobs: [], lanes: [], recoveredLanes: [], nextDueInMs: null }

export function job(jobId: string, lane = 'email'): ClaimedJob {
  return {
    kind: 'notification',
    jobId,
    token: 1,
    lane,
    organizationId: 'org_default',
    attempts: 0,
    outages: 0,
    earlierAttempts: 0,
    recovered: false,
    waitedMs: 0,
    notification: {
      id: jobId,
      channel: 'email',
      to: 'a@b.cd',
      content: { body: 'x' },
      createdAt: 0,
      expiresInMs: null,
      trace: null,
      metadata: null,
      recipient: null,
      category: null,
      groupId: null,
    },
  }
}

/** A dispatcher over a storage with scripted answers, and lanes whose jobs end at the call of `end`. */
export function dispatcherWorld(
  answer: (request: ClaimRequest, count: number) => ClaimAnswer | Promise<ClaimAnswer>,
  offers?: Offers,
) {
  const clock = fakeClock()
  const requests: ClaimRequest[] = []
  const released: string[] = []
  const renewed: string[] = []
  const lost = new Set<string>()
  const errors: unknown[] = []
  const running = new Map<string, () => void>()
  const free = new Map([['email', 10]])
  const storage = {
    claim(request: ClaimRequest) {
      requests.push(request)
      return Promise.resolve().then(() => answer(request, requests.length))
    },
    async renew(refs: readonly ClaimedJob[]) {
      renewed.push(...refs.map(({ jobId }) => jobId))
      return refs.map(({ jobId }) => !lost.has(jobId))
    },
    async release(refs: readonly ClaimedJob[]) {
      released.push(...refs.map(({ jobId }) => jobId))
    },
  } as unknown as Storage
  const lane = (name: string): Lane => ({
    begin: false,
    free: () => free.get(name) ?? 0,
    run: ({ jobId }) => new Promise((resolve) => running.set(jobId, resolve)),
  })
  const get = (name: string) => (free.has(name) ? lane(name) : undefined)
  const dispatcher = createDispatcher({
    storage,
    lanes: {
      get,
      prepare: () => undefined,
      giveBack() {},
      demand: (names) =>
        [...names].flatMap((name) => {
          const slots = get(name)?.free() ?? 0
          return slots > 0 ? [{ lane: name, free: slots }] : []
        }),
    },
    clock,
    leaseMs: 60_000,
    pollMs: 1_000,
    offers,
    onError: (error) => void errors.push(error),
  })
  const end = async (jobId: string) => {
    running.get(jobId)?.()
    running.delete(jobId)
    await settled()
  }
  return { clock, dispatcher, requests, released, renewed, lost, errors, running, free, end }
}
