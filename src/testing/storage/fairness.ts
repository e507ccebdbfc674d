import assert from 'node:assert/strict'
import type { ClaimedJob, LaneDemand, SharedSlots } from '../../core/ports/storage/claim.ts'
import type { Storage } from '../../core/ports/storage/storage.ts'
import {
  accept,
  claim,
  claimOne,
  countOf,
  ended,
  idOf,
  LANE,
  LEASE_MS,
  note,
  notes,
  organization,
} from './fixtures.ts'
import type { Check } from './harness.ts'

export function fairnessChecks(check: Check): void {
  check("an organization's 10,000 delay another's one by at most one round", async ({ storage }) => {
    const [big, small] = [await organization(storage), await organization(storage)]
    await accept(storage, notes(10_000), big)
    await finish(storage, await claim(storage, 10))
    const [single] = await accept(storage, [note()], small)
    assert.ok((await claim(storage, 10)).map(idOf).includes(single))
  })

  check('with one free slot a time, organizations take turns', async ({ storage }) => {
    const organizations = [
      await organization(storage),
      await organization(storage),
      await organization(storage),
    ]
    for (const id of organizations) await accept(storage, notes(4), id)
    const order: string[] = []
    for (let turn = 0; turn < 12; turn += 1) {
      const job = await claimOne(storage)
      order.push(job.organizationId)
      await storage.settle([ended(job)])
    }
    for (let round = 0; round < 12; round += 3) {
      assert.deepEqual(order.slice(round, round + 3).sort(), organizations.toSorted(), `turns ${order}`)
    }
  })

  check('a newcomer has its turn although many organizations wait', async ({ storage }) => {
    const others = []
    for (let index = 0; index < 30; index += 1) others.push(await organization(storage))
    for (const id of others) await accept(storage, notes(20), id)
    await finish(storage, await claim(storage, 5))
    const newcomer = await organization(storage)
    const [id] = await accept(storage, [note()], newcomer)
    for (let round = 0; round < 7; round += 1) {
      const jobs = await claim(storage, 5)
      if (jobs.map(idOf).includes(id)) return
      await finish(storage, jobs)
    }
    assert.fail('31 organizations had more than 35 turns')
  })

  check('one claim shares its slots between organizations', async ({ storage }) => {
    const [a, b, c] = [await organization(storage), await organization(storage), await organization(storage)]
    await accept(storage, notes(100), a)
    await accept(storage, notes(100), b)
    await accept(storage, notes(2), c)
    const jobs = await claim(storage, 20)
    const of = (id: string): number => countOf(jobs, ({ organizationId }) => organizationId === id)
    assert.deepEqual([of(a), of(b), of(c)], [9, 9, 2])
  })

  check('uneven shares even out over many claims', async ({ storage }) => {
    const [a, b] = [await organization(storage), await organization(storage)]
    await accept(storage, notes(100), a)
    await accept(storage, notes(100), b)
    const count = new Map([
      [a, 0],
      [b, 0],
    ])
    for (let round = 0; round < 20; round += 1) {
      for (const { organizationId } of await claim(storage, 3)) {
        count.set(organizationId, (count.get(organizationId) ?? 0) + 1)
      }
    }
    assert.deepEqual([...count.values()], [30, 30])
  })

  check('within an organization the oldest goes first', async ({ storage }) => {
    const ids = [...(await accept(storage, notes(5))), ...(await accept(storage, notes(5)))]
    const claimed = [...(await claim(storage, 3)), ...(await claim(storage, 7))]
    assert.deepEqual(claimed.map(idOf), ids)
  })

  check('high goes before normal', async ({ storage }) => {
    await accept(storage, notes(50))
    const urgent = await accept(storage, notes(3, { priority: 'high' }))
    assert.deepEqual((await claim(storage, 3)).map(idOf).sort(), urgent.toSorted())
  })

  check(
    'the jobs of one claim come with high ones first, and the oldest first of each priority',
    async ({ storage }) => {
      const [old = '', urgent = '', young = ''] = await accept(storage, [
        note(),
        note({ priority: 'high' }),
        note(),
      ])
      assert.deepEqual((await claim(storage, 3)).map(idOf), [urgent, old, young])
    },
  )

  check('normal keeps at least one of five slots of a claim', async ({ storage }) => {
    await accept(storage, notes(50, { priority: 'high' }))
    const normal = new Set(await accept(storage, notes(50)))
    for (const free of [5, 10, 20]) {
      const jobs = await claim(storage, free)
      const share = countOf(jobs, (job) => normal.has(idOf(job) ?? ''))
      assert.equal(share, free / 5, `${share} of ${free}`)
    }
  })

  check('normal keeps its share over claims of one slot', async ({ storage }) => {
    await accept(storage, notes(50, { priority: 'high' }))
    const normal = new Set(await accept(storage, notes(50)))
    let share = 0
    for (let turn = 0; turn < 25; turn += 1) {
      const job = await claimOne(storage)
      if (normal.has(idOf(job) ?? '')) share += 1
      await storage.settle([ended(job)])
    }
    assert.equal(share, 5)
  })

  check('slots that one priority does not need go to the other', async ({ storage }) => {
    await accept(storage, notes(2, { priority: 'high' }))
    await accept(storage, notes(20))
    assert.equal((await claim(storage, 10)).length, 10)
    await finish(storage, await claim(storage, 100))
    await accept(storage, notes(20, { priority: 'high' }))
    assert.equal((await claim(storage, 10)).length, 10)
  })

  check('an organization gets a shared slot only while more are empty than it has', async ({ storage }) => {
    const [busy, other] = [await organization(storage), await organization(storage)]
    await accept(storage, notes(100), busy)
    const taken = async (free: number, empty: number, used: number): Promise<number> => {
      const jobs = await claimShared(storage, { free, empty, used: new Map([[busy, used]]) })
      await storage.release(jobs)
      return jobs.length
    }
    assert.deepEqual(
      [await taken(10, 10, 0), await taken(7, 7, 3), await taken(5, 5, 5), await taken(4, 4, 6)],
      [5, 2, 0, 0],
    )
    // A rate limit permits fewer than are empty.
    assert.deepEqual([await taken(2, 10, 4), await taken(1, 4, 4)], [2, 0])
    await accept(storage, notes(2), other)
    assert.equal(await taken(1, 200, 0), 1)
    const few = await claimShared(storage, { free: 8, empty: 8, used: new Map([[busy, 8]]) })
    assert.deepEqual(
      few.map(({ organizationId }) => organizationId),
      [other, other],
    )
  })

  check('organizations that fill shared slots together leave one to the next', async ({ storage }) => {
    const organizations = []
    for (let index = 0; index < 4; index += 1) organizations.push(await organization(storage))
    for (const id of organizations) await accept(storage, notes(100), id)
    const used = new Map<string, number>()
    let empty = 20
    for (;;) {
      const jobs = await claimShared(storage, { free: empty, empty, used })
      if (jobs.length === 0) break
      for (const { organizationId } of jobs) used.set(organizationId, (used.get(organizationId) ?? 0) + 1)
      empty -= jobs.length
    }
    assert.deepEqual([...used.values(), empty], [4, 4, 4, 4, 4])
    const newcomer = await organization(storage)
    await accept(storage, notes(1), newcomer)
    const [job] = await claimShared(storage, { free: empty, empty, used })
    assert.equal(job?.organizationId, newcomer)
  })

  check('jobs that may not start do not hide others, of any priority', async ({ storage }) => {
    const [busy, calm] = [await organization(storage), await organization(storage)]
    const shared = { free: 1, empty: 3, used: new Map([[busy, 3]]) }
    for (const [theirs, ours] of [
      ['high', 'normal'],
      ['normal', 'high'],
      ['normal', 'normal'],
      ['high', 'high'],
    ] as const) {
      await accept(storage, notes(50, { priority: theirs }), busy)
      const ids = await accept(storage, notes(6, { priority: ours }), calm)
      const claimed = []
      for (let turn = 0; turn < 6; turn += 1) {
        const [job, ...more] = await claimShared(storage, shared)
        assert.ok(job !== undefined && more.length === 0, `${theirs} hide ${ours}`)
        claimed.push(idOf(job))
        await storage.settle([ended(job)])
      }
      assert.deepEqual(claimed, ids)
      const { jobs, lanes } = await storage.claim({ lanes: [demand(shared)], leaseMs: LEASE_MS })
      assert.deepEqual([jobs, lanes], [[], [LANE]])
      await finish(storage, await claim(storage, 100))
    }
  })

  check('shared slots that become free one by one go to each organization in turn', async ({ storage }) => {
    const organizations = []
    for (let index = 0; index < 3; index += 1) organizations.push(await organization(storage))
    for (const id of organizations) await accept(storage, notes(4), id)
    const used = new Map(organizations.map((id) => [id, 2]))
    const order: string[] = []
    for (let turn = 0; turn < 12; turn += 1) {
      const [job] = await claimShared(storage, { free: 1, empty: 4, used })
      assert.ok(job !== undefined)
      order.push(job.organizationId)
      await storage.settle([ended(job)])
    }
    for (let round = 0; round < 12; round += 3) {
      assert.deepEqual(order.slice(round, round + 3).sort(), organizations.toSorted(), `turns ${order}`)
    }
  })

  check('one organization may take all shared slots, if the claim says so', async ({ storage }) => {
    const [busy, other] = [await organization(storage), await organization(storage)]
    await accept(storage, notes(100), busy)
    const shared = { free: 10, empty: 10, used: new Map([[busy, 30]]), exempt: busy }
    const jobs = await claimShared(storage, shared)
    assert.equal(jobs.length, 10)
    await storage.release(jobs)
    await accept(storage, notes(100), other)
    const both = await claimShared(storage, shared)
    assert.equal(both.length, 10)
    assert.ok(both.some(({ organizationId }) => organizationId === other))
  })

  check('organizations take turns in each priority', async ({ storage }) => {
    const [a, b] = [await organization(storage), await organization(storage)]
    await accept(storage, notes(100, { priority: 'high' }), a)
    await accept(storage, notes(10, { priority: 'high' }), b)
    const jobs = await claim(storage, 10)
    assert.equal(
      countOf(jobs, ({ organizationId }) => organizationId === b),
      5,
    )
  })
}

type Shared = Pick<SharedSlots, 'empty' | 'used'> & { readonly free: number; readonly exempt?: string | null }

const demand = ({ free, exempt = null, ...shared }: Shared): LaneDemand => ({
  lane: LANE,
  free,
  shared: { ...shared, exempt },
})

async function claimShared(storage: Storage, shared: Shared): Promise<readonly ClaimedJob[]> {
  return (await storage.claim({ lanes: [demand(shared)], leaseMs: LEASE_MS })).jobs
}

async function finish(storage: Storage, jobs: readonly ClaimedJob[]): Promise<void> {
  await storage.settle(jobs.map((job) => ended(job)))
}
