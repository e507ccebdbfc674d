import { Cluster, Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'
import { type RedisServer, startRedis } from '../../examples/servers/redis.ts'
import type { LimitCheck } from '../../src/core/ports/rate-limiter.ts'
import { rateLimiterContract } from '../../src/testing/rate-limiter/rate-limiter-contract.ts'
import { eventually } from '../support/eventually.ts'
import { describeOwnRedis, newPrefix, steeredRateLimiter } from '../support/redis.ts'
import { redisLimiter } from '../support/redis-limiter.ts'
import { windowCheck } from '../support/window-check.ts'

const window = windowCheck({ limit: 1_000_000 })
const slot: LimitCheck = { kind: 'slots', key: 'org_a:s', limit: 5, token: 't', leaseMs: 60_000 }
const pause: LimitCheck = { kind: 'pause', key: 'org_a:p' }

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

  it('keeps each organization on one node, and uses all nodes', async () => {
    const prefix = newPrefix()
    const limiter = redisLimiter({ client: cluster, prefix, timeoutMs: 10_000 })
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

  it('refuses checks of several organizations in one call as a wrong configuration', async () => {
    const limiter = redisLimiter({ client: cluster, timeoutMs: 10_000 })
    await expect(limiter.consume([...checksOf('org_a'), ...checksOf('org_b')])).rejects.toMatchObject({
      code: 'invalid_configuration',
    })
  })

  it('refuses a client for a single server as a wrong configuration', async () => {
    const limiter = redisLimiter({ url: nodes[0]?.url, timeoutMs: 10_000 })
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

  it('delays only the organizations of a hanging node', async () => {
    const limiter = redisLimiter({ client: cluster, timeoutMs: 60_000 })
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

  it('decides for the organizations of two nodes while the third is down', async () => {
    const limiter = redisLimiter({ client: cluster, onError: () => {} })
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
