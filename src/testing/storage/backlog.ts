import assert from 'node:assert/strict'
import type { LaneBacklog } from '../../core/ports/storage/backlog.ts'
import type { Storage } from '../../core/ports/storage/storage.ts'
import { DEFAULT_ORGANIZATION } from '../../core/tenancy/organization.ts'
import {
  accept,
  claim,
  claimOne,
  deliver,
  ended,
  endpoint,
  LANE,
  LEASE_MS,
  note,
  notes,
  organization,
  retried,
  start,
} from './fixtures.ts'
import type { Check } from './harness.ts'

const MOST = 1_000

type Counts = readonly [due: number, scheduled: number, leased: number]

/** The counts of each lane; those of endpoints under `events`. */
async function countsOf(storage: Storage, most = MOST): Promise<Record<string, Counts>> {
  const { lanes } = await storage.backlog(most)
  const counts = lanes.map(({ lane, due, scheduled, leased }) => [
    lane ?? 'events',
    [due, scheduled, leased] as const,
  ])
  assert.equal(counts.length, new Set(counts.map(([lane]) => lane)).size, 'a lane is there twice')
  return Object.fromEntries(counts)
}

async function laneOf(storage: Storage, name: string | null): Promise<LaneBacklog> {
  const found = (await storage.backlog(MOST)).lanes.find(({ lane }) => lane === name)
  assert.ok(found !== undefined, `the backlog of ${name} was expected`)
  return found
}

function near(actual: number | null, expected: number): void {
  assert.ok(actual !== null && actual >= expected && actual < expected + 5_000, `${actual}, not ${expected}`)
}

export function backlogChecks(check: Check): void {
  check('an empty storage has no backlog', async ({ storage }) => {
    assert.deepEqual(await storage.backlog(MOST), { lanes: [], held: 0 })
  })

  check('the backlog tells what is due, scheduled and leased in each lane', async (harness) => {
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

  check('what has ended is no part of the backlog', async ({ storage }) => {
    await accept(storage, [note()])
    await deliver(storage)
    assert.deepEqual(await storage.backlog(MOST), { lanes: [], held: 0 })
  })

  check('the events of all endpoints are one lane of the backlog', async ({ storage }) => {
    await endpoint(storage)
    await endpoint(storage)
    await accept(storage, notes(2))
    await deliver(storage)
    await deliver(storage)
    assert.deepEqual(await countsOf(storage), { events: [4, 0, 0] })
    assert.notEqual((await laneOf(storage, null)).oldestDueMs, null)
  })

  check('the backlog tells how long the oldest due job of a lane has waited', async (harness) => {
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
    assert.deepEqual(await laneOf(storage, LANE), {
      lane: LANE,
      due: 0,
      scheduled: 1,
      leased: 0,
      oldestDueMs: null,
    })
    await harness.advance(25_000)
    const { oldestDueMs, ...counts } = await laneOf(storage, LANE)
    assert.deepEqual(counts, { lane: LANE, due: 1, scheduled: 0, leased: 0 })
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
    assert.equal((await storage.backlog(MOST)).held, 0)
    await storage.webhookEndpoints.update(hook.id, { status: 'disabled' })
    assert.deepEqual(await storage.backlog(MOST), { lanes: [], held: 3 })
    assert.equal((await storage.backlog(2)).held, 2)
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
