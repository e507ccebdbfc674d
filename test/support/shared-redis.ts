import { Redis } from 'ioredis'
import { afterAll, beforeAll, onTestFinished } from 'vitest'
import { redisRateLimiter } from '../../adapters/rate-limit/redis/index.ts'
import type { RateLimiter } from '../../src/core/ports/rate-limiter.ts'
import { openRedisServer, steeredRateLimiter } from './redis.ts'

/** The Redis of one suite. */
export function sharedRedis() {
  let server: Awaited<ReturnType<typeof openRedisServer>>
  let client: Redis
  beforeAll(async () => {
    server = await openRedisServer()
    client = new Redis(server.url)
  })
  afterAll(async () => {
    client?.disconnect()
    await server?.close()
  })
  return {
    get url() {
      return server.url
    },
    get client() {
      return client
    },
    /**
     * A limiter that closes with its test.
     *
     * @param now replaces the time of the server
     */
    limiter(prefix: string, now?: () => number): RateLimiter {
      const options = { url: server.url, prefix, timeoutMs: 10_000 }
      const limiter = now === undefined ? redisRateLimiter(options) : steeredRateLimiter(options, now)
      onTestFinished(limiter.close)
      return limiter
    },
  }
}
