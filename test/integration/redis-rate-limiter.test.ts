import fc from 'fast-check'
import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import { redisRateLimiter } from '../../adapters/rate-limit/redis/index.ts'
import { createNotifier } from '../../src/create-notifier.ts'
import { memoryRateLimiter } from '../../src/memory/rate-limiter/memory-rate-limiter.ts'
import type {
  LimitCheck,
  LimitDecision,
  LimitState,
  RateLimiter,
  WindowCheck,
} from '../../src/ports/rate-limiter.ts'
import { runProgram } from '../support/program.ts'
import { describeRedis, newPrefix, openRedisServer, steeredRateLimiter } from '../support/redis.ts'
import type { ConsumeOptions } from './programs/consume.ts'

const open: { close?(): Promise<void>; disconnect?(): void }[] = []
afterEach(async () => {
  vi.useRealTimers()
  for (const each of open.splice(0)) {
    await each.close?.()
    each.disconnect?.()
  }
})

function window(change: Partial<WindowCheck> = {}): WindowCheck {
  const limit = change.limit ?? 10
  return {
    kind: 'window',
    key: 'org_a:w',
    limit,
    windowMs: 60_000,
    burst: limit,
    burstMs: 0,
    cost: 1,
    ...change,
  }
}

/** A check with another token. */
const withToken =
  (by: number) =>
  (check: LimitCheck): LimitCheck =>
    check.kind === 'slots' ? { ...check, token: `t${(Number(check.token.slice(1)) + by) % 5}` } : check

