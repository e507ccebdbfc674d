import { expect, test } from 'vitest'
import { accept, claim, note } from '../../src/testing/storage/fixtures.ts'
import { storageContract } from '../../src/testing/storage-contract.ts'
import { createState } from '../reference-storage/state.ts'
import { storageOf } from '../reference-storage/storage-of.ts'
import { memoryHarness } from '../support/memory-harness.ts'

storageContract(test, () => memoryHarness())

test('what is cancelled before its time is not kept until then', async () => {
  let now = 0
  const state = createState(() => now)
  const storage = storageOf(state)
  const [first] = await accept(storage, [note({ sendAt: 1_000 })])
  for (let left = 1_000; left > 0; left -= 1) {
    const [id = ''] = await accept(storage, [note({ sendAt: 2_000 })])
    await storage.notifications.cancel(id)
  }
  const [last] = await accept(storage, [note({ sendAt: 3_000 })])
  expect(state.waiting.size()).toBeLessThan(200)
  for (const [at, id] of [
    [1_000, first],
    [3_000, last],
  ] as const) {
    now = at
    const jobs = await claim(storage)
    expect(jobs.map((job) => job.kind === 'notification' && job.notification.id)).toEqual([id])
  }
})
