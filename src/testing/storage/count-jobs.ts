import assert from 'node:assert/strict'
import type { Storage } from '../../core/ports/storage/storage.ts'
import { DEFAULT_ORGANIZATION } from '../../core/tenancy/organization.ts'
import {
  accept,
  claim,
  claimOne,
  deliver,
  ended,
  endpoint,
  type JobTotals,
  LANE,
  LEASE_MS,
  note,
  notes,
  organization,
  retried,
  start,
  totalsByLane,
} from './fixtures.ts'
import type { Check } from './harness.ts'

const MOST = 1_000

type Counts = readonly [due: number, waiting: number, running: number]

async function countsOf(storage: Storage, most = MOST): Promise<Record<string, Counts>> {
  const lanes = Object.entries(await totalsByLane(storage, most))
  return Object.fromEntries(
    lanes.map(([lane, { due, scheduled, retrying, running }]) => [
      lane,
      [due, scheduled + retrying, running],
    ]),
  )
}

async function laneOf(storage: Storage, name: string): Promise<JobTotals> {
  const { [name]: found } = await totalsByLane(storage, MOST)
  assert.ok(found !== undefined, `jobs of ${name} were expected`)
  return found
}

const heldOf = async (storage: Storage, most = MOST): Promise<number> =>
  (await storage.countJobs('all', most)).held

function near(actual: number | null, expected: number): void {
  assert.ok(actual !== null && actual >= expected && actual < expected + 5_000, `${actual}, not ${expected}`)
}

export function countJobsChecks(check: Check): void {
  check('an empty storage counts no jobs', async ({ storage }) => {
    assert.deepEqual([await countsOf(storage), await heldOf(storage)], [{}, 0])
  })

  check('the counts tell what is due, waits and runs in each lane', async (harness) => {
    const { storage } = harness
    const [probe] = await storage.accept([{ organizationId: DEFAULT_ORGANIZATION, notifications: [] }])
    assert.ok(probe?.kind === 'accepted')
    const other = await organization(storage)
    await accept(storage, [...notes(4), note({ sendAt: probe.createdAt + 3_600_000 })])
    await accept(storage, [note({ priority: 'high' }), note({ lane: 'sms/x' })], other)
    const [leased, again] = await claim(storage, 2)
    assert.ok(leased !== undefined && again !== undefined)
    await start(storage, [again])
    await storage.settle([retried(again, 60_000)])
    assert.deepEqual(await countsOf(storage), { [LANE]: [3, 2, 1], 'sms/x': [1, 0, 0] })
    await storage.settle([ended(leased)])
    assert.deepEqual(await countsOf(storage), { [LANE]: [3, 2, 0], 'sms/x': [1, 0, 0] })
  })

  check('what has ended is not counted', async ({ storage }) => {
    await accept(storage, [note()])
    await deliver(storage)
    assert.deepEqual([await countsOf(storage), await heldOf(storage)], [{}, 0])
  })

  check('the events of all endpoints are counted as one lane', async ({ storage }) => {
    await endpoint(storage)
    await endpoint(storage)
    await accept(storage, notes(2))
    await deliver(storage)
    await deliver(storage)
    assert.deepEqual(await countsOf(storage), { events: [4, 0, 0] })
    assert.notEqual((await laneOf(storage, 'events')).oldestDueMs, null)
  })

  check('the counts tell how long the oldest due job of a lane has waited', async (harness) => {
    const { storage } = harness
    await accept(storage, [note()])
    await harness.advance(40_000)
    await accept(storage, [note(), note({ lane: 'sms/x' })])
    await harness.advance(20_000)
    near((await laneOf(storage, LANE)).oldestDueMs, 60_000)
    near((await laneOf(storage, 'sms/x')).oldestDueMs, 20_000)
    const job = await claimOne(storage)
    near((await laneOf(storage, LANE)).oldestDueMs, 20_000)
    await storage.release([job])
    near((await laneOf(storage, LANE)).oldestDueMs, 60_000)
  })

  check('what has come due counts as due although no claim has looked', async (harness) => {
    const { storage } = harness
    const [probe] = await storage.accept([{ organizationId: DEFAULT_ORGANIZATION, notifications: [] }])
    assert.ok(probe?.kind === 'accepted')
    await accept(storage, [note({ sendAt: probe.createdAt + 10_000 })])
    const before = { due: 0, scheduled: 1, retrying: 0, running: 0, oldestDueMs: null }
    assert.deepEqual(await laneOf(storage, LANE), before)
    await harness.advance(25_000)
    const { oldestDueMs, ...counts } = await laneOf(storage, LANE)
    assert.deepEqual(counts, { due: 1, scheduled: 0, retrying: 0, running: 0 })
    near(oldestDueMs, 15_000 - 1_000)
  })

  check(
    'a job whose lease has run out is due since then, before and after it is recovered',
    async (harness) => {
      const { storage } = harness
      await accept(storage, [note()])
      const job = await claimOne(storage)
      assert.deepEqual(await start(storage, [job]), [true])
      assert.deepEqual(await countsOf(storage), { [LANE]: [0, 0, 1] })
      await harness.advance(LEASE_MS + 30_000)
      assert.deepEqual(await countsOf(storage), { [LANE]: [1, 0, 0] })
      near((await laneOf(storage, LANE)).oldestDueMs, 30_000 - 1_000)
      const { recoveredLanes } = await storage.claim({ lanes: [], leaseMs: LEASE_MS })
      assert.deepEqual(recoveredLanes, [LANE])
      assert.deepEqual(await countsOf(storage), { [LANE]: [1, 0, 0] })
    },
  )

  check('what a disabled endpoint has not got is held', async ({ storage, secondDoor }) => {
    const hook = await endpoint(storage)
    await accept(storage, notes(3))
    for (let round = 0; round < 3; round += 1) await deliver(storage)
    assert.equal(await heldOf(storage), 0)
    await storage.webhookEndpoints.update(hook.id, { status: 'disabled' })
    assert.deepEqual([await countsOf(storage), await heldOf(storage)], [{}, 3])
    assert.equal(await heldOf(storage, 2), 2)
    assert.equal((await secondDoor.deliveries()).filter(({ state }) => state === 'held').length, 3)
  })

  check('counts stop at the most that is asked for, each lane apart', async (harness) => {
    const { storage } = harness
    const [probe] = await storage.accept([{ organizationId: DEFAULT_ORGANIZATION, notifications: [] }])
    assert.ok(probe?.kind === 'accepted')
    await accept(storage, [...notes(30), ...notes(12, { sendAt: probe.createdAt + 3_600_000 })])
    await accept(storage, notes(7, { lane: 'sms/x' }))
    assert.deepEqual(await countsOf(storage, 10), { [LANE]: [10, 10, 0], 'sms/x': [7, 0, 0] })
    await claim(storage, 20)
    assert.deepEqual(await countsOf(storage, 8), { [LANE]: [8, 8, 8], 'sms/x': [7, 0, 0] })
    assert.deepEqual(await countsOf(storage), { [LANE]: [10, 12, 20], 'sms/x': [7, 0, 0] })
  })
}
