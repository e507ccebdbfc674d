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

it('a slot that is asked for again meanwhile is not given back', async () => {
  const { owed, add, asked } = owedTo(new Set())
  add('a', 2)
  owed.drop('a1')
  expect(await asked(2)).toEqual(['a0'])
})
