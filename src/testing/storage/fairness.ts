import assert from 'node:assert/strict'
import type { ClaimedJob } from '../../ports/storage/claim.ts'
import type { Storage } from '../../ports/storage/storage.ts'
import { accept, claim, claimOne, countOf, ended, idOf, note, notes, organization } from './fixtures.ts'
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

async function finish(storage: Storage, jobs: readonly ClaimedJob[]): Promise<void> {
  await storage.settle(jobs.map((job) => ended(job)))
}
