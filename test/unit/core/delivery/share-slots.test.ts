import fc from 'fast-check'
import { expect, test } from 'vitest'
import { shareSlots } from '../../../../src/core/delivery/share-slots.ts'

const few = fc.nat({ max: 40 })
const turn = fc.nat({ max: 4 })

test('no slot stays free while a job waits, and none is given twice', () => {
  fc.assert(
    fc.property(few, few, few, turn, (free, high, normal, before) => {
      const share = shareSlots(free, high, normal, before)
      expect(share.high).toBeLessThanOrEqual(high)
      expect(share.normal).toBeLessThanOrEqual(normal)
      expect(share.high + share.normal).toBe(Math.min(free, high + normal))
    }),
  )
})

test('normal jobs that wait get one slot of five, however the slots become free', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 5, maxLength: 30 }), (claims) => {
      let given = 0
      let normal = 0
      let turnOf = 0
      for (const free of claims) {
        const share = shareSlots(free, 1_000, 1_000, turnOf)
        turnOf = share.turn
        given += free
        normal += share.normal
      }
      expect(normal).toBe(Math.floor(given / 5))
    }),
  )
})

test('high jobs go first', () => {
  expect(shareSlots(4, 10, 10, 0)).toEqual({ high: 4, normal: 0, turn: 4 })
  expect(shareSlots(1, 10, 10, 4)).toEqual({ high: 0, normal: 1, turn: 0 })
  expect(shareSlots(3, 1, 10, 0)).toEqual({ high: 1, normal: 2, turn: 0 })
})

test('a normal job that comes after a long run of high ones has its slot at once', () => {
  const { turn: after } = shareSlots(100, 100, 0, 0)
  expect(shareSlots(1, 1, 1, after)).toEqual({ high: 0, normal: 1, turn: 0 })
})
