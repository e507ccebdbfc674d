import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createIdGenerator } from '../../../src/domain/ids.ts'

const NOW = Date.UTC(2026, 10, 21)
const generatorAt = (now: () => number) => createIdGenerator({ now, randomBytes })
const timeOf = (id: string) => Number(id.slice(6, 19))

describe('notification ids', () => {
  it('are "notif_" and 29 digits that begin with the time', () => {
    const id = generatorAt(() => NOW).notification()
    expect(id).toMatch(/^notif_\d{29}$/)
    expect(timeOf(id)).toBe(NOW)
  })

  it('of a hundred processes in one millisecond are all different', () => {
    const generators = Array.from({ length: 100 }, () => generatorAt(() => NOW))
    const ids = generators.flatMap((generator) => Array.from({ length: 100 }, () => generator.notification()))
    expect(new Set(ids).size).toBe(10_000)
  })

  it('sort as they were made, more than 10,000 in one millisecond too', () => {
    const generator = generatorAt(() => NOW)
    const ids = Array.from({ length: 25_000 }, () => generator.notification())
    expect(new Set(ids).size).toBe(25_000)
    expect([...ids].sort()).toEqual(ids)
    expect(timeOf(ids[9_999] ?? '')).toBe(NOW)
    expect(timeOf(ids[10_000] ?? '')).toBe(NOW + 1)
    expect(timeOf(ids[24_999] ?? '')).toBe(NOW + 2)
  })

  it('are unique and rise with any clock: one that steps back, stops, or runs in fractions', () => {
    const steps = fc.array(fc.double({ min: -10_000, max: 10_000, noNaN: true }), {
      minLength: 1,
      maxLength: 300,
    })
    fc.assert(
      fc.property(steps, (moves) => {
        let now = NOW
        const generator = generatorAt(() => now)
        const ids = moves.map((move) => {
          now += move
          return generator.notification()
        })
        expect(ids.every((id) => /^notif_\d{29}$/.test(id))).toBe(true)
        expect(new Set(ids).size).toBe(ids.length)
        expect([...ids].sort()).toEqual(ids)
      }),
    )
  })
})

describe('random ids', () => {
  it.each(['tpl', 'org', 'req', 'key', 'wh'] as const)('%s_ and 22 url-safe characters', (prefix) => {
    const generator = generatorAt(() => NOW)
    const ids = Array.from({ length: 1_000 }, () => generator.random(prefix))
    expect(ids.every((id) => new RegExp(`^${prefix}_[A-Za-z0-9_-]{22}$`).test(id))).toBe(true)
    expect(new Set(ids).size).toBe(1_000)
  })
})
