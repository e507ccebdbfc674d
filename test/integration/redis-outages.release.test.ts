import { inspect } from 'node:util'
import { Redis } from 'ioredis'
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest'
import { type RedisServer, startRedis } from '../../examples/servers/redis.ts'
import { isNotifierError } from '../../src/core/errors/notifier-error.ts'
import type { LimitCheck, RateLimiter } from '../../src/core/ports/rate-limiter.ts'
import { perMinutePlans } from '../../src/core/tenancy/plans.ts'
import { createNotifier } from '../../src/create-notifier.ts'
import { recordingProvider } from '../../src/testing/recording-provider.ts'
import { eventually } from '../support/eventually.ts'
import { describeOwnRedis, newPrefix } from '../support/redis.ts'
import { redisLimiter } from '../support/redis-limiter.ts'
import { windowCheck } from '../support/window-check.ts'

const window = windowCheck({ limit: 1_000_000 })
const slot: LimitCheck = { kind: 'slots', key: 'org_a:s', limit: 5, token: 't', leaseMs: 60_000 }
const pause: LimitCheck = { kind: 'pause', key: 'org_a:p' }
const unavailable = expect.objectContaining({ code: 'service_unavailable', status: 503, retryAfterMs: 1_000 })

describeOwnRedis('redisRateLimiter in an outage of its server', () => {
  let server: RedisServer
  beforeEach(async () => {
    server = await startRedis()
  })
  afterEach(() => server?.remove())

  /** Asks continuously until `end`, and counts the results. */
  function load(limiter: RateLimiter) {
    const seen = { decided: 0, refused: 0, other: [] as unknown[] }
    let going = true
    const workers = Array.from({ length: 20 }, async () => {
      while (going) {
        try {
          await limiter.consume([window, pause])
          seen.decided += 1
        } catch (error) {
          if (isNotifierError(error) && error.code === 'service_unavailable') seen.refused += 1
          else seen.other.push(error)
          await new Promise((resolve) => setTimeout(resolve, 1))
        }
      }
    })
    return {
      seen,
      async more(what: 'decided' | 'refused') {
        const before = seen[what]
        await eventually(() => seen[what] > before + 100)
      },
      async end() {
        going = false
        await Promise.all(workers)
      },
    }
  }

  it.each(['kill', 'hang'])('refuses under load (%s), and decides again afterwards', async (how) => {
    const told: Error[] = []
    const limiter = redisLimiter({ url: server.url, timeoutMs: 200, onError: (error) => told.push(error) })
    const { seen, more, end } = load(limiter)
    await more('decided')
    if (how === 'kill') await server.kill()
    else server.signal('SIGSTOP')
    await more('refused')
    const during = seen.decided
    await more('refused')
    expect(seen.decided).toBe(during)
    if (how === 'kill') await server.start()
    else server.signal('SIGCONT')
    await more('decided')
    await end()
    expect(seen.other).toEqual([])
    // Once a minute: what is told is that it is away, not every call of the outage.
    expect(told).toHaveLength(1)
    expect(told[0]?.message).toMatch(/^The rate limiter cannot use Redis: /)
    expect(told[0]?.cause).toBeInstanceOf(Error)
  })

  it('reports why it cannot connect, without the password', async () => {
    const admin = new Redis(server.url)
    await admin.config('SET', 'requirepass', 'secret')
    admin.disconnect()
    const told: Error[] = []
    const url = server.url.replace('127.', ':confidential@127.')
    const limiter = redisLimiter({ url, timeoutMs: 500, onError: (error) => told.push(error) })
    await expect(limiter.consume([window])).rejects.toEqual(unavailable)
    expect(told[0]).toMatchObject({
      cause: {
        message: expect.stringContaining('is not ready'),
        cause: { message: expect.stringMatching(/WRONGPASS|NOAUTH/) },
      },
    })
    expect(inspect(told[0], { depth: 9, showHidden: true })).not.toContain('confidential')
  })

  it('keeps no slot that was taken or released while the server did not answer', async () => {
    const limiter = redisLimiter({ url: server.url, timeoutMs: 200, onError: () => {} })
    const take = (token: string) => limiter.consume([{ ...slot, token }])
    await take('given back meanwhile')
    server.signal('SIGSTOP')
    const asked = ['a', 'b', 'c', 'd'].map(take)
    const released = limiter.release(slot.key, 'given back meanwhile')
    for (const each of asked) await expect(each).rejects.toEqual(unavailable)
    await released
    server.signal('SIGCONT')
    // Those of the outage are taken by nobody: all five can be had.
    await eventually(async () => {
      const { states } = await limiter.peek([slot]).catch(() => ({ states: [] }))
      return states[0]?.remaining === 4
    })
    for (const token of ['1', '2', '3', '4', '5']) expect((await take(token)).allowed).toBe(true)
    expect((await take('6')).allowed).toBe(false)
  })

  it('allows calls without counting them if it is set to', async () => {
    const limiter = redisLimiter({ url: server.url, onUnavailable: 'allow', onError: () => {} })
    await server.kill()
    expect(await limiter.consume([window, slot, pause])).toEqual({
      allowed: true,
      states: [
        { allowed: true, granted: 1, remaining: 999_999, resetInMs: 0, retryAfterMs: 0 },
        { allowed: true, granted: 1, remaining: 4, resetInMs: 0, retryAfterMs: 0 },
        { allowed: true, granted: 0, remaining: 0, resetInMs: 0, retryAfterMs: 0 },
      ],
      uncounted: true,
    })
    expect((await limiter.peek([window])).allowed).toBe(true)
    await limiter.pause('org_a:p', 1_000)
    expect(await limiter.renew('org_a:s', 't', 1_000)).toBe(true)
    await limiter.release('org_a:s', 't')
    await server.start()
    // As if nothing had been asked before.
    const { states } = await eventually(async () => {
      const decision = await limiter.consume([window])
      return decision.states[0]?.resetInMs === 0 ? null : decision
    })
    expect(states[0]?.remaining).toBe(999_999)
  })

  it.each([
    ['allow', 'allowed'],
    ['refuse', 'failed'],
  ] as const)('shows in the metrics that it did not decide (%s)', async (onUnavailable, answer) => {
    const rateLimiter = redisLimiter({ url: server.url, onUnavailable, onError: () => {} })
    const notifier = createNotifier({
      channels: { email: recordingProvider() },
      rateLimiter,
      plans: { ...perMinutePlans, org_default: perMinutePlans.free },
    })
    await notifier.start({ deliver: false })
    const send = () => notifier.send({ channel: 'email', to: 'ada@example.com', body: 'x' }).catch(() => {})
    const unjudged = async () => {
      const { counters } = await notifier.metrics()
      return counters.limitsUnjudged
    }
    await send()
    expect(await unjudged()).toEqual([])
    await server.kill()
    await send()
    expect(await unjudged()).toEqual([{ labels: { answer }, value: 1 }])
    await server.start()
    await notifier.stop()
  })

  it('refuses the checks that a function names, and each call with such a check', async () => {
    const asked: unknown[] = []
    const limiter = redisLimiter({
      url: server.url,
      onError: () => {},
      onUnavailable(check) {
        asked.push(check)
        return check.kind === 'slots' ? 'refuse' : 'allow'
      },
    })
    await server.kill()
    expect((await limiter.consume([window])).allowed).toBe(true)
    await expect(limiter.consume([window, slot])).rejects.toEqual(unavailable)
    await expect(limiter.renew('org_a:s', 't', 1_000)).rejects.toEqual(unavailable)
    await limiter.pause('org_a:p', 1_000)
    // A slot that cannot be given back comes back by itself: nobody can do anything about it.
    await limiter.release('org_a:s', 't')
    expect(asked).toEqual([
      { kind: 'window', key: 'org_a:w' },
      { kind: 'window', key: 'org_a:w' },
      { kind: 'slots', key: 'org_a:s' },
      { kind: 'slots', key: 'org_a:s' },
      { kind: 'pause', key: 'org_a:p' },
    ])
  })

  it('starts without a server, and decides once there is one', async () => {
    await server.kill()
    const limiter = redisLimiter({ url: server.url, onError: () => {} })
    await expect(limiter.consume([window])).rejects.toEqual(unavailable)
    await expect(limiter.pause('org_a:p', 1_000)).rejects.toEqual(unavailable)
    await server.start()
    await eventually(async () => (await limiter.consume([window])).allowed)
  })

  it("leaves no command in the queue of the application's client", async () => {
    const client = new Redis(server.url, { retryStrategy: () => 20 })
    client.on('error', () => {})
    onTestFinished(() => client.disconnect())
    const limiter = redisLimiter({ client, onError: () => {} })
    await limiter.consume([window])
    await server.kill()
    await eventually(() => client.status !== 'ready')
    const asked = Array.from({ length: 500 }, () => limiter.consume([window]))
    for (const each of await Promise.allSettled(asked)) expect(each.status).toBe('rejected')
    const { offlineQueue } = client as unknown as { offlineQueue?: { length: number } }
    expect(offlineQueue?.length ?? 0).toBe(0)
    await server.start()
    const decision = await eventually(() => limiter.consume([window]))
    expect(decision.states[0]?.remaining).toBe(999_999)
  })

  it('emits a process warning if there is no error handler', async () => {
    const warned = new Promise<Error>((resolve) => {
      const look = (warning: Error): void => {
        if (warning.name !== 'CarillonRateLimiterWarning') return
        process.off('warning', look)
        resolve(warning)
      }
      process.on('warning', look)
    })
    const limiter = redisLimiter({ url: server.url })
    await server.kill()
    await expect(limiter.consume([window])).rejects.toEqual(unavailable)
    expect((await warned).message).toContain('cannot use Redis')
  })

  it('treats an error reply as an outage for that call alone', async () => {
    const prefix = newPrefix()
    const client = new Redis(server.url)
    onTestFinished(() => client.disconnect())
    const limiter = redisLimiter({ url: server.url, prefix, onError: () => {} })
    await client.rpush(`${prefix}window:{org_a}:w`, 'not a window')
    await expect(limiter.consume([window])).rejects.toEqual(unavailable)
    expect((await limiter.consume([{ ...window, key: 'org_b:w' }])).allowed).toBe(true)
  })

  it('does not connect after a close', async () => {
    const limiter = redisLimiter({ url: server.url, onError: () => {} })
    await limiter.consume([window])
    await limiter.close()
    await limiter.close()
    await expect(limiter.consume([window])).rejects.toEqual(unavailable)
    const never = redisLimiter({ url: server.url, onError: () => {} })
    await never.close()
    await expect(never.consume([window])).rejects.toEqual(unavailable)
  })
})
