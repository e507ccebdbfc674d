import { afterEach, expect, it } from 'vitest'
import { resend } from '../../adapters/channels/resend/send.ts'
import { createNotifier, type Notifier } from '../../src/index.ts'
import { type ProviderServer, providerServer } from '../../src/testing/channel/provider-server.ts'
import { type FakeClock, fakeClock } from '../../src/testing/fake-clock.ts'
import type { HttpAct } from '../../src/testing/index.ts'
import { inMemory } from '../support/in-memory.ts'

/* What a provider's `Retry-After` does to the next attempt, through the engine and the adapter. */

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const mail = { channel: 'email', to: 'ada@example.com', subject: 'Hi', body: 'Hi' } as const

let clock: FakeClock
let server: ProviderServer
let notifier: Notifier

afterEach(async () => {
  await notifier.stop()
  await server.close()
})

/** A notifier whose provider has too many requests, and says so to the first mail. */
async function refusedOnce(retryAfter: string, options: { expiresInMs?: number } = {}): Promise<string> {
  clock = fakeClock()
  server = await providerServer({
    accept: (_, number) => ({ status: 200, body: { id: `id${number}` } }),
    overloaded: {
      status: 429,
      body: { statusCode: 429, name: 'rate_limit_exceeded', message: 'Slow down.' },
    },
  })
  const overloaded: HttpAct = { kind: 'overloaded', retryAfter }
  server.act(overloaded)
  notifier = createNotifier({
    clock,
    storage: inMemory(clock),
    // A day has too many polls for a test.
    delivery: { pollMs: HOUR, maxPauseMs: HOUR },
    channels: { email: resend({ apiKey: 're_x', from: 'a@example.org', baseUrl: server.url }) },
  })
  await notifier.start()
  const { expiresInMs } = options
  const { id } = await notifier.send({
    ...mail,
    ...(expiresInMs === undefined ? {} : { expiresAt: new Date(clock.now() + expiresInMs) }),
  })
  await expect
    .poll(async () => (await notifier.notifications.get(id)).timeline.map(({ event }) => event), {
      timeout: 5_000,
    })
    .toContain('attempt_failed')
  server.act({ kind: 'accept' })
  return id
}

it.each([
  ['of a number too large', '99999999999'],
  ['of more digits than a number holds', '9'.repeat(400)],
  ['of a date far away', 'Fri, 31 Dec 9999 23:59:59 GMT'],
])('a hint %s postpones the next attempt by a day, and no more', async (_what, retryAfter) => {
  const id = await refusedOnce(retryAfter)
  await clock.advance(24 * HOUR - MINUTE)
  expect(server.requests).toHaveLength(1)
  await clock.advance(2 * MINUTE)
  await expect
    .poll(async () => (await notifier.notifications.get(id)).status, { timeout: 5_000 })
    .toBe('sent')
  expect(server.requests).toHaveLength(2)
  const { timeline } = await notifier.notifications.get(id)
  const [failed, sent] = ['attempt_failed', 'sent'].map((name) =>
    timeline.find(({ event }) => event === name),
  )
  expect(failed?.error?.code).toBe('provider_rate_limited')
  expect(Date.parse(sent?.timestamp ?? '') - Date.parse(failed?.timestamp ?? '')).toBeGreaterThanOrEqual(
    24 * HOUR - MINUTE,
  )
})

it.each(['-5', 'NaN', 'soon', 'Thu, 01 Jan 1970 00:00:00 GMT'])(
  'a hint of %s leaves the channel its own delays',
  async (retryAfter) => {
    const id = await refusedOnce(retryAfter)
    await clock.advance(15 * MINUTE)
    await expect
      .poll(async () => (await notifier.notifications.get(id)).status, { timeout: 5_000 })
      .toBe('sent')
  },
)

it('a message that expires before the hint is over fails at once, and says why', async () => {
  const id = await refusedOnce('99999999999', { expiresInMs: HOUR })
  const { status, error, timeline } = await notifier.notifications.get(id)
  expect([status, error?.code]).toEqual(['failed', 'expired'])
  expect(timeline.map(({ event }) => event)).toEqual(expect.arrayContaining(['attempt_failed', 'failed']))
  expect(server.requests).toHaveLength(1)
})
