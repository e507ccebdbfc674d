import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type RedisServer, startRedis } from '../../examples/servers/redis.ts'
import { rateLimiterContract } from '../../src/testing/rate-limiter/rate-limiter-contract.ts'
import { eventually } from '../support/eventually.ts'
import { describeRedis, limiterHarness, openRedisServer } from '../support/redis.ts'

/* The older ioredis that package.json allows, for everything in this file. */
const loaded = vi.hoisted(() => ({ version: '' }))
vi.mock('ioredis', async () => {
  const { createRequire } = await import('node:module')
  loaded.version = createRequire(import.meta.url)('ioredis5/package.json').version
  return await import('ioredis5')
})

describeRedis('redisRateLimiter on ioredis 5', () => {
  let server: Awaited<ReturnType<typeof openRedisServer>>
  beforeAll(async () => {
    server = await openRedisServer()
  })
  afterAll(() => server.close())

  rateLimiterContract(test, async () => limiterHarness(server.url))

  test('refuses while the server is away, and decides again afterwards', async () => {
    const own: RedisServer = await startRedis()
    const { limiter } = limiterHarness(own.url, 200)
    const window = {
      kind: 'window',
      key: 'a:w',
      limit: 9,
      windowMs: 60_000,
      burst: 9,
      burstMs: 0,
      cost: 1,
    } as const
    expect((await limiter.consume([window])).allowed).toBe(true)
    await own.kill()
    await expect(limiter.consume([window])).rejects.toMatchObject({ code: 'service_unavailable' })
    await own.start()
    await eventually(async () => (await limiter.consume([window])).allowed)
    await limiter.close?.()
    await own.remove()
  })

  test('it was that one', () => {
    expect(loaded.version).toMatch(/^5\./)
  })
})
