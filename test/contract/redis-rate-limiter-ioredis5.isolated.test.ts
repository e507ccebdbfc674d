import { expect, test, vi } from 'vitest'
import { startRedis } from '../../examples/servers/redis.ts'
import { eventually } from '../support/eventually.ts'
import { describeOwnRedis, limiterHarness } from '../support/redis.ts'

/*
 * The older ioredis that package.json allows, for everything in this file. A script in the server decides, and its
 * answer is text, so the contract would find no difference: connections, their loss and the errors of a server do.
 */
const loaded = vi.hoisted(() => ({ version: '' }))
vi.mock('ioredis', async () => {
  const { createRequire } = await import('node:module')
  loaded.version = createRequire(import.meta.url)('ioredis5/package.json').version
  return await import('ioredis5')
})

describeOwnRedis('redisRateLimiter on ioredis 5', () => {
  test('counts, refuses while the server is away, and counts anew without its script', async () => {
    const own = await startRedis()
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
    expect((await limiter.consume([window])).states[0]?.remaining).toBe(8)
    expect((await limiter.consume([window])).states[0]?.remaining).toBe(7)
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
