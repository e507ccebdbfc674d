import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createPendingReleases } from '../../../adapters/rate-limit/redis/pending-releases.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Pending releases with a server that is down for those keys. */
function pendingFor(away: Set<string>) {
  const asked: string[] = []
  const pending = createPendingReleases(async (key, token) => {
    asked.push(token)
    return !away.has(key)
  })
  return {
    pending,
    add(key: string, count: number) {
      for (let number = 0; number < count; number += 1) pending.add(key, `${key}${number}`)
    },
    /** What is asked for in so many seconds. */
    async asked(seconds: number) {
      asked.length = 0
      await vi.advanceTimersByTimeAsync(seconds * 1_000)
      return [...asked]
    },
  }
}

it('a release that is added after the close is never sent, and leaves no timer', async () => {
  const { pending, add, asked } = pendingFor(new Set(['a']))
  pending.close()
  add('a', 2)
  expect(vi.getTimerCount()).toBe(0)
  expect(await asked(10)).toEqual([])
})

it('a server that is down gets a few of many releases, and all of them once it answers again', async () => {
  const away = new Set(['a'])
  const { add, asked } = pendingFor(away)
  add('a', 5_000)
  expect((await asked(3)).length).toBeLessThan(1_000)
  away.clear()
  expect(new Set(await asked(1)).size).toBe(5_000)
  expect(await asked(10)).toEqual([])
})

it('many slots of a node that is away do not keep back those of another', async () => {
  const { add, asked } = pendingFor(new Set(['a']))
  add('a', 1_000)
  add('b', 10)
  const seen = await asked(10)
  expect(seen.filter((token) => token.startsWith('b')).length).toBe(10)
})

it('a slot that is asked for again meanwhile is not given back', async () => {
  const { pending, add, asked } = pendingFor(new Set())
  add('a', 2)
  pending.drop('a1')
  expect(await asked(2)).toEqual(['a0'])
})
