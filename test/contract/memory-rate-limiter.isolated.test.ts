import { expect, test } from 'vitest'
import { MAX_STRANGERS, memoryRateLimiter } from '../../src/core/limits/memory-rate-limiter.ts'
import type { WindowCheck } from '../../src/core/ports/rate-limiter.ts'
import { rateLimiterContract } from '../../src/testing/rate-limiter/rate-limiter-contract.ts'

rateLimiterContract(test, async () => {
  let time = 0
  const limiter = memoryRateLimiter({
    clock: { now: () => time, monotonic: () => time, timer: () => () => {} },
  })
  return {
    limiter,
    // Its counts are in the memory of one process.
    second: null,
    advance(ms) {
      time += ms
    },
  }
})

/** A limiter in which as many strangers have each used one of two units as it keeps apart. */
async function crowded() {
  let time = 0
  const limiter = memoryRateLimiter({
    clock: { now: () => time, monotonic: () => time, timer: () => () => {} },
  })
  const common = { kind: 'window', limit: 2, windowMs: 60_000, burst: 2, burstMs: 10_000, cost: 1 } as const
  const stranger = (number: number): WindowCheck => ({
    ...common,
    key: `address.${number}:requests`,
    overflow: 'address.others:requests',
  })
  const organization: WindowCheck = { ...common, key: 'org_a:requests' }
  const left = async (check: WindowCheck): Promise<number> => {
    const [state] = (await limiter.consume([check])).states
    return state?.allowed === true ? state.remaining : -1
  }
  await left(organization)
  for (let number = 0; number < MAX_STRANGERS; number += 1) await left(stranger(number))
  return {
    stranger,
    organization,
    left,
    advance: (ms: number) => {
      time += ms
    },
  }
}

test('strangers beyond those it keeps apart share one window, and organizations keep theirs', async () => {
  const { stranger, organization, left } = await crowded()
  const beyond = [1, 2, 3].map((more) => left(stranger(MAX_STRANGERS + more)))
  expect(await Promise.all(beyond)).toEqual([1, 0, -1])
  expect([await left(stranger(0)), await left(stranger(0))]).toEqual([0, -1])
  expect([await left(organization), await left(organization)]).toEqual([0, -1])
  expect(await left({ ...organization, key: 'org_b:requests' })).toBe(1)
})

test('strangers have windows of their own again when others have been silent for long enough', async () => {
  const { stranger, left, advance } = await crowded()
  advance(60_000)
  const beyond = [1, 2, 3].map((more) => left(stranger(MAX_STRANGERS + more)))
  expect(await Promise.all(beyond)).toEqual([1, 1, 1])
})

test('a stranger costs less than a kilobyte', async () => {
  const { setFlagsFromString } = await import('node:v8')
  const { runInNewContext } = await import('node:vm')
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  const used = (): number => {
    collect()
    return process.memoryUsage().heapUsed
  }
  const before = used()
  const { left, stranger } = await crowded()
  expect((used() - before) / MAX_STRANGERS).toBeLessThan(1_000)
  await left(stranger(0))
})
