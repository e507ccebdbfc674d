import assert from 'node:assert/strict'
import { DEFAULT_ORGANIZATION } from '../../core/tenancy/organization.ts'
import {
  accept,
  claim,
  claimOne,
  countOf,
  deliver,
  ended,
  endpoint,
  idOf,
  LANE,
  LEASE_MS,
  NO_LABELS,
  note,
  notes,
  start,
  TEN,
} from './fixtures.ts'
import type { Check } from './harness.ts'

export function claimChecks(check: Check): void {
  check('a claim brings everything that the delivery needs', async (harness) => {
    const { storage } = harness
    const content = { template: { id: 'tpl_1', name: 'hi', version: 2 }, variables: { name: 'Ada' } }
    const sentNote = note({ channel: 'push', to: 'token', content })
    const [answer] = await storage.accept([
      { organizationId: DEFAULT_ORGANIZATION, notifications: [sentNote] },
    ])
    assert.ok(answer?.kind === 'accepted')
    await harness.advance(1_500)
    const { jobId, token, ...job } = await claimOne(storage)
    assert.equal(typeof jobId, 'string')
    assert.equal(typeof token, 'number')
    assert.ok(job.waitedMs >= 1_500 && job.waitedMs < 10_000, `waited ${job.waitedMs}`)
    const { id, channel, to } = sentNote
    assert.deepEqual(job, {
      kind: 'notification',
      lane: LANE,
      organizationId: DEFAULT_ORGANIZATION,
      attempts: 0,
      outages: 0,
      earlierAttempts: 0,
      recovered: false,
      waitedMs: job.waitedMs,
      notification: {
        id,
        channel,
        to,
        content,
        createdAt: answer.createdAt,
        expiresInMs: null,
        trace: null,
        ...NO_LABELS,
      },
    })
  })

  check('a claim says how long a notification has until it expires', async (harness) => {
    const { storage } = harness
    const [probe] = await storage.accept([{ organizationId: DEFAULT_ORGANIZATION, notifications: [] }])
    assert.ok(probe?.kind === 'accepted')
    await accept(storage, [note({ expiresAt: probe.createdAt + 10_000 })])
    await harness.advance(15_000)
    const job = await claimOne(storage)
    assert.ok(job.kind === 'notification')
    const { expiresInMs } = job.notification
    assert.ok(expiresInMs !== null && expiresInMs <= -4_000 && expiresInMs > -10_000, `${expiresInMs}`)
  })

  check('a claim brings an event with its endpoint as it is now', async ({ storage }) => {
    const hook = await endpoint(storage, { successStatus: '2xx' })
    const [id = ''] = await accept(storage, [note()])
    await deliver(storage)
    const job = await claimOne(storage, hook.id)
    assert.ok(job.kind === 'event')
    assert.deepEqual(job.delivery.endpoint, hook)
    assert.deepEqual(
      [job.delivery.eventId, job.delivery.eventType],
      [`evt_${id.slice('notif_'.length)}_2`, 'notification.sent'],
    )
    assert.equal(JSON.parse(job.delivery.payload).data.id, id)
  })

  check('a claim takes no more than the free slots of each lane', async ({ storage, secondDoor }) => {
    await accept(storage, [...notes(5), ...notes(5, { lane: 'sms/x' }), ...notes(5, { lane: 'push/y' })])
    const { jobs, lanes } = await storage.claim({
      lanes: [
        { lane: LANE, free: 2 },
        { lane: 'sms/x', free: 9 },
        { lane: 'empty', free: 3 },
      ],
      leaseMs: LEASE_MS,
    })
    const of = (name: string): number => countOf(jobs, ({ lane }) => lane === name)
    assert.deepEqual([of(LANE), of('sms/x'), jobs.length], [2, 5, 7])
    assert.deepEqual([...lanes].sort(), [LANE, 'push/y'].sort())
    assert.equal((await secondDoor.jobs()).filter(({ state }) => state === 'leased').length, 7)
  })

  check('an empty list of lanes only asks what is due', async ({ storage, secondDoor }) => {
    assert.deepEqual(await storage.claim({ lanes: [], leaseMs: LEASE_MS }), {
      jobs: [],
      lanes: [],
      recoveredLanes: [],
      nextDueInMs: null,
    })
    await accept(storage, [note(), note({ lane: 'sms/x' })])
    const { jobs, lanes } = await storage.claim({ lanes: [], leaseMs: LEASE_MS })
    assert.deepEqual([jobs, [...lanes].sort()], [[], [LANE, 'sms/x'].sort()])
    assert.deepEqual(
      (await secondDoor.jobs()).map(({ state }) => state),
      ['ready', 'ready'],
    )
  })

  check('a claim lists at most 1,000 lanes, and later claims the others', async ({ storage }) => {
    const names = Array.from({ length: 1_100 }, (_, index) => `lane-${String(index).padStart(4, '0')}`)
    await accept(
      storage,
      names.map((lane) => note({ lane })),
    )
    const seen = new Set<string>()
    for (let round = 0; round < 3; round += 1) {
      const { lanes } = await storage.claim({ lanes: [], leaseMs: LEASE_MS })
      assert.equal(new Set(lanes).size, 1_000)
      for (const lane of lanes) seen.add(lane)
    }
    assert.equal(seen.size, 1_100)
  })

  check('no job is leased to two of ten claims in a race', async ({ storage }) => {
    const ids = await accept(storage, notes(35))
    const claims = await Promise.all(TEN.map(() => claim(storage, 5)))
    const claimed = claims.flat()
    assert.equal(claimed.length, 35)
    assert.deepEqual(claimed.map(idOf).sort(), ids.toSorted())
    assert.equal(new Set(claimed.map(({ jobId }) => jobId)).size, 35)
    assert.deepEqual(await claim(storage), [])
  })

  check('every claim of a job has a new token', async ({ storage }) => {
    await accept(storage, [note()])
    const tokens = new Set<number>()
    for (let round = 0; round < 5; round += 1) {
      const job = await claimOne(storage)
      tokens.add(job.token)
      await storage.release([job])
    }
    assert.equal(tokens.size, 5)
  })

  check('a token of a finished job never fits a later one', async ({ storage }) => {
    const seen = new Set<string>()
    for (let round = 0; round < 5; round += 1) {
      await accept(storage, [note()])
      const job = await claimOne(storage)
      seen.add(`${job.jobId}/${job.token}`)
      await storage.settle([ended(job)])
    }
    assert.equal(seen.size, 5)
  })

  check('ids are claimed as far as they are due and not leased', async (harness) => {
    const { storage } = harness
    const [probe] = await storage.accept([{ organizationId: DEFAULT_ORGANIZATION, notifications: [] }])
    assert.ok(probe?.kind === 'accepted')
    const later = note({ sendAt: probe.createdAt + 60_000 })
    const [first = '', second = ''] = await accept(storage, [note(), note(), later])
    const leased = await claimOne(storage)
    assert.equal(idOf(leased), first)
    const ids = (await harness.secondDoor.jobs()).map(({ id }) => id)
    const named = [...ids, ...ids, '987654321', 'nonsense']
    const { jobs } = await storage.claim({ ids: named, leaseMs: LEASE_MS })
    assert.deepEqual(jobs.map(idOf), [second])
    await harness.advance(60_001)
    const due = await storage.claim({ ids, leaseMs: 10 * LEASE_MS })
    assert.ok(due.jobs.map(idOf).includes(later.id))
  })

  check('ten claims of one id in a race lease it once', async ({ storage, secondDoor }) => {
    await accept(storage, [note()])
    const ids = (await secondDoor.jobs()).map(({ id }) => id)
    const claims = await Promise.all(TEN.map(() => storage.claim({ ids, leaseMs: LEASE_MS })))
    assert.equal(claims.flatMap(({ jobs }) => jobs).length, 1)
  })

  check('a claim says when the next job waits or lease ends', async (harness) => {
    const { storage } = harness
    const [probe] = await storage.accept([{ organizationId: DEFAULT_ORGANIZATION, notifications: [] }])
    assert.ok(probe?.kind === 'accepted')
    const ask = async (): Promise<number | null> =>
      (await storage.claim({ lanes: [], leaseMs: LEASE_MS })).nextDueInMs
    const near = (actual: number | null, expected: number): void =>
      assert.ok(actual !== null && actual <= expected && actual > expected - 5_000, `${actual}`)
    assert.equal(await ask(), null)
    await accept(storage, [note({ sendAt: probe.createdAt + 3_600_000 })])
    near(await ask(), 3_600_000)
    await accept(storage, [note()])
    const job = await claimOne(storage)
    near(await ask(), LEASE_MS)
    await storage.renew([job], 2 * LEASE_MS)
    near(await ask(), 2 * LEASE_MS)
    await storage.settle([ended(job)])
    near(await ask(), 3_600_000)
    await harness.advance(3_600_001)
    await ask()
    assert.equal((await storage.claim({ lanes: [], leaseMs: LEASE_MS })).lanes.length, 1)
  })

  check('a claim of what is nowhere finds nothing', async ({ storage }) => {
    await accept(storage, [note()])
    const { jobs } = await storage.claim({ lanes: [{ lane: 'other', free: 5 }], leaseMs: LEASE_MS })
    assert.deepEqual(jobs, [])
    assert.deepEqual(await start(storage, []), [])
    assert.deepEqual((await storage.claim({ recovered: [], leaseMs: LEASE_MS })).jobs, [])
  })
}
