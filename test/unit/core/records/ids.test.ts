import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createIdGenerator } from '../../../../src/core/records/ids.ts'

const NOW = Date.UTC(2026, 10, 21)
const generatorAt = (now: () => number) => createIdGenerator({ now, randomBytes })
const timeOf = (id: string) => Number(id.slice(6, 19))
const randomOf = (id: string) => id.slice(19)

describe('notification ids', () => {
  it('are "notif_" and 34 digits that begin with the milliseconds of the clock', () => {
    for (const now of [NOW, NOW + 0.75, 999]) {
      const id = generatorAt(() => now).notification()
      expect(id).toMatch(/^notif_\d{34}$/)
      expect(timeOf(id)).toBe(Math.floor(now))
    }
  })

  it('follow a clock that steps back', () => {
    let now = NOW
    const generator = generatorAt(() => now)
    generator.notification()
    now -= 86_400_000
    expect(timeOf(generator.notification())).toBe(now)
  })

  it('of many processes in one millisecond are all different', () => {
    const generators = Array.from({ length: 100 }, () => generatorAt(() => NOW))
    const ids = generators.flatMap((generator) => Array.from({ length: 500 }, () => generator.notification()))
    expect(new Set(ids).size).toBe(50_000)
  })

  it('have random digits in every place, and no order', () => {
    const generator = generatorAt(() => NOW)
    const ids = Array.from({ length: 20_000 }, () => randomOf(generator.notification()))
    for (let place = 0; place < 21; place += 1) {
      const seen = new Map<string, number>()
      for (const id of ids) seen.set(id.charAt(place), (seen.get(id.charAt(place)) ?? 0) + 1)
      expect(seen.size).toBe(10)
      // Ten standard deviations.
      for (const count of seen.values()) expect(Math.abs(count - 2_000)).toBeLessThan(425)
    }
    const rising = ids.filter((id, index) => id > (ids[index - 1] ?? '')).length
    expect(Math.abs(rising - 10_000)).toBeLessThan(1_000)
    expect(new Set(ids.map((id) => id.slice(0, 10))).size).toBeGreaterThan(19_990)
    expect(new Set(ids.map((id) => id.slice(10))).size).toBeGreaterThan(19_990)
  })

  it('draw random bytes for many ids at once', () => {
    const draws: number[] = []
    const generator = createIdGenerator({
      now: () => NOW,
      randomBytes(size) {
        draws.push(size)
        return new Uint8Array(size)
      },
    })
    for (let count = 0; count < 292; count += 1) generator.notification()
    expect(draws).toEqual([4_096])
    generator.random('tpl')
    expect(draws).toEqual([4_096, 4_096])
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
