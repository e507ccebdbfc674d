import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest'
import { bullmqQueue } from '../../adapters/queue/bullmq/index.ts'
import { redisRateLimiter } from '../../adapters/rate-limit/redis/index.ts'
import { createSharedLimits } from '../../src/core/delivery/shared-limits.ts'
import { memoryRateLimiter } from '../../src/core/limits/memory-rate-limiter.ts'
import { systemClock } from '../../src/core/loop/system-clock.ts'
import type { WindowCheck } from '../../src/core/ports/rate-limiter.ts'
import { eventually } from '../support/eventually.ts'
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

/** Leads to a server. What was connected before `silence` stays so, and nothing comes through any more. */
async function lineTo(url: string) {
  const { hostname, port } = new URL(url)
  let silent = new Set<object>()
  const lines = new Set<object>()
  const relay = createServer((near) => {
    const far = connect(Number(port || 6379), hostname)
    lines.add(near)
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on('data', (bytes) => silent.has(near) || to.write(bytes))
      from.on('error', () => {})
      from.on('close', () => to.destroy())
    }
  }).listen(0, '127.0.0.1')
  await once(relay, 'listening')
  onTestFinished(() => void relay.close())
  return {
    url: `redis://127.0.0.1:${(relay.address() as AddressInfo).port}`,
    silence() {
      silent = new Set(lines)
    },
  }
}

describeRedis('when nothing is heard of Redis', () => {
  let server: Awaited<ReturnType<typeof openRedisServer>>
  beforeAll(async () => {
    server = await openRedisServer()
  })
  afterAll(() => server?.close())

  it('the limiter takes a long turn of its own process for no silence of the server', async () => {
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
  it('the limiter decides over a new connection', async () => {
    const line = await lineTo(server.url)
    const limiter = redisRateLimiter({ url: line.url, prefix: newPrefix(), onError: () => {} })
    onTestFinished(() => limiter.close())
    await eventually(() => limiter.consume([window]))
    line.silence()
    await expect(limiter.consume([window])).rejects.toMatchObject({ code: 'service_unavailable' })
    expect(await eventually(() => limiter.consume([window]))).toMatchObject({ allowed: true })
  })

  it('bullmqQueue announces and hands over through new connections', async () => {
    const line = await lineTo(server.url)
    const name = newPrefix().replaceAll(':', '')
    const redis = new Redis(server.url)
    onTestFinished(async () => {
      await redis.del(await redis.keys(`bull:${name}:*`))
      redis.disconnect()
    })
    const queue = bullmqQueue({ url: line.url, name })
    await queue.open()
    onTestFinished(() => queue.close())
    const handed = new Set<string>()
    const stop = await queue.work({
      async handle(refs) {
        for (const { jobId } of refs) handed.add(jobId)
      },
      onError() {},
    })
    onTestFinished(stop)
    const enqueue = (jobId: string) => queue.enqueue([{ jobId, lane: 'email', dueInMs: 0 }])
    await eventually(() => enqueue('before').then(() => true))
    await eventually(() => handed.has('before'))
    line.silence()
    await expect(enqueue('meanwhile')).rejects.toBeInstanceOf(Error)
    await eventually(() => enqueue('after').then(() => true))
    await eventually(() => handed.has('after'))
  })
})
