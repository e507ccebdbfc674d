import fc from 'fast-check'
import { expect, it } from 'vitest'
import { IdleSet } from '../../../src/outgoing/idle-set.ts'

const step = fc.record({
  owner: fc.constantFrom('org_a', 'org_b', 'org_c'),
  item: fc.nat(15),
  adds: fc.boolean(),
})

it('holds at most its maximum, and takes the oldest item from the owner with the most', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 6 }), fc.array(step, { maxLength: 80 }), (most, steps) => {
      const idle = new IdleSet<string>(most)
      /** All that is idle, the oldest first. */
      let model: string[] = []
      const ownerOf = (item: string) => item.slice(0, 5)
      const countOf = (owner: string) => model.filter((item) => ownerOf(item) === owner).length
      for (const { owner, item: number, adds } of steps) {
        const item = `${owner}:${number}`
        if (!adds || model.includes(item)) {
          idle.delete(owner, item)
          model = model.filter((other) => other !== item)
          continue
        }
        model.push(item)
        const lost = idle.add(owner, item)
        if (model.length <= most) {
          expect(lost).toBeUndefined()
          continue
        }
        const loser = ownerOf(lost ?? '')
        expect(countOf(loser)).toBe(Math.max(...['org_a', 'org_b', 'org_c'].map(countOf)))
        expect(lost).toBe(model.find((other) => ownerOf(other) === loser))
        model = model.filter((other) => other !== lost)
      }
    }),
  )
})
