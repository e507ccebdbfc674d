import { expect, it } from 'vitest'
import { createOffers } from '../../../../src/core/delivery/offers.ts'

const ref = (jobId: string, lane = 'email') => ({ jobId, lane })

it('takes what is free of each lane, names the others, and asks for a job once', () => {
  const offers = createOffers()
  void offers.add([ref('1'), ref('1'), ref('2'), ref('3'), ref('4', 'sms')])
  void offers.add([ref('1'), ref('5', 'push')])
  expect(offers.lanes()).toEqual(['email', 'sms', 'push'])
  const { ids, left, lanes } = offers.take([
    { lane: 'email', free: 2 },
    { lane: 'sms', free: 9 },
  ])
  expect(ids).toEqual(['1', '2', '4'])
  expect([...left]).toEqual(['email', 'push'])
  expect(lanes).toEqual(['email', 'sms'])
  expect(offers.lanes()).toEqual([])
})

it('lets the engine go on when the claim has been answered, not before', async () => {
  const offers = createOffers()
  let done = 0
  const first = offers.add([ref('1')]).then(() => {
    done += 1
  })
  const taken = offers.take([])
  void offers.add([ref('2')]).then(() => {
    done += 1
  })
  await new Promise((resolve) => setImmediate(resolve))
  expect(done).toBe(0)
  taken.over()
  await first
  expect(done).toBe(1)
})

it('keeps nothing from the engine after its end', async () => {
  const offers = createOffers()
  const here = offers.add([ref('1')])
  offers.close()
  await here
  await offers.add([ref('2')])
  expect(offers.lanes()).toEqual([])
  expect(offers.take([{ lane: 'email', free: 9 }]).ids).toEqual([])
})

it('takes as many as any organization may have of shared slots', () => {
  const taken = (used: number, exempt: string | null): number => {
    const offers = createOffers()
    void offers.add(Array.from({ length: 9 }, (_, index) => ref(String(index))))
    const shared = { empty: 8, used: new Map([['org_a', used]]), exempt }
    const { ids, left } = offers.take([{ lane: 'email', free: 8, shared }])
    expect([...left]).toEqual(['email'])
    return ids.length
  }
  expect([taken(4, null), taken(8, null), taken(0, null), taken(4, 'org_default')]).toEqual([2, 0, 4, 8])
})
