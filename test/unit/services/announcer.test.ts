import { expect, it } from 'vitest'
import type { JobRef } from '../../../src/ports/queue.ts'
import { createAnnouncer } from '../../../src/services/delivery/announcer.ts'
import { fakeClock, settled } from '../../../src/testing/fake-clock.ts'

const refs = (count: number, from = 0): JobRef[] =>
  Array.from({ length: count }, (_, index) => ({ jobId: String(from + index), lane: 'email', dueInMs: 0 }))

function world(announce: (refs: readonly JobRef[]) => Promise<void>) {
  const clock = fakeClock()
  const missed: string[] = []
  const errors: Error[] = []
  const announcer = createAnnouncer({
    queue: { announce },
    clock,
    missed: (lost) => missed.push(...lost.map(({ jobId }) => jobId)),
    onError: (error) => errors.push(error as Error),
  })
  return { clock, missed, errors, announcer }
}

it('what is added while an announcement runs goes together in the next', async () => {
  const sets: number[] = []
  let go = (): void => {}
  const { announcer } = world((set) => {
    sets.push(set.length)
    return new Promise((resolve) => {
      go = resolve
    })
  })
  announcer.add(refs(2))
  await settled()
  announcer.add(refs(3))
  announcer.add(refs(4))
  go()
  await settled()
  expect(sets).toEqual([2, 7])
  go()
  await announcer.flush(1_000)
})

it('an engine that is away is reported once a minute, and again when it has been back', async () => {
  let away = true
  const { clock, announcer, errors, missed } = world(async () => {
    if (away) throw new Error('refused')
  })
  for (let count = 0; count < 5; count += 1) {
    announcer.add(refs(1, count))
    await settled()
  }
  expect(errors).toHaveLength(1)
  expect(errors[0]?.cause).toEqual(new Error('refused'))
  expect(missed).toEqual(['0', '1', '2', '3', '4'])
  expect(announcer.works()).toBe(false)
  await clock.advance(60_000)
  announcer.add(refs(1))
  await settled()
  expect(errors).toHaveLength(2)
  away = false
  announcer.add(refs(1))
  await settled()
  expect(announcer.works()).toBe(true)
  away = true
  announcer.add(refs(1))
  await settled()
  expect(errors).toHaveLength(3)
})

it('an engine that hangs holds a bounded number of refs, and each announcement for a bounded time', async () => {
  const { clock, announcer, errors, missed } = world(() => new Promise(() => {}))
  announcer.add(refs(1))
  await settled()
  announcer.add(refs(100_010))
  expect(missed).toHaveLength(10)
  await clock.advance(5_000)
  expect(missed).toHaveLength(11)
  await clock.advance(5_000)
  expect(missed).toHaveLength(100_011)
  expect(errors).toHaveLength(1)
})
