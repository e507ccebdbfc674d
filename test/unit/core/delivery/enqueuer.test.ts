import { expect, it } from 'vitest'
import { createEnqueuer } from '../../../../src/core/delivery/enqueuer.ts'
import type { JobRef } from '../../../../src/core/ports/queue.ts'
import { fakeClock, settled } from '../../../../src/testing/fake-clock.ts'

const refs = (count: number, from = 0): JobRef[] =>
  Array.from({ length: count }, (_, index) => ({ jobId: String(from + index), lane: 'email', dueInMs: 0 }))

function world(enqueue: (refs: readonly JobRef[]) => Promise<void>) {
  const clock = fakeClock()
  const missed: string[] = []
  const errors: Error[] = []
  const enqueuer = createEnqueuer({
    queue: { enqueue },
    clock,
    onMissed: (lost) => missed.push(...lost.map(({ jobId }) => jobId)),
    onError: (error) => errors.push(error as Error),
  })
  return { clock, missed, errors, enqueuer }
}

it('what is added while a set is on its way goes together in the next', async () => {
  const sets: number[] = []
  let go = (): void => {}
  const { enqueuer } = world((set) => {
    sets.push(set.length)
    return new Promise((resolve) => {
      go = resolve
    })
  })
  enqueuer.add(refs(2))
  await settled()
  enqueuer.add(refs(3))
  enqueuer.add(refs(4))
  go()
  await settled()
  expect(sets).toEqual([2, 7])
  go()
  await enqueuer.flush(1_000)
})

it('an engine that is away is reported once a minute, and again when it has been back', async () => {
  let away = true
  const { clock, enqueuer, errors, missed } = world(async () => {
    if (away) throw new Error('refused')
  })
  for (let count = 0; count < 5; count += 1) {
    enqueuer.add(refs(1, count))
    await settled()
  }
  expect(errors).toHaveLength(1)
  expect(errors[0]?.cause).toEqual(new Error('refused'))
  expect(missed).toEqual(['0', '1', '2', '3', '4'])
  expect(enqueuer.works()).toBe(false)
  await clock.advance(60_000)
  enqueuer.add(refs(1))
  await settled()
  expect(errors).toHaveLength(2)
  away = false
  enqueuer.add(refs(1))
  await settled()
  expect(enqueuer.works()).toBe(true)
  away = true
  enqueuer.add(refs(1))
  await settled()
  expect(errors).toHaveLength(3)
})

it('an engine that hangs holds a bounded number of refs, and each set for a bounded time', async () => {
  const { clock, enqueuer, errors, missed } = world(() => new Promise(() => {}))
  enqueuer.add(refs(1))
  await settled()
  enqueuer.add(refs(100_010))
  expect(missed).toHaveLength(10)
  await clock.advance(5_000)
  expect(missed).toHaveLength(11)
  await clock.advance(5_000)
  expect(missed).toHaveLength(100_011)
  expect(errors).toHaveLength(1)
})
