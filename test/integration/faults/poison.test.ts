import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { sqlite } from '../../../adapters/storage/sqlite/index.ts'
import { createNotifier } from '../../../src/create-notifier.ts'
import { fakeClock } from '../../../src/testing/fake-clock.ts'
import { type Behaviour, recordingProvider } from '../../../src/testing/recording-provider.ts'
import { openStorage } from '../../support/faults/store.ts'
import { drained } from '../../support/faults/world.ts'
import { runProgram } from '../../support/program.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import type { DeliverOptions } from '../programs/deliver.ts'

const directory = temporaryDirectory()
const ATTEMPTS = 3

const hostile: Record<string, unknown> = {
  get kind(): string {
    throw new Error('no kind')
  },
}
const circular: Record<string, unknown> = { kind: 'retry', scope: 'message', code: 'provider_error' }
circular.message = circular

/** What a plug-in can do to a message, and how that ends: nobody knows whether it was sent, or it was not. */
const POISONS: Readonly<Record<string, readonly [act: Behaviour, code: string]>> = {
  'throws at once': [
    () => {
      throw new TypeError('poison')
    },
    'delivery_unknown',
  ],
  'rejects with no error': [() => Promise.reject({ toString: null }), 'delivery_unknown'],
  'rejects with undefined': [() => Promise.reject(), 'delivery_unknown'],
  'never settles': [() => new Promise(() => {}), 'delivery_unknown'],
  'answers nothing': [() => undefined, 'delivery_unknown'],
  'answers a text': [async () => 'accepted', 'delivery_unknown'],
  'answers what throws when it is read': [async () => hostile, 'delivery_unknown'],
  'answers with an unknown kind': [async () => ({ kind: 'sent' }), 'delivery_unknown'],
  'answers with a circle': [async () => circular, 'attempts_exhausted'],
  'answers an outcome with nonsense in it': [
    async () => ({ kind: 'retry', scope: 7, code: {}, retryAfterMs: 'soon' }),
    'attempts_exhausted',
  ],
  'answers a thenable that throws': [
    () => ({
      // biome-ignore lint/suspicious/noThenProperty: that is the poison
      then() {
        throw new Error('poison')
      },
    }),
    'delivery_unknown',
  ],
}

it('a message over which its channel fails ends after its attempts, and its neighbours do not notice', async () => {
  const clock = fakeClock()
  const email = recordingProvider({
    timeoutMs: 1_000,
    maxConcurrent: 50,
    retry: { kind: 'schedule', delaysMs: Array.from({ length: ATTEMPTS - 1 }, () => 1_000), jitter: 0 },
    send(message, context) {
      const [act] = POISONS[message.body] ?? []
      return act === undefined ? { kind: 'accepted', providerMessageId: 'm' } : act(message, context)
    },
  })
  const notifier = createNotifier({
    channels: { email },
    clock,
    storage: sqlite({ file: join(directory, 'poison.db'), synchronous: 'normal', clock }),
    delivery: { pollMs: 60_000 },
  })
  await notifier.start()
  onTestFinished(async () => {
    const stopped = notifier.stop({ timeoutMs: 1 })
    await clock.advance(60_000)
    await stopped
  })
  const names = Object.keys(POISONS)
  const bodies = names.flatMap((name) => [name, 'neighbour', 'neighbour'])
  const { items } = await notifier.sendBatch(
    bodies.map((body) => ({ channel: 'email', to: 'ada@example.com', body })),
  )
  const ids = items.map((item) => ('id' in item ? item.id : ''))
  const statuses = async (): Promise<string[]> =>
    Promise.all(ids.map(async (id) => (await notifier.notifications.get(id)).status))
  await clock.until(async () => (await statuses()).every((status) => status !== 'queued'))
  for (const [index, id] of ids.entries()) {
    const body = bodies[index] ?? ''
    const { status, error } = await notifier.notifications.get(id)
    const calls = email.calls.filter(({ context }) => context.notificationId === id).length
    const expected = body in POISONS ? ['failed', POISONS[body]?.[1], ATTEMPTS] : ['sent', undefined, 1]
    expect([status, error?.code, calls], body).toEqual(expected)
  }
})

describe('a message that ends its process', () => {
  it.each(['throw later', 'reject later'])('by %s fails after its attempts, alone', async (how) => {
    const location = { sqlite: join(directory, `${how}.db`) }
    const storage = openStorage(location)
    await storage.start()
    onTestFinished(() => storage.stop())
    const ids = Array.from({ length: 9 }, (_, index) => `notif_${String(index).padStart(29, '0')}`)
    const poison = ids[4] ?? ''
    await storage.accept([
      {
        organizationId: 'org_default',
        notifications: ids.map((id) => ({
          id,
          channel: 'email',
          to: 'ada@example.com',
          content: { body: id === poison ? how : 'x' },
          lane: 'email',
          priority: 'normal',
          sendAt: null,
          expiresAt: null,
        })),
      },
    ])
    const options: DeliverOptions = {
      location,
      handOvers: join(directory, `${how}.log`),
      ...{ senders: 0, leaseMs: 300, timeoutMs: 150, maxAttempts: 2, slowMs: 20 },
    }
    let deaths = 0
    for (;;) {
      const program = runProgram('deliver', options)
      const end = await Promise.race([program.ended, drained(storage).then(() => 'drained')])
      if (end === 'drained') {
        program.kill('SIGTERM')
        expect(await program.ended).toBe(0)
        break
      }
      expect(end).not.toBe(0)
      deaths += 1
      expect(deaths).toBeLessThanOrEqual(2)
    }
    expect(deaths).toBe(2)
    expect(await storage.notifications.get(poison)).toMatchObject({
      status: 'failed',
      error: { code: 'delivery_unknown' },
    })
    for (const id of ids) {
      if (id !== poison) expect((await storage.notifications.get(id))?.status, id).toBe('sent')
    }
  })
})
