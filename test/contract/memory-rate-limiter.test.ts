import { test } from 'vitest'
import { memoryRateLimiter } from '../../src/memory/rate-limiter/memory-rate-limiter.ts'
import { rateLimiterContract } from '../../src/testing/rate-limiter/rate-limiter-contract.ts'

rateLimiterContract(test, async () => {
  let time = 0
  const limiter = memoryRateLimiter({
    clock: { now: () => time, monotonic: () => time, timer: () => () => {} },
  })
  return {
    limiter,
    advance(ms) {
      time += ms
    },
  }
})
