import { afterAll, beforeAll, test } from 'vitest'
import { rateLimiterContract } from '../../src/testing/rate-limiter/rate-limiter-contract.ts'
import { describeRedis, newPrefix, openRedisServer, steeredRateLimiter } from '../support/redis.ts'

describeRedis('redisRateLimiter', () => {
  let server: Awaited<ReturnType<typeof openRedisServer>>
  beforeAll(async () => {
    server = await openRedisServer()
  })
  afterAll(() => server.close())

  rateLimiterContract(test, async () => {
    let time = 1_800_000_000_000
    const limiter = steeredRateLimiter({ url: server.url, prefix: newPrefix() }, () => time)
    return {
      limiter,
      advance(ms) {
        time += ms
      },
    }
  })
})
