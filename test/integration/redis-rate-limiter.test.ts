import { Redis } from 'ioredis'
import { afterEach, expect, it, onTestFinished, vi } from 'vitest'
import { redisRateLimiter } from '../../adapters/rate-limit/redis/index.ts'
import type { LimitCheck } from '../../src/core/ports/rate-limiter.ts'
import { createNotifier } from '../../src/create-notifier.ts'
import { runProgram } from '../support/program.ts'
import { describeRedis, newPrefix } from '../support/redis.ts'
import { sharedRedis } from '../support/shared-redis.ts'
import { windowCheck } from '../support/window-check.ts'
import type { ConsumeOptions } from './programs/consume.ts'

afterEach(() => {
  vi.useRealTimers()
})

describeRedis('redisRateLimiter', () => {
  const redis = sharedRedis()

  /** The keys of a limiter. */
  function keysOf(prefix: string): Promise<string[]> {
    return redis.client.keys(`${prefix}*`)
  }

  it('counts slots with an expired lease as free, also when it removes them itself', async () => {
    let time = 1_800_000_000_000
    const limiter = redis.limiter(newPrefix(), () => time)
    const take = async (token: string, leaseMs: number) => {
      const check = { kind: 'slots', key: 'org_a:s', limit: 10, token, leaseMs } as const
      const { allowed, states } = await limiter.consume([check])
      return [allowed, states[0]?.granted, states[0]?.remaining]
    }
    expect(await take('a', 1_000)).toEqual([true, 1, 9])
    expect(await take('b', 60_000)).toEqual([true, 1, 8])
    expect(await take('b', 60_000)).toEqual([true, 0, 8])
    time += 2_000
    expect(await take('c', 60_000)).toEqual([true, 1, 8])
    time += 1_000_000
    expect(await take('b', 60_000)).toEqual([true, 1, 9])
  })

  it('takes and releases slots of one turn each under its own token', async () => {
    const limiter = redis.limiter(newPrefix())
    const check = { kind: 'slots', key: 'org_a:s', limit: 6, leaseMs: 60_000 } as const
    const take = (tokens: readonly string[]) =>
      Promise.all(tokens.map((token) => limiter.consume([{ ...check, token }, windowCheck({ limit: 100 })])))
    await take(['first'])
    const states = (await take(['a', 'b', 'b', 'c'])).map(({ states: [slots] }) => slots)
    expect(states.map((state) => [state?.granted, state?.remaining])).toEqual([
      [1, 4],
      [1, 3],
      [0, 3],
      [1, 2],
    ])
    await Promise.all(['a', 'c'].map((token) => limiter.release(check.key, token)))
    expect((await take(['b', 'd', 'e', 'f', 'g'])).map(({ allowed }) => allowed)).toEqual([
      true,
      true,
      true,
      true,
      true,
    ])
    // What is given back in one turn is there for what is taken in it.
    const [late] = await Promise.all([take(['h']), limiter.release(check.key, 'first')])
    expect(late[0]?.allowed).toBe(true)
    expect((await take(['i']))[0]?.allowed).toBe(false)
  })

  it('counts by the clock of the server', async () => {
    const prefix = newPrefix()
    const last = windowCheck({ limit: 1, windowMs: 3_600_000 })
    expect((await redis.limiter(prefix).consume([last])).allowed).toBe(true)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 30 * 24 * 3_600_000 })
    const [state] = (await redis.limiter(prefix).consume([last])).states
    expect(state?.allowed).toBe(false)
    expect(state?.retryAfterMs).toBeGreaterThan(0)
    expect(state?.retryAfterMs).toBeLessThanOrEqual(3_600_000)
  })

  it('frees units when their time has passed', async () => {
    const limiter = redis.limiter(newPrefix())
    const short = windowCheck({ limit: 1, windowMs: 150 })
    expect((await limiter.consume([short])).allowed).toBe(true)
    const { states } = await limiter.consume([short])
    // Never before, and exactly then: the wait is at least what was said, by whatever clock.
    await new Promise((resolve) => setTimeout(resolve, (states[0]?.retryAfterMs ?? 0) + 1))
    expect((await limiter.consume([short])).allowed).toBe(true)
  })

  it('gives every unit once in a race of processes', async () => {
    const options: ConsumeOptions = { url: redis.url, prefix: newPrefix(), calls: 400, limit: 317 }
    const programs = [1, 2, 3].map(() => runProgram('consume', options))
    const said = await Promise.all(programs.map(({ said }) => said('allowed ')))
    const allowed = said.map((line) => Number(line.split(' ')[1]))
    expect(allowed.reduce((sum, each) => sum + each, 0)).toBe(317)
  })

  it('shares slots and pauses between clients', async () => {
    const prefix = newPrefix()
    const [one, other] = [redis.limiter(prefix), redis.limiter(prefix)]
    const slot = (token: string): LimitCheck => ({
      kind: 'slots',
      key: 'org_a:s',
      limit: 2,
      token,
      leaseMs: 60_000,
    })
    const races = Array.from({ length: 60 }, (_, at) =>
      (at % 2 === 0 ? one : other).consume([slot(String(at))]),
    )
    expect((await Promise.all(races)).filter(({ allowed }) => allowed)).toHaveLength(2)
    await one.pause('org_a:account', 60_000)
    expect((await other.consume([{ kind: 'pause', key: 'org_a:account' }])).allowed).toBe(false)
  })

  it('goes on after the server has forgotten its scripts', async () => {
    const limiter = redis.limiter(newPrefix())
    const check = windowCheck({ limit: 3 })
    await limiter.consume([check])
    await redis.client.script('FLUSH')
    expect((await limiter.consume([check])).states[0]?.remaining).toBe(1)
    await redis.client.script('FLUSH')
    await limiter.pause('org_a:p', 1_000)
    await limiter.consume([{ kind: 'slots', key: 'org_a:s', limit: 1, token: 't', leaseMs: 1_000 }])
    await redis.client.script('FLUSH')
    expect(await limiter.renew('org_a:s', 't', 1_000)).toBe(true)
    await redis.client.script('FLUSH')
    await limiter.release('org_a:s', 't')
    expect(await limiter.renew('org_a:s', 't', 1_000)).toBe(false)
  })

  it('leaves only keys that expire, and none for refused calls and peeks', async () => {
    const prefix = newPrefix()
    const limiter = redis.limiter(prefix)
    const slot: LimitCheck = { kind: 'slots', key: 'org_a:s', limit: 1, token: 'a', leaseMs: 30_000 }
    await limiter.peek([windowCheck(), slot, { kind: 'pause', key: 'org_a:p' }])
    await limiter.consume([windowCheck({ cost: 11 })])
    expect(await keysOf(prefix)).toEqual([])
    await limiter.consume([windowCheck(), slot])
    await limiter.consume([windowCheck()])
    await limiter.pause('org_a:p', 5_000)
    await limiter.pause('org_a:p', 1_000)
    await limiter.renew('org_a:s', 'a', 1_000)
    const left = Object.fromEntries(
      await Promise.all(
        (await keysOf(prefix)).map(
          async (key) => [key.slice(prefix.length), await redis.client.pttl(key)] as const,
        ),
      ),
    )
    const names = ['pause:{org_a}:p', 'slots:{org_a}:s', 'window:{org_a}:w']
    expect(Object.keys(left).sort()).toEqual(names)
    for (const [name, most, least] of [
      [names[0], 6_000, 1_000],
      // What a slot was taken for first is the longest that anybody can hold it.
      [names[1], 31_000, 25_000],
      [names[2], 76_000, 61_000],
    ] as const) {
      expect(left[name ?? '']).toBeLessThanOrEqual(most)
      expect(left[name ?? '']).toBeGreaterThan(least)
    }
  })

  it('keeps a window within 16 bytes per unit and twice the live units', async () => {
    const prefix = newPrefix()
    let time = 1_800_000_000_000
    const limiter = redis.limiter(prefix, () => time)
    let most = 0
    for (const [key, limit, units] of [
      ['org_a:exact', 100, 100],
      ['org_a:grains', 1_000_000, 6_001],
    ] as const) {
      for (let call = 0; call < 3 * units; call += 1) {
        time += 60_000 / units
        await limiter.consume([windowCheck({ key, limit })])
        if (call % 50 === 0)
          most = Math.max(most, await redis.client.strlen(`${prefix}window:{org_a}:${key.slice(6)}`))
      }
      expect(most).toBeGreaterThan(16 * (units - 2))
      expect(most).toBeLessThan(80 + 16 * 2 * (units + 20))
    }
  })

  it('groups units above 1024, also in a window that began under a lower limit', async () => {
    const prefix = newPrefix()
    let time = 1_800_000_000_000
    const limiter = redis.limiter(prefix, () => time)
    await limiter.consume([windowCheck({ limit: 100 })])
    for (let call = 0; call < 1_000; call += 1) {
      time += 1
      await limiter.consume([windowCheck({ limit: 10_000 })])
    }
    // One entry in ten milliseconds.
    expect(await redis.client.strlen(`${prefix}window:{org_a}:w`)).toBeLessThan(80 + 16 * 110)
  })

  it('separates similar keys, and checks of different kinds under one name', async () => {
    const limiter = redis.limiter(newPrefix())
    const names = [
      '',
      ':',
      '::',
      'a',
      'a:',
      '}',
      '{}',
      '{a}',
      '%',
      '%25',
      '%7D:',
      'a:b',
      'a:{b}',
      'å🎉:x',
      'a b:\n',
    ]
    for (const key of names) {
      const { allowed } = await limiter.consume([
        windowCheck({ key, limit: 1 }),
        { kind: 'slots', key, limit: 1, token: 't', leaseMs: 9_000 },
        { kind: 'pause', key },
      ])
      expect([key, allowed]).toEqual([key, true])
    }
    for (const key of names)
      expect((await limiter.peek([windowCheck({ key, limit: 1 })])).allowed).toBe(false)
  })

  it('uses a client of the application, and leaves it open', async () => {
    const client = new Redis(redis.url, { lazyConnect: true, keyPrefix: 'app:' })
    onTestFinished(() => client.disconnect())
    const prefix = newPrefix()
    const limiter = redisRateLimiter({ client, prefix, timeoutMs: 10_000 })
    expect((await limiter.consume([windowCheck()])).allowed).toBe(true)
    await limiter.close()
    expect(await client.ping()).toBe('PONG')
    expect(await redis.client.keys(`app:${prefix}*`)).toHaveLength(1)
  })

  it('makes one decision for checks of several organizations', async () => {
    const limiter = redis.limiter(newPrefix())
    const [a, b] = [windowCheck({ key: 'org_a:w' }), windowCheck({ key: 'org_b:w', limit: 1 })]
    expect((await limiter.consume([a, b])).allowed).toBe(true)
    expect((await limiter.consume([a, b])).allowed).toBe(false)
    expect((await limiter.peek([a])).states[0]?.remaining).toBe(8)
  })

  it('limits the notifications of several notifiers together', async () => {
    const prefix = newPrefix()
    const plans = {
      small: {
        requests: null,
        notificationsPerHour: 5,
        concurrentRequests: null,
        notificationsPerMonth: null,
        storedBytes: null,
      },
    }
    const notifiers = await Promise.all(
      [1, 2].map(async () => {
        const notifier = createNotifier({
          plans,
          rateLimiter: redisRateLimiter({ url: redis.url, prefix, timeoutMs: 10_000 }),
          channels: { email: { name: 'own', send: async () => ({ kind: 'accepted' }) } },
        })
        onTestFinished(() => notifier.stop())
        await notifier.start({ deliver: false })
        await notifier.organizations.create({ id: 'org_small', name: 'Small', plan: 'small' })
        return notifier
      }),
    )
    const sends = Array.from({ length: 8 }, (_, at) =>
      notifiers[at % 2]
        ?.organization('org_small')
        .send({ channel: 'email', to: 'ada@example.com', body: 'Hi' }),
    )
    const ended = await Promise.allSettled(sends)
    expect(ended.filter(({ status }) => status === 'fulfilled')).toHaveLength(5)
    for (const each of ended) {
      if (each.status === 'rejected') expect(each.reason).toMatchObject({ code: 'rate_limit_exceeded' })
    }
  })
})

it.each([
  ['neither a client nor a URL', {}],
  ['both', { url: 'redis://localhost', client: { evalsha: async () => {} } }],
  ['a client of another kind', { client: {} }],
  ['another protocol', { url: 'http://localhost' }],
  ['a password that is not encoded', { url: 'redis://:p#w@localhost' }],
  ['braces in the prefix', { url: 'redis://localhost', prefix: '{app}:' }],
  ['no time', { url: 'redis://localhost', timeoutMs: 0 }],
])('redisRateLimiter refuses %s', (_, options) => {
  expect(() => redisRateLimiter(options as never)).toThrow(
    expect.objectContaining({ code: 'invalid_configuration' }),
  )
})