describeRedis('redisRateLimiter', () => {
  let server: Awaited<ReturnType<typeof openRedisServer>>
  let redis: Redis
  beforeAll(async () => {
    server = await openRedisServer()
    redis = new Redis(server.url)
  })
  afterAll(async () => {
    redis?.disconnect()
    await server?.close()
  })

  function limiterAt(prefix: string, now?: () => number): RateLimiter {
    const options = { url: server.url, prefix, timeoutMs: 10_000 }
    const limiter = now === undefined ? redisRateLimiter(options) : steeredRateLimiter(options, now)
    open.push(limiter)
    return limiter
  }

  /** Keys that a limiter has left behind. */
  function keysOf(prefix: string): Promise<string[]> {
    return redis.keys(`${prefix}*`)
  }

  it('decides, call by call, as the limiter in memory does', async () => {
    const limits = [1, 2, 7, 40, 1_024, 1_025, 3_000]
    const windows = fc
      .record({
        slot: fc.nat({ max: limits.length - 1 }),
        factor: fc.constantFrom(1, 1.2),
        burstMs: fc.constantFrom(0, 10_000),
        share: fc.constantFrom(0, 0.1, 0.6, 2),
        extra: fc.integer({ min: 1, max: 3 }),
        partial: fc.boolean(),
        // One count whose limit changes, as with a plan.
        moved: fc.nat({ max: 3 }).map((die) => die === 0),
      })
      .map(({ slot, factor, burstMs, share, extra, partial, moved }): LimitCheck => {
        const limit = limits[slot] ?? 1
        const cost = Math.floor(limit * share) + extra
        return window({
          key: moved ? 'org_a:moved' : `org_a:${slot}`,
          limit,
          burst: Math.floor(limit * factor),
          burstMs,
          cost,
          partial,
        })
      })
    const check: fc.Arbitrary<LimitCheck> = fc.oneof(
      { weight: 6, arbitrary: windows },
      {
        weight: 2,
        arbitrary: fc.nat({ max: 4 }).map((token): LimitCheck => {
          return { kind: 'slots', key: 'org_a:s', limit: 3, token: `t${token}`, leaseMs: 20_000 }
        }),
      },
      { weight: 1, arbitrary: fc.constant<LimitCheck>({ kind: 'pause', key: 'org_a:p' }) },
    )
    const call = fc.oneof(
      {
        weight: 8,
        arbitrary: fc.record({
          verb: fc.constant('consume' as const),
          checks: fc.array(check, { maxLength: 4 }),
        }),
      },
      {
        weight: 2,
        arbitrary: fc.record({
          verb: fc.constant('peek' as const),
          checks: fc.array(check, { maxLength: 4 }),
        }),
      },
      {
        weight: 1,
        arbitrary: fc.record({
          verb: fc.constant('pause' as const),
          ms: fc.constantFrom(0, 1, 3_000, 15_000),
        }),
      },
      {
        weight: 1,
        arbitrary: fc.record({ verb: fc.constant('release' as const), token: fc.nat({ max: 4 }) }),
      },
      { weight: 1, arbitrary: fc.record({ verb: fc.constant('renew' as const), token: fc.nat({ max: 4 }) }) },
      {
        weight: 2,
        arbitrary: fc.record({
          verb: fc.constant('refund' as const),
          slot: fc.nat({ max: limits.length }),
          units: fc.constantFrom(1, 2, 9, 300, 5_000),
        }),
      },
    )
    const wait = fc.oneof(
      { weight: 6, arbitrary: fc.nat({ max: 400 }) },
      { weight: 2, arbitrary: fc.nat({ max: 20_000 }) },
      { weight: 1, arbitrary: fc.constantFrom(0, 9_999, 10_000, 20_000, 59_999, 60_000, 60_001, 120_000) },
    )
    const times = fc.oneof({ weight: 3, arbitrary: fc.constant(1) }, fc.integer({ min: 2, max: 8 }))
    const steps = fc.array(fc.tuple(wait, call, times), { minLength: 20, maxLength: 120 })
    let judged = 0
    let refused = 0
    const judge = (checks: readonly LimitCheck[], given: LimitDecision, expected: LimitDecision): void => {
      expect(given.allowed).toBe(expected.allowed)
      judged += 1
      if (!given.allowed) refused += 1
      for (const [index, state] of given.states.entries()) {
        const reference = expected.states[index] as LimitState
        // The limiter in memory leaves expired slots until they are short, and says as left what it did not take.
        const { remaining, granted } = reference
        const alike = checks[index]?.kind === 'slots' ? { remaining, granted } : {}
        expect({ ...rounded(state), ...alike }, JSON.stringify(checks[index])).toEqual(rounded(reference))
      }
    }
    await fc.assert(
      fc.asyncProperty(steps, async (steps) => {
        let time = 1_800_000_000_000
        const clock = { now: () => time, monotonic: () => time, timer: () => () => {} }
        const [ours, reference] = [limiterAt(newPrefix(), () => time), memoryRateLimiter({ clock })]
        for (const [ms, step, times] of steps) {
          time += ms
          if (step.verb === 'pause') {
            await Promise.all([ours, reference].map((each) => each.pause('org_a:p', step.ms)))
          } else if (step.verb === 'release') {
            await Promise.all([ours, reference].map((each) => each.release('org_a:s', `t${step.token}`)))
          } else if (step.verb === 'refund') {
            const check = window({ key: step.slot === limits.length ? 'org_a:moved' : `org_a:${step.slot}` })
            const refunds = Array.from({ length: times })
            await Promise.all(refunds.map(() => ours.refund(check, step.units)))
            for (const _ of refunds) await reference.refund(check, step.units)
          } else if (step.verb === 'renew') {
            const answers = [ours, reference].map((each) => each.renew('org_a:s', `t${step.token}`, 20_000))
            const [given, expected] = await Promise.all(answers)
            expect(given).toBe(expected)
          } else {
            // Those that are asked in one turn share a run of the script.
            const calls = Array.from({ length: times }, (_, index) => step.checks.map(withToken(index)))
            const given = await Promise.all(calls.map((checks) => ours[step.verb](checks)))
            for (const [index, checks] of calls.entries())
              judge(checks, given[index] as LimitDecision, await reference[step.verb](checks))
          }
        }
        await ours.close()
      }),
      { numRuns: 120 },
    )
    expect(refused).toBeGreaterThan(200)
    expect(judged - refused).toBeGreaterThan(200)
  })

  it.each([200, 2_000])('decides what is ordinary as the limiter in memory does: limit %i', async (limit) => {
    let time = 1_800_000_000_000
    const clock = { now: () => time, monotonic: () => time, timer: () => () => {} }
    const [ours, reference] = [limiterAt(newPrefix(), () => time), memoryRateLimiter({ clock })]
    const checks = [window({ limit, burst: 1.2 * limit, burstMs: 10_000 }), window({ key: 'org_a:v', limit })]
    // Some units of a window have run out at most calls, and then several come at one time, or even in one turn.
    for (let step = 0; step < 400; step += 1) {
      time += [0, 0, 3, 0, 0, 7_001, 0][step % 7] ?? 0
      const together = Array.from({ length: 1 + (step % 4 === 3 ? 3 : 0) })
      for (const given of await Promise.all(together.map(() => ours.consume(checks)))) {
        const expected = await reference.consume(checks)
        expect(given.allowed).toBe(true)
        expect(given.states.map(rounded), `step ${step}`).toEqual(expected.states.map(rounded))
      }
    }
  })

  it('counts slots whose lease has ended as free, also when it removes them itself', async () => {
    let time = 1_800_000_000_000
    const limiter = limiterAt(newPrefix(), () => time)
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

  it('takes slots that are asked for in one turn each under its own token, and gives such back', async () => {
    const limiter = limiterAt(newPrefix())
    const check = { kind: 'slots', key: 'org_a:s', limit: 6, leaseMs: 60_000 } as const
    const take = (tokens: readonly string[]) =>
      Promise.all(tokens.map((token) => limiter.consume([{ ...check, token }, window({ limit: 100 })])))
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

  it('counts by the time of the server, whatever the time of the process', async () => {
    const prefix = newPrefix()
    const last = window({ limit: 1, windowMs: 3_600_000 })
    expect((await limiterAt(prefix).consume([last])).allowed).toBe(true)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 30 * 24 * 3_600_000 })
    const [state] = (await limiterAt(prefix).consume([last])).states
    expect(state?.allowed).toBe(false)
    expect(state?.retryAfterMs).toBeGreaterThan(0)
    expect(state?.retryAfterMs).toBeLessThanOrEqual(3_600_000)
  })

  it('gives units back when their time has passed', async () => {
    const limiter = limiterAt(newPrefix())
    const short = window({ limit: 1, windowMs: 150 })
    expect((await limiter.consume([short])).allowed).toBe(true)
    const { states } = await limiter.consume([short])
    // Never before, and exactly then: the wait is at least what was said, by whatever clock.
    await new Promise((resolve) => setTimeout(resolve, (states[0]?.retryAfterMs ?? 0) + 1))
    expect((await limiter.consume([short])).allowed).toBe(true)
  })

  it('shares counts between processes: a race for the last units gives each once', async () => {
    const options: ConsumeOptions = { url: server.url, prefix: newPrefix(), calls: 400, limit: 317 }
    const programs = [1, 2, 3].map(() => runProgram('consume', options))
    const said = await Promise.all(programs.map(({ said }) => said('allowed ')))
    const allowed = said.map((line) => Number(line.split(' ')[1]))
    expect(allowed.reduce((sum, each) => sum + each, 0)).toBe(317)
  })

  it('shares slots and pauses between clients', async () => {
    const prefix = newPrefix()
    const [one, other] = [limiterAt(prefix), limiterAt(prefix)]
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
    const limiter = limiterAt(newPrefix())
    const check = window({ limit: 3 })
    await limiter.consume([check])
    await redis.script('FLUSH')
    expect((await limiter.consume([check])).states[0]?.remaining).toBe(1)
    await redis.script('FLUSH')
    await limiter.pause('org_a:p', 1_000)
    await limiter.consume([{ kind: 'slots', key: 'org_a:s', limit: 1, token: 't', leaseMs: 1_000 }])
    await redis.script('FLUSH')
    expect(await limiter.renew('org_a:s', 't', 1_000)).toBe(true)
    await redis.script('FLUSH')
    await limiter.release('org_a:s', 't')
    expect(await limiter.renew('org_a:s', 't', 1_000)).toBe(false)
  })

  it('leaves no key that does not end by itself, and none for what was refused or only looked at', async () => {
    const prefix = newPrefix()
    const limiter = limiterAt(prefix)
    const slot: LimitCheck = { kind: 'slots', key: 'org_a:s', limit: 1, token: 'a', leaseMs: 30_000 }
    await limiter.peek([window(), slot, { kind: 'pause', key: 'org_a:p' }])
    await limiter.consume([window({ cost: 11 })])
    expect(await keysOf(prefix)).toEqual([])
    await limiter.consume([window(), slot])
    await limiter.consume([window()])
    await limiter.pause('org_a:p', 5_000)
    await limiter.pause('org_a:p', 1_000)
    await limiter.renew('org_a:s', 'a', 1_000)
    const left = Object.fromEntries(
      await Promise.all(
        (await keysOf(prefix)).map(async (key) => [key.slice(prefix.length), await redis.pttl(key)] as const),
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

  it('keeps a window within 16 bytes a unit and twice what is alive, however long it runs', async () => {
    const prefix = newPrefix()
    let time = 1_800_000_000_000
    const limiter = limiterAt(prefix, () => time)
    let most = 0
    for (const [key, limit, units] of [
      ['org_a:exact', 100, 100],
      ['org_a:grains', 1_000_000, 6_001],
    ] as const) {
      for (let call = 0; call < 3 * units; call += 1) {
        time += 60_000 / units
        await limiter.consume([window({ key, limit })])
        if (call % 50 === 0)
          most = Math.max(most, await redis.strlen(`${prefix}window:{org_a}:${key.slice(6)}`))
      }
      expect(most).toBeGreaterThan(16 * (units - 2))
      expect(most).toBeLessThan(80 + 16 * 2 * (units + 20))
    }
  })

  it('keeps units together above 1024, also in a window that began under a lower limit', async () => {
    const prefix = newPrefix()
    let time = 1_800_000_000_000
    const limiter = limiterAt(prefix, () => time)
    await limiter.consume([window({ limit: 100 })])
    for (let call = 0; call < 1_000; call += 1) {
      time += 1
      await limiter.consume([window({ limit: 10_000 })])
    }
    // One entry in ten milliseconds.
    expect(await redis.strlen(`${prefix}window:{org_a}:w`)).toBeLessThan(80 + 16 * 110)
  })

  it('keeps keys apart that look alike, and kinds of one name', async () => {
    const limiter = limiterAt(newPrefix())
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
        window({ key, limit: 1 }),
        { kind: 'slots', key, limit: 1, token: 't', leaseMs: 9_000 },
        { kind: 'pause', key },
      ])
      expect([key, allowed]).toEqual([key, true])
    }
    for (const key of names) expect((await limiter.peek([window({ key, limit: 1 })])).allowed).toBe(false)
  })

  it('uses a client that the application has, and leaves it open', async () => {
    const client = new Redis(server.url, { lazyConnect: true, keyPrefix: 'app:' })
    open.push(client)
    const prefix = newPrefix()
    const limiter = redisRateLimiter({ client, prefix, timeoutMs: 10_000 })
    expect((await limiter.consume([window()])).allowed).toBe(true)
    await limiter.close()
    expect(await client.ping()).toBe('PONG')
    expect(await redis.keys(`app:${prefix}*`)).toHaveLength(1)
  })

  it('checks over several organizations are one decision on one server', async () => {
    const limiter = limiterAt(newPrefix())
    const [a, b] = [window({ key: 'org_a:w' }), window({ key: 'org_b:w', limit: 1 })]
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
      },
    }
    const notifiers = await Promise.all(
      [1, 2].map(async () => {
        const notifier = createNotifier({
          plans,
          rateLimiter: redisRateLimiter({ url: server.url, prefix, timeoutMs: 10_000 }),
          channels: { email: { name: 'own', send: async () => ({ kind: 'accepted' }) } },
        })
        open.push({ close: () => notifier.stop() })
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
])('with %s it is refused', (_, options) => {
  expect(() => redisRateLimiter(options as never)).toThrow(
    expect.objectContaining({ code: 'invalid_configuration' }),
  )
})

function rounded(state: LimitState): LimitState {
  const round = (value: number): number => Math.round(value * 1_000) / 1_000
  const { allowed, granted, remaining, resetInMs, retryAfterMs } = state
  return { allowed, granted, remaining, resetInMs: round(resetInMs), retryAfterMs: round(retryAfterMs) }
}
