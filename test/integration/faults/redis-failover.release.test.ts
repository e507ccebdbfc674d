import { Redis } from 'ioredis'
import { expect, it, onTestFinished } from 'vitest'
import { bullmqQueue } from '../../../adapters/queue/bullmq/index.ts'
import { redisRateLimiter } from '../../../adapters/rate-limit/redis/index.ts'
import { postgres } from '../../../adapters/storage/postgres/index.ts'
import { startProxy } from '../../../examples/production/proxy.ts'
import { type RedisServer, startRedis } from '../../../examples/servers/redis.ts'
import { isNotifierError } from '../../../src/core/errors/notifier-error.ts'
import { createNotifier } from '../../../src/create-notifier.ts'
import type { Notifier } from '../../../src/notifier.ts'
import { recordingProvider } from '../../../src/testing/recording-provider.ts'
import { eventually } from '../../support/eventually.ts'
import { describeWith } from '../../support/left-out.ts'
import { sharedPostgres, uniqueSchema, whyNoPostgres } from '../../support/postgres.ts'
import { describeOwnRedis, newPrefix } from '../../support/redis.ts'

interface Pair {
  readonly primary: RedisServer
  readonly replica: RedisServer
  /** Of whoever is the primary: what clients connect to, as the address of a managed Redis. */
  readonly url: string
  lead(to: RedisServer): void
}

async function newPair(): Promise<Pair> {
  const primary = await startRedis()
  onTestFinished(() => primary.remove())
  const replica = await startRedis(['--replicaof', '127.0.0.1', String(primary.port)])
  onTestFinished(() => replica.remove())
  await eventually(async () => (await tell(replica, 'INFO', 'replication')).includes('master_link_status:up'))
  let current = primary
  const proxy = await startProxy(() => [current.port])
  onTestFinished(() => proxy.close())
  return {
    primary,
    replica,
    url: `redis://127.0.0.1:${proxy.port}`,
    lead(to) {
      current = to
    },
  }
}

async function tell({ url }: RedisServer, ...command: readonly [string, ...string[]]): Promise<string> {
  const client = new Redis(url)
  try {
    return String(await client.call(...command))
  } finally {
    client.disconnect()
  }
}

/** The number of bytes of the replication stream that the server has written or applied. */
async function offset(server: RedisServer): Promise<number> {
  const info = await tell(server, 'INFO', 'replication')
  const field = info.includes('role:slave') ? 'slave_repl_offset' : 'master_repl_offset'
  return Number(new RegExp(`${field}:(\\d+)`).exec(info)?.[1])
}

type FailOver = (pair: Pair) => Promise<void>

const WAYS: readonly (readonly [string, FailOver])[] = [
  [
    'the primary dies, and clients are led to its replica too early',
    async ({ primary, replica, lead }) => {
      await primary.kill()
      lead(replica)
      await new Promise((resolve) => setTimeout(resolve, 300))
      await tell(replica, 'REPLICAOF', 'NO', 'ONE')
    },
  ],
  [
    'the primary lives on as a replica, and keeps its connections',
    async ({ primary, replica, lead }) => {
      await tell(replica, 'REPLICAOF', 'NO', 'ONE')
      lead(replica)
      await tell(primary, 'REPLICAOF', '127.0.0.1', String(replica.port))
    },
  ],
]

describeOwnRedis('redisRateLimiter under load, whose Redis fails over', () => {
  it.each(WAYS)('decides at the new primary, with what was counted: %s', async (_, failOver) => {
    const pair = await newPair()
    const limiter = redisRateLimiter({ url: pair.url, prefix: newPrefix(), timeoutMs: 2_000, onError() {} })
    onTestFinished(() => limiter.close())
    const window = {
      kind: 'window',
      key: 'org_a:w',
      limit: 1_000_000,
      windowMs: 600_000,
      burst: 1_000_000,
      burstMs: 0,
      cost: 1,
    } as const
    const others: unknown[] = []
    let decided = 0
    let remaining: number = window.limit
    let going = true
    const callers = Array.from({ length: 20 }, async () => {
      while (going) {
        try {
          const { states } = await limiter.consume([window])
          remaining = states[0]?.remaining ?? Number.NaN
          decided += 1
        } catch (error) {
          if (!isNotifierError(error) || error.code !== 'service_unavailable') others.push(error)
          await new Promise((resolve) => setTimeout(resolve, 5))
        }
      }
    })
    const more = async (): Promise<void> => {
      const before = decided
      await eventually(() => decided > before + 200)
    }
    await more()
    const before = window.limit - remaining
    const replicated = await offset(pair.primary)
    await eventually(async () => (await offset(pair.replica)) >= replicated)
    await failOver(pair)
    await more()
    going = false
    await Promise.all(callers)
    expect(others).toEqual([])
    expect(await tell(pair.replica, 'INFO', 'replication')).toContain('role:master')
    expect(window.limit - remaining).toBeGreaterThan(before)
  })
})

describeWith(whyNoPostgres(), 'on PostgreSQL', () => {
  describeOwnRedis('bullmqQueue under load, whose Redis fails over', () => {
    it.each(WAYS)('delivers everything once, and takes jobs again: %s', async (_, failOver) => {
      const pair = await newPair()
      const connectionString = await sharedPostgres()
      const schema = uniqueSchema()
      const email = recordingProvider()
      const make = (): Notifier => {
        const notifier = createNotifier({
          storage: postgres({ connectionString, schema, maxConnections: 4 }),
          channels: { email },
          queue: bullmqQueue({ url: pair.url, name: schema }),
          delivery: { pollMs: 500, leaseMs: 60_000 },
        })
        notifier.on('error', () => {})
        onTestFinished(() => notifier.stop({ timeoutMs: 1_000 }))
        return notifier
      }
      const [api, worker] = [make(), make()]
      await api.start({ deliver: false })
      await worker.start()
      const accepted: string[] = []
      let going = true
      const callers = [0, 1, 2, 3].map(async () => {
        while (going)
          accepted.push((await api.send({ channel: 'email', to: 'ada@example.com', body: 'x' })).id)
      })
      const more = async (): Promise<void> => {
        const before = accepted.length
        await eventually(() => accepted.length > before + 100)
      }
      await more()
      await failOver(pair)
      await more()
      await eventually(async () => (await api.health()).queue?.takes === true)
      await more()
      going = false
      await Promise.all(callers)
      await eventually(() => email.calls.length >= accepted.length)
      expect(email.calls.map(({ context }) => context.notificationId).sort()).toEqual(accepted.toSorted())
      // Added to the new primary, and taken from it.
      expect(await tell(pair.replica, 'EXISTS', `bull:${schema}:id`)).toBe('1')
      await eventually(async () => (await tell(pair.replica, 'LLEN', `bull:${schema}:wait`)) === '0')
    })
  })
})
