import { inspect } from 'node:util'
import { Cluster, Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, test } from 'vitest'
import { type RedisRateLimiterOptions, redisRateLimiter } from '../../adapters/rate-limit/redis/index.ts'
import { type RedisServer, startRedis } from '../../examples/servers/redis.ts'
import { createNotifier } from '../../src/create-notifier.ts'
import { isNotifierError } from '../../src/domain/errors/notifier-error.ts'
import { perMinutePlans } from '../../src/domain/plans.ts'
import type { LimitCheck, RateLimiter, WindowCheck } from '../../src/ports/rate-limiter.ts'
import { rateLimiterContract } from '../../src/testing/rate-limiter/rate-limiter-contract.ts'
import { recordingProvider } from '../../src/testing/recording-provider.ts'
import { eventually } from '../support/eventually.ts'
import { describeOwnRedis, newPrefix, steeredRateLimiter } from '../support/redis.ts'

const window: WindowCheck = {
  kind: 'window',
  key: 'org_a:w',
  limit: 1_000_000,
  windowMs: 60_000,
  burst: 1_000_000,
  burstMs: 0,
  cost: 1,
}
const slot: LimitCheck = { kind: 'slots', key: 'org_a:s', limit: 5, token: 't', leaseMs: 60_000 }
const pause: LimitCheck = { kind: 'pause', key: 'org_a:p' }
const unavailable = expect.objectContaining({ code: 'service_unavailable', status: 503, retryAfterMs: 1_000 })

const open: { close?(): Promise<void>; disconnect?(): void }[] = []
afterEach(async () => {
  for (const each of open.splice(0)) {
    await each.close?.()
    each.disconnect?.()
  }
})

function limiterWith(options: RedisRateLimiterOptions): RateLimiter {
  const limiter = redisRateLimiter({ prefix: newPrefix(), timeoutMs: 2_000, ...options })
  open.push(limiter)
  return limiter
}

