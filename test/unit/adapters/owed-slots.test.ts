import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createOwedSlots } from '../../../adapters/rate-limit/redis/owed-slots.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Slots owed to a server that is away for those keys. */
function owedTo(away: Set<string>) {
  const asked: string[] = []
  const owed = createOwedSlots(async (key, token) => {
    asked.push(token)
    return !away.has(key)
  })
  return {
    owed,
    add(key: string, count: number) {
      for (let number = 0; number < count; number += 1) owed.add(key, `${key}${number}`)
    },
    /** What is asked for in so many seconds. */
    async asked(seconds: number) {
      asked.length = 0
      await vi.advanceTimersByTimeAsync(seconds * 1_000)
      return [...asked]
    },
  }
}

it('what becomes owed after the close is asked for no more, and leaves no timer', async () => {
  const { owed, add, asked } = owedTo(new Set(['a']))
  owed.close()
  add('a', 2)
  expect(vi.getTimerCount()).toBe(0)
  expect(await asked(10)).toEqual([])
})

it('a server that is away is asked for a few of many, and for all when it answers again', async () => {
  const away = new Set(['a'])
  const { add, asked } = owedTo(away)
  add('a', 5_000)
  expect((await asked(3)).length).toBeLessThan(1_000)
  away.clear()
  expect(new Set(await asked(1)).size).toBe(5_000)
  expect(await asked(10)).toEqual([])
})

it('many slots of a node that is away do not keep back those of another', async () => {
  const { add, asked } = owedTo(new Set(['a']))
  add('a', 1_000)
  add('b', 10)
  const seen = await asked(10)
  expect(seen.filter((token) => token.startsWith('b')).length).toBe(10)
})

it('a slot that is asked for again meanwhile is not given back', async () => {
  const { owed, add, asked } = owedTo(new Set())
  add('a', 2)
  owed.drop('a1')
  expect(await asked(2)).toEqual(['a0'])
})
