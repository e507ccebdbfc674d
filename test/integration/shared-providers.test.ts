import { afterEach, expect, it } from 'vitest'
import { redisRateLimiter } from '../../adapters/rate-limit/redis/index.ts'
import { sqlite } from '../../adapters/storage/sqlite/index.ts'
import { createNotifier } from '../../src/create-notifier.ts'
import type { Notifier } from '../../src/notifier.ts'
import { type Behaviour, recordingProvider } from '../../src/testing/recording-provider.ts'
import { eventually } from '../support/eventually.ts'
import { describeRedis, newPrefix, openRedisServer } from '../support/redis.ts'
import { temporaryFile } from '../support/sqlite-harness.ts'

const mail = { channel: 'email', to: 'ada@example.com', body: 'Hello' } as const

const cleanUp: (() => unknown)[] = []
afterEach(async () => {
  for (const clean of cleanUp.splice(0)) await clean()
})

/** Two notifiers with connections of their own to one database file and one Redis. */
async function pair(change: { readonly maxPerSecond?: number; readonly send?: Behaviour }) {
  const server = await openRedisServer()
  const { file, remove } = temporaryFile()
  const prefix = newPrefix()
  const calls: number[] = []
  const notifiers: Notifier[] = []
  for (let process = 0; process < 2; process += 1) {
    const channel = recordingProvider({
      maxConcurrent: 5,
      ...change,
      send(message, context) {
        calls.push(performance.now())
        return (change.send ?? (async () => ({ kind: 'accepted' })))(message, context)
      },
    })
    const notifier = createNotifier({
      channels: { email: channel },
      storage: sqlite({ file, synchronous: 'normal' }),
      rateLimiter: redisRateLimiter({ url: server.url, prefix }),
      delivery: { pollMs: 50 },
    })
    await notifier.start()
    notifiers.push(notifier)
    cleanUp.push(() => notifier.stop({ timeoutMs: 100 }))
  }
  cleanUp.push(remove, () => server.close())
  return { calls, one: notifiers[0] as Notifier, two: notifiers[1] as Notifier }
}

describeRedis('two notifiers that share a database and a Redis', () => {
  it('keep one pace together', async () => {
    const { one, calls } = await pair({ maxPerSecond: 10 })
    await one.sendBatch(Array.from({ length: 40 }, () => mail))
    await eventually(() => calls.length === 40, { withinMs: 60_000 })
    for (const from of calls) {
      const within = calls.filter((at) => at >= from && at < from + 1_000)
      expect(within.length).toBeLessThanOrEqual(10)
    }
  })

  it('rest together', async () => {
    const { one, two, calls } = await pair({
      send: async () => ({
        kind: 'retry',
        code: 'provider_suspended',
        scope: 'account',
        retryAfterMs: 3_600_000,
      }),
    })
    await one.send(mail)
    await eventually(() => calls.length > 0)
    await one.sendBatch(Array.from({ length: 20 }, () => mail))
    const state = async (notifier: Notifier) => (await notifier.health()).providers[0]?.state
    await eventually(async () => (await state(one)) === 'paused' && (await state(two)) === 'paused')
    // Of each at most what it had taken before it knew.
    expect(calls.length).toBeLessThanOrEqual(2 * 5)
  })
})
