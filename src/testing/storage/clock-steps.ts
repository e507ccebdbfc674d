import assert from 'node:assert/strict'
import { accept, claim, idOf, LANE, LEASE_MS, note, notes, start } from './fixtures.ts'
import type { Check } from './harness.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

export function clockStepChecks(check: Check): void {
  check(
    'a lease that was given by a clock that ran ahead comes back when the clock is corrected',
    async (harness) => {
      const { storage } = harness
      await accept(storage, notes(2))
      await harness.advance(DAY)
      const [begun, claimed] = await claim(storage)
      assert.ok(begun !== undefined && claimed !== undefined)
      await start(storage, [begun])
      await harness.advance(-DAY)
      assert.deepEqual((await claim(storage)).map(idOf), [idOf(claimed)])
      const { jobs } = await storage.claim({ recovered: [LANE], leaseMs: LEASE_MS })
      assert.deepEqual(
        jobs.map((job) => [idOf(job), job.attempts, job.recovered]),
        [[idOf(begun), 1, true]],
      )
      assert.deepEqual(await storage.renew([begun, claimed], LEASE_MS), [false, false])
    },
  )

  check('a lease of two hours, the longest there is, lasts', async (harness) => {
    const { storage } = harness
    await accept(storage, [note()])
    const { jobs } = await storage.claim({ lanes: [{ lane: LANE, free: 1 }], leaseMs: 2 * HOUR })
    assert.equal(jobs.length, 1)
    assert.deepEqual(await claim(storage), [])
    await harness.advance(2 * HOUR - 1_000)
    assert.deepEqual(await claim(storage), [])
    await harness.advance(1_001)
    assert.equal((await claim(storage)).length, 1)
  })
}
