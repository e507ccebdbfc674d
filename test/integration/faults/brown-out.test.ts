import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it, onTestFinished } from 'vitest'
import { resend } from '../../../adapters/channels/resend/send.ts'
import { sqlite } from '../../../adapters/storage/sqlite/index.ts'
import { createNotifier } from '../../../src/create-notifier.ts'
import { recordingProvider } from '../../../src/testing/recording-provider.ts'
import { eventually } from '../../support/eventually.ts'
import { httpReceiver } from '../../support/receivers.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

const directory = temporaryDirectory()
const MESSAGES = 40
const TEXTS = 100
/** Requests at least, until the provider has recovered. */
const BROWN = 40

/**
 * Attempts of one message. It is the one that is tried after each rest, and what hangs may have been accepted: that counts
 * as the message's own, not as the provider's.
 */
const MOST = 1_000

type Ill = (response: ServerResponse) => void
const ILLNESSES: readonly Ill[] = [
  (response) => void response.writeHead(500).end('{"name":"application_error","message":"oops"}'),
  (response) => void response.writeHead(503).end('<html>down</html>'),
  (response) =>
    void response
      .writeHead(429, { 'retry-after': '1' })
      .end('{"name":"rate_limit_exceeded","message":"slow"}'),
  // It hangs: the deadline ends it.
  () => {},
  (response) => void setTimeout(() => response.writeHead(500).end(), 150),
  (response) => void response.destroy(),
]

it('a provider that is ill for a while costs attempts within bounds, loses nothing and holds up nobody else', async () => {
  const seed = Number(process.env.CARILLON_SEED ?? Date.now() % 1_000_000)
  const course = fc.sample(fc.constantFrom(...ILLNESSES), { seed, numRuns: BROWN })
  const accepted = new Map<string, number>()
  const asked = new Map<string, number>()
  let requests = 0
  let illFor = 0
  const sms = recordingProvider({ name: 'healthy' })
  const provider = await httpReceiver((response, { headers }) => {
    const key = String(headers['idempotency-key'])
    asked.set(key, (asked.get(key) ?? 0) + 1)
    requests += 1
    // It is not well before the others are through, however long they take.
    if (illFor < BROWN || sms.calls.length < TEXTS) {
      illFor += 1
      return course[illFor % BROWN]?.(response)
    }
    accepted.set(key, (accepted.get(key) ?? 0) + 1)
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ id: `re_${key}` }))
  })
  onTestFinished(() => provider.close())
  const notifier = createNotifier({
    channels: {
      email: resend({
        apiKey: 're_test',
        from: 'ada@example.com',
        baseUrl: `http://127.0.0.1:${provider.port}`,
        timeoutMs: 250,
        retry: { kind: 'exponential', maxAttempts: MOST, baseMs: 50, capMs: 200 },
      }),
      sms,
    },
    storage: sqlite({ file: join(directory, 'brown-out.db'), synchronous: 'normal' }),
    delivery: { maxPauseMs: 150, pollMs: 50 },
  })
  const told: string[] = []
  notifier.on('provider.paused', () => told.push('paused'))
  notifier.on('provider.resumed', () => told.push('resumed'))
  await notifier.start()
  onTestFinished(() => notifier.stop())

  const mails = await notifier.sendBatch(
    Array.from({ length: MESSAGES }, () => ({
      channel: 'email',
      to: 'bob@example.com',
      subject: 'x',
      body: 'x',
    })),
  )
  await eventually(() => requests > 3)
  const texts = Array.from({ length: TEXTS }, () => ({
    channel: 'sms' as const,
    to: '+491701234567',
    body: 'x',
  }))
  await notifier.sendBatch(texts)
  await eventually(() => sms.calls.length === TEXTS)

  const ids = mails.items.map((item) => ('id' in item ? item.id : ''))
  await eventually(
    async () => {
      const all = await Promise.all(ids.map((id) => notifier.notifications.get(id)))
      return all.every(({ status }) => status !== 'queued')
    },
    { withinMs: 90_000, everyMs: 100 },
  )
  let possible = 0
  for (const id of ids) {
    const { status, timeline } = await notifier.notifications.get(id)
    expect(status, `${id} (seed ${seed})`).toBe('sent')
    const marked = timeline.filter(({ ambiguous }) => ambiguous).length
    const attempts = timeline.filter(({ attempt }) => attempt !== null).length
    possible += marked
    expect(accepted.get(id), `${id} (seed ${seed})`).toBeGreaterThanOrEqual(1)
    expect(accepted.get(id), `${id} (seed ${seed})`).toBeLessThanOrEqual(1 + marked)
    // Every request is in the log.
    expect(attempts, `${id} (seed ${seed})`).toBeGreaterThanOrEqual(asked.get(id) ?? 0)
  }
  // It rested: the illness cost as many requests as it lasted, not so many of each message.
  expect(requests).toBeLessThanOrEqual(illFor + MESSAGES + possible)
  expect(told[0]).toBe('paused')
  expect(told.at(-1)).toBe('resumed')
})
