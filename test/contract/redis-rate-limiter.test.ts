import { afterAll, beforeAll, test } from 'vitest'
import { createRedisRateLimiter } from '../../adapters/rate-limit/redis/index.ts'
import { rateLimiterContract } from '../../src/testing/rate-limiter/rate-limiter-contract.ts'
import { describeRedis, newPrefix, openRedisServer } from '../support/redis.ts'

describeRedis('redisRateLimiter', () => {
  let server: Awaited<ReturnType<typeof openRedisServer>>
  beforeAll(async () => {
    server = await openRedisServer()
  })
  afterAll(() => server.close())

  rateLimiterContract(test, async () => {
    let time = 1_800_000_000_000
    const limiter = createRedisRateLimiter(
      { url: server.url, prefix: newPrefix(), timeoutMs: 5_000 },
      () => time,
    )
    return {
      limiter,
      advance(ms) {
        time += ms
      },
    }
  })
})
