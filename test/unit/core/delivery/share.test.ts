import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { permittedSlots, share } from '../../../../src/core/delivery/share.ts'

const demands = fc.array(
  fc.record({
    most: fc.integer({ min: 1, max: 10 }),
    used: fc.nat(10),
    owner: fc.constantFrom('a', 'b', 'c'),
  }),
  { minLength: 1, maxLength: 12 },
)

it('gives all that there is, and nobody more than they demand', () => {
  fc.assert(
    fc.property(demands, fc.nat(60), fc.nat(), (wanted, slots, turn) => {
      const given = share(slots, wanted, new Map(), turn)
      const all = wanted.reduce((sum, { most }) => sum + most, 0)
      expect(given.reduce((sum, got) => sum + got, 0)).toBe(Math.min(all, slots))
      for (const [index, got] of given.entries()) {
        expect(got).toBeGreaterThanOrEqual(0)
        expect(got).toBeLessThanOrEqual(wanted[index]?.most ?? 0)
      }
    }),
  )
})

it('leaves nobody wishing who has more than one fewer than another who got something', () => {
  fc.assert(
    fc.property(demands, fc.nat(60), fc.nat(), (wanted, slots, turn) => {
      const used = new Map<string, number>()
      for (const { owner, used: own } of wanted) used.set(owner, (used.get(owner) ?? 0) + own)
      const given = share(slots, wanted, used, turn)
      const has = new Map(used)
      const got = new Set<string>()
      const open = new Set<string>()
      for (const [index, count] of given.entries()) {
        const { owner, most } = wanted[index] as (typeof wanted)[number]
        has.set(owner, (has.get(owner) ?? 0) + count)
        if (count > 0) got.add(owner)
        if (count < most) open.add(owner)
      }
      for (const poor of open)
        for (const rich of got) expect((has.get(poor) ?? 0) + 1).toBeGreaterThanOrEqual(has.get(rich) ?? 0)
    }),
  )
})

it('begins with another among equals each time', () => {
  const wanted = ['a', 'b', 'c'].map((owner) => ({ most: 1, used: 0, owner }))
  const first = [0, 1, 2, 3].map((turn) => share(1, wanted, new Map(), turn).indexOf(1))
  expect(first).toEqual([0, 1, 2, 0])
})

it('gives of what is one owner’s to the lane that has the fewest', () => {
  const lanes = [3, 0, 0].map((used) => ({ most: 5, used, owner: 'a' }))
  expect(share(4, lanes, new Map([['a', 3]]), 0)).toEqual([0, 2, 2])
  expect(share(9, lanes, new Map([['a', 3]]), 0)).toEqual([1, 4, 4])
})

describe('of slots that are given to a lane only while more are left than it has', () => {
  it('nobody is refused who has fewer than are left at the end', () => {
    fc.assert(
      fc.property(demands, fc.nat(60), fc.nat(), (wanted, slots, turn) => {
        const given = share(slots, wanted, new Map(), turn, slots)
        const left = slots - given.reduce((sum, got) => sum + got, 0)
        for (const [index, got] of given.entries()) {
          const { used, most } = wanted[index] as (typeof wanted)[number]
          if (got < most) expect(used + got).toBeGreaterThanOrEqual(left)
        }
      }),
    )
  })

  it('the lanes of one owner leave as many as any of them had before its last one', () => {
    fc.assert(
      fc.property(demands, fc.nat(60), fc.nat(), (wanted, slots, turn) => {
        const alone = wanted.map((demand) => ({ ...demand, owner: 'a' }))
        const given = share(slots, alone, new Map(), turn, slots)
        const left = slots - given.reduce((sum, got) => sum + got, 0)
        for (const [index, got] of given.entries())
          if (got > 0) expect((alone[index]?.used ?? 0) + got - 1).toBeLessThanOrEqual(left)
      }),
    )
  })

  it('a lane that asks alone gets what it may take alone', () => {
    fc.assert(
      fc.property(fc.nat(60), fc.nat(60), (slots, used) => {
        expect(share(slots, [{ most: 100, used, owner: 'a' }], new Map(), 0, slots)).toEqual([
          permittedSlots(slots, used),
        ])
      }),
    )
  })
})

it('gives one demand alone what it gives it beside one without a demand', () => {
  const one = fc.record({
    most: fc.integer({ min: 1, max: 60 }),
    used: fc.nat(60),
    exempt: fc.boolean(),
    owner: fc.constant('a'),
  })
  fc.assert(
    fc.property(one, fc.nat(60), fc.option(fc.nat(20)), (demand, slots, kept) => {
      const empty = kept === null ? null : slots + kept
      const beside = { most: 0, used: 1_000, owner: 'a' }
      expect(share(slots, [demand], new Map(), 0, empty)).toEqual([
        share(slots, [demand, beside], new Map(), 0, empty)[0],
      ])
    }),
  )
})
