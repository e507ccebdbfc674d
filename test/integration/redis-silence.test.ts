import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest'
import { redisRateLimiter } from '../../adapters/rate-limit/redis/index.ts'
import { memoryRateLimiter } from '../../src/memory/rate-limiter/memory-rate-limiter.ts'
import { systemClock } from '../../src/memory/system-clock.ts'
import type { WindowCheck } from '../../src/ports/rate-limiter.ts'
import { createSharedLimits } from '../../src/services/delivery/shared-limits.ts'
import { describeRedis, newPrefix, openRedisServer } from '../support/redis.ts'

const window: WindowCheck = {
  kind: 'window',
  key: 'org_a:w',
  limit: 10,
  windowMs: 60_000,
  burst: 10,
  burstMs: 0,
  cost: 1,
}

describeRedis('redisRateLimiter, when nothing is heard of its server', () => {
  let server: Awaited<ReturnType<typeof openRedisServer>>
  beforeAll(async () => {
    server = await openRedisServer()
  })
  afterAll(() => server?.close())

  it('takes a long turn of its own process for no silence of the server', async () => {
    const failed = vi.fn()
    const options = { url: server.url, prefix: newPrefix(), timeoutMs: 1_000, onError: failed }
    const limiter = redisRateLimiter(options)
    onTestFinished(() => limiter.close())
    const shared = createSharedLimits(limiter, memoryRateLimiter(), systemClock(), failed)
    await limiter.consume([window])
    const asked = [limiter.consume([window]), shared.consume([window])]
    // They are sent now, and answered while nothing else is done here for longer than anyone would wait for it.
    await nextTurn()
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_500)
    const decisions = await Promise.all(asked)
    expect(decisions.map(({ states }) => states[0]?.remaining)).toEqual([8, 7])
    expect(failed).not.toHaveBeenCalled()
  })
})