describeOwnRedis('redisRateLimiter, when its server goes', () => {
  let server: RedisServer
  beforeEach(async () => {
    server = await startRedis()
  })
  afterEach(() => server?.remove())

  /** Asks without a pause until it is ended, and keeps what came of it. */
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

  it.each(['kill', 'hang'])(
    'refuses while it is away (%s), under load, and decides again afterwards',
    async (how) => {
      const told: Error[] = []
      const limiter = limiterWith({ url: server.url, timeoutMs: 200, onError: (error) => told.push(error) })
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
    },
  )

  it('says why no connection comes, and nothing of the password', async () => {
    const admin = new Redis(server.url)
    await admin.config('SET', 'requirepass', 'secret')
    admin.disconnect()
    const told: Error[] = []
    const url = server.url.replace('127.', ':confidential@127.')
    const limiter = limiterWith({ url, timeoutMs: 500, onError: (error) => told.push(error) })
    await expect(limiter.consume([window])).rejects.toEqual(unavailable)
    expect(told[0]).toMatchObject({
      cause: {
        message: expect.stringContaining('is not ready'),
        cause: { message: expect.stringMatching(/WRONGPASS|NOAUTH/) },
      },
    })
    expect(inspect(told[0], { depth: 9, showHidden: true })).not.toContain('confidential')
  })

  it('keeps no slot that it took, or was to give back, while it did not answer', async () => {
    const limiter = limiterWith({ url: server.url, timeoutMs: 200, onError: () => {} })
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

  it('allows, uncounted, where that is wanted', async () => {
    const limiter = limiterWith({ url: server.url, onUnavailable: 'allow', onError: () => {} })
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
  ] as const)('shows in the metrics that it did not judge (%s)', async (onUnavailable, answer) => {
    const rateLimiter = limiterWith({ url: server.url, onUnavailable, onError: () => {} })
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

  it('refuses what a function says, by kind and key; one such check refuses its call', async () => {
    const asked: unknown[] = []
    const limiter = limiterWith({
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

  it('begins without a server, and decides when there is one', async () => {
    await server.kill()
    const limiter = limiterWith({ url: server.url, onError: () => {} })
    await expect(limiter.consume([window])).rejects.toEqual(unavailable)
    await expect(limiter.pause('org_a:p', 1_000)).rejects.toEqual(unavailable)
    await server.start()
    await eventually(async () => (await limiter.consume([window])).allowed)
  })

  it('leaves nothing waiting in a client of the application', async () => {
    const client = new Redis(server.url, { retryStrategy: () => 20 })
    client.on('error', () => {})
    open.push(client)
    const limiter = limiterWith({ client, onError: () => {} })
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

  it('says in a warning of the process that it is away, when nobody listens', async () => {
    const warned = new Promise<Error>((resolve) => {
      const look = (warning: Error): void => {
        if (warning.name !== 'CarillonRateLimiterWarning') return
        process.off('warning', look)
        resolve(warning)
      }
      process.on('warning', look)
    })
    const limiter = limiterWith({ url: server.url })
    await server.kill()
    await expect(limiter.consume([window])).rejects.toEqual(unavailable)
    expect((await warned).message).toContain('cannot use Redis')
  })

  it('takes a reply that is an error for an outage of that call alone', async () => {
    const prefix = newPrefix()
    const client = new Redis(server.url)
    open.push(client)
    const limiter = limiterWith({ url: server.url, prefix, onError: () => {} })
    await client.rpush(`${prefix}window:{org_a}:w`, 'not a window')
    await expect(limiter.consume([window])).rejects.toEqual(unavailable)
    expect((await limiter.consume([{ ...window, key: 'org_b:w' }])).allowed).toBe(true)
  })

  it('after close it connects no more', async () => {
    const limiter = limiterWith({ url: server.url, onError: () => {} })
    await limiter.consume([window])
    await limiter.close()
    await limiter.close()
    await expect(limiter.consume([window])).rejects.toEqual(unavailable)
    const never = limiterWith({ url: server.url, onError: () => {} })
    await never.close()
    await expect(never.consume([window])).rejects.toEqual(unavailable)
  })
})

describeOwnRedis('redisRateLimiter on a cluster of three', () => {
  const nodes: RedisServer[] = []
  let cluster: Cluster
  beforeAll(async () => {
    const settings = ['--cluster-enabled', 'yes', '--cluster-node-timeout', '10000']
    nodes.push(...(await Promise.all([1, 2, 3].map(() => startRedis(settings)))))
    const clients = nodes.map(({ url }) => new Redis(url))
    const bounds = [0, 5_461, 10_923, 16_384]
    for (const [index, client] of clients.entries()) {
      await client.call('CLUSTER', 'SET-CONFIG-EPOCH', String(index + 1))
      const first = bounds[index] ?? 0
      // One by one: Redis before 7 takes no ranges.
      const slots = Array.from({ length: (bounds[index + 1] ?? 0) - first }, (_, slot) => first + slot)
      await client.call('CLUSTER', 'ADDSLOTS', ...slots.map(String))
      await client.call('CLUSTER', 'MEET', '127.0.0.1', String(nodes[0]?.port))
    }
    await eventually(async () => {
      const infos = await Promise.all(clients.map((client) => client.call('CLUSTER', 'INFO')))
      return infos.every((info) => /state:ok[\s\S]*known_nodes:3/.test(String(info)))
    })
    for (const client of clients) client.disconnect()
    cluster = new Cluster(nodes.map(({ port }) => ({ host: '127.0.0.1', port })))
    cluster.on('error', () => {})
  })
  afterAll(async () => {
    cluster?.disconnect()
    for (const node of nodes) await node.remove()
  })

  const checksOf = (organization: string): LimitCheck[] => [
    { ...window, key: `${organization}:w`, limit: 3, burst: 3 },
    { ...slot, key: `${organization}:s` },
    { ...pause, key: `${organization}:p` },
  ]

  describe('keeps the contract', () => {
    rateLimiterContract(test, async () => {
      let time = 1_800_000_000_000
      const options = { client: cluster, prefix: newPrefix() }
      return {
        limiter: steeredRateLimiter(options, () => time),
        second: steeredRateLimiter(options, () => time),
        advance(ms) {
          time += ms
        },
      }
    })
  })

  it('keeps what is of one organization on one node, and uses all nodes', async () => {
    const prefix = newPrefix()
    const limiter = limiterWith({ client: cluster, prefix, timeoutMs: 10_000 })
    const organizations = Array.from({ length: 40 }, (_, at) => `org_${at}`)
    for (const each of organizations) {
      expect((await limiter.consume(checksOf(each))).allowed).toBe(true)
      await limiter.pause(`${each}:p`, 60_000)
    }
    const kept = await Promise.all(cluster.nodes('master').map((node) => node.keys(`${prefix}*`)))
    const tags = kept.map((keys) => new Set(keys.map((key) => /\{(.*)\}/.exec(key)?.[1])))
    for (const each of organizations) expect(tags.filter((tag) => tag.has(each))).toHaveLength(1)
    for (const tag of tags) expect(tag.size).toBeGreaterThan(0)
    expect(kept.flat()).toHaveLength(3 * organizations.length)
  })

  it('refuses checks of several organizations in one call as wrong configuration', async () => {
    const limiter = limiterWith({ client: cluster, timeoutMs: 10_000 })
    await expect(limiter.consume([...checksOf('org_a'), ...checksOf('org_b')])).rejects.toMatchObject({
      code: 'invalid_configuration',
    })
  })

  it('says of a client for a single server that it is wrong configuration', async () => {
    const limiter = limiterWith({ url: nodes[0]?.url, timeoutMs: 10_000 })
    const codeOf = (each: PromiseSettledResult<unknown>) =>
      each.status === 'fulfilled' ? 'decided' : each.reason.code
    const names = Array.from({ length: 40 }, (_, at) => `org_${at}`)
    // What is asked in one turn goes to one server, which does not have all of it.
    const together = await Promise.allSettled(names.map((name) => limiter.consume(checksOf(name))))
    expect(new Set(together.map(codeOf))).toEqual(new Set(['invalid_configuration']))
    const codes = new Set<string>()
    for (const name of names) {
      const [alone] = await Promise.allSettled([limiter.consume(checksOf(name))])
      if (alone !== undefined) codes.add(codeOf(alone))
    }
    // A third of the organizations happens to be on this node.
    expect(codes).toEqual(new Set(['decided', 'invalid_configuration']))
  })

  const organizations = Array.from({ length: 12 }, (_, at) => `org_${at}`)
  const needNoFullCoverage = () =>
    Promise.all(
      cluster.nodes('master').map((node) => node.config('SET', 'cluster-require-full-coverage', 'no')),
    )

  it('lets only those wait for a node that hangs whose keys it has', async () => {
    const limiter = limiterWith({ client: cluster, timeoutMs: 60_000 })
    await needNoFullCoverage()
    for (const each of organizations) await limiter.consume(checksOf(each))
    nodes[2]?.signal('SIGSTOP')
    try {
      let decided = 0
      const asked = organizations.map(async (each) => {
        await limiter.peek(checksOf(each))
        decided += 1
      })
      // All of them are asked in one turn.
      await eventually(async () => (decided > 0 ? true : null))
      expect(decided).toBeLessThan(organizations.length)
      nodes[2]?.signal('SIGCONT')
      await Promise.all(asked)
    } finally {
      nodes[2]?.signal('SIGCONT')
    }
  })

  it('decides for the organizations of two nodes while the third is away', async () => {
    const limiter = limiterWith({ client: cluster, onError: () => {} })
    await needNoFullCoverage()
    for (const each of organizations) await limiter.consume(checksOf(each))
    await nodes[2]?.kill()
    const verdicts = async (): Promise<string[]> => {
      const asked = organizations.map((each) => limiter.peek(checksOf(each)))
      const settled = await Promise.allSettled(asked)
      return settled.map((each) => (each.status === 'fulfilled' ? 'decided' : each.reason.code))
    }
    const during = await eventually(async () => {
      const now = await verdicts()
      return now.includes('service_unavailable') ? now : null
    })
    expect(new Set(during)).toEqual(new Set(['decided', 'service_unavailable']))
  })
})
