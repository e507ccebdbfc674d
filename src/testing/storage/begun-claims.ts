import assert from 'node:assert/strict'
import type { ClaimedJob } from '../../core/ports/storage/claim.ts'
import type { Storage } from '../../core/ports/storage/storage.ts'
import type { WebhookEndpoint } from '../../core/ports/storage/webhook-endpoints.ts'
import { accept, claim, claimOne, deliver, endpoint, LEASE_MS, note, start } from './fixtures.ts'
import type { Check } from './harness.ts'

/** For storages whose claims may begin attempts at events. */
export function begunClaimChecks(check: Check): void {
  check('a claim begins attempts at events only where it may, and says so', async (harness) => {
    const { storage, secondDoor } = harness
    const hook = await endpointWithEvent(storage)
    const asked = await claimOne(storage, hook.id)
    assert.equal(asked.begun, undefined)
    await storage.release([asked])
    await accept(storage, [note()])
    const job = await claimBegun(storage, hook.id)
    assert.deepEqual([job.attempts, job.recovered], [0, false])
    const counted = (await secondDoor.jobs()).map(({ state, attempts }) => [state, attempts])
    assert.deepEqual(counted.sort(), [
      ['leased', 1],
      ['ready', 0],
    ])
    assert.deepEqual(await storage.renew([job], LEASE_MS), [true])
    const failed = { kind: 'event', next: { kind: 'retry', delayMs: 0 } } as const
    const [answer] = await storage.settle([{ ...failed, jobId: job.jobId, token: job.token }])
    assert.equal(answer?.kind, 'settled')
    assert.equal((await claimBegun(storage, hook.id)).attempts, 1)
  })

  check('an attempt that its claim began and that was not made is returned uncounted', async (harness) => {
    const { storage } = harness
    const hook = await endpointWithEvent(storage)
    const job = await claimMaybeBegun(storage, hook.id)
    await storage.release([{ ...job, token: job.token + 1 }])
    assert.deepEqual(await claim(storage, 1, hook.id), [])
    await storage.release([job])
    const again = await claimOne(storage, hook.id)
    assert.deepEqual([again.attempts, again.recovered], [0, false])
    await harness.advance(LEASE_MS + 1)
    const { attempts, recovered } = await claimOne(storage, hook.id)
    assert.deepEqual([attempts, recovered], [0, false])
  })

  check('an attempt that its claim began and that was lost is counted, and runs alone', async (harness) => {
    const { storage, secondDoor } = harness
    const hook = await endpointWithEvent(storage)
    await claimBegun(storage, hook.id)
    await harness.advance(LEASE_MS + 1)
    assert.deepEqual(await claim(storage, 1, hook.id), [])
    assert.equal((await secondDoor.deliveries())[0]?.attempts, 1)
    const [again] = (await storage.claim({ recovered: [hook.id], leaseMs: LEASE_MS })).jobs
    assert.deepEqual([again?.attempts, again?.recovered, again?.begun], [1, true, undefined])
  })

  check('a started attempt at an event is not released either', async ({ storage, secondDoor }) => {
    const hook = await endpointWithEvent(storage)
    const job = await claimOne(storage, hook.id)
    await start(storage, [job], hook.id)
    await storage.release([job])
    assert.deepEqual(
      (await secondDoor.jobs()).map(({ state, attempts }) => [state, attempts]),
      [['leased', 1]],
    )
  })
}

/** An endpoint with one pending event. */
async function endpointWithEvent(storage: Storage): Promise<WebhookEndpoint> {
  const hook = await endpoint(storage)
  await accept(storage, [note()])
  await deliver(storage)
  return hook
}

/** Claims an event and allows the claim to begin its attempt. */
async function claimMaybeBegun(storage: Storage, lane: string): Promise<ClaimedJob> {
  const { jobs } = await storage.claim({ lanes: [{ lane, free: 1, begin: true }], leaseMs: LEASE_MS })
  const [job] = jobs
  assert.ok(job !== undefined)
  return job
}

/** The same, and begins the attempt if the claim has not. */
async function claimBegun(storage: Storage, lane: string): Promise<ClaimedJob> {
  const job = await claimMaybeBegun(storage, lane)
  if (job.begun !== true) assert.deepEqual(await start(storage, [job], lane), [true])
  return job
}
