import assert from 'node:assert/strict'
import type { SendContext } from '../../core/ports/provider.ts'
import type { Queue } from '../../core/ports/queue.ts'
import {
  type RecordingProvider,
  type RecordingProviderOptions,
  recordingProvider,
} from '../recording-provider.ts'
import { Absent, skippable, type TestApi } from '../test-api.ts'
import { witnessed } from '../witness.ts'
import type { ContractMessage, QueueHarness, QueueNotifier } from './harness.ts'
import { type QueueProcess, startProgram } from './queue-program.ts'
import { ARRIVAL, refChecks } from './refs.ts'
import { PATIENCE_MS, sleep, until } from './wait.ts'

export type { QueueHarness, QueueNotifier, QueueNotifierOptions } from './harness.ts'
export { queueProgram } from './queue-program.ts'

/** So rare that every delivery must have come through the engine. */
const NEVER_MS = 3_600_000
/** Short enough for a test. */
const SWEEP_MS = 500
/** A lease that outlasts every check but the one that waits for it. */
const LEASE_MS = 60_000

function message(change: Partial<ContractMessage> = {}): ContractMessage {
  return { channel: 'email', to: 'ada@example.com', body: 'Hello', ...change }
}

const inMs = (ms: number): string => new Date(Date.now() + ms).toISOString()

const idsOf = (...channels: RecordingProvider[]): string[] =>
  channels.flatMap(({ calls }) => calls.map(({ context }) => context.notificationId))

function assertOnce(handedOver: readonly string[], sent: readonly string[]): void {
  assert.deepEqual([...handedOver].sort(), [...sent].sort())
}

/** Takes time, and counts concurrent messages. */
function slowly(ms: number): RecordingProviderOptions['send'] & { most: number; running: number } {
  const counted = Object.assign(
    async (_message: unknown, { notificationId }: SendContext) => {
      counted.running += 1
      counted.most = Math.max(counted.most, counted.running)
      await sleep(ms)
      counted.running -= 1
      return { kind: 'accepted', providerMessageId: notificationId }
    },
    { most: 0, running: 0 },
  )
  return counted
}

/** Enqueues everything twice. */
function doubled(queue: Queue): Queue {
  const { transactional } = queue
  return {
    ...queue,
    transactional: transactional && {
      ...transactional,
      async enqueue(run, refs) {
        await transactional.enqueue(run, refs)
        await transactional.enqueue(run, refs)
      },
    },
    async enqueue(refs) {
      await queue.enqueue(refs)
      await queue.enqueue(refs)
    },
  }
}

/** Enqueues nothing. */
function deaf(queue: Queue): Queue {
  const { transactional } = queue
  return {
    ...queue,
    transactional: transactional && { ...transactional, async enqueue() {} },
    async enqueue() {},
  }
}

/** An engine tells its faults as events. */
function explain(failure: unknown, events: readonly unknown[]): void {
  if (failure instanceof Error && !(failure instanceof Absent)) failure.cause ??= events.at(-1)
}

function assertSpeaks(silence: unknown): void {
  if (silence === undefined) return
  throw new Error('Not run: nothing comes from the engine, as an earlier check found.', { cause: silence })
}

/**
 * The contract of all queue engines and of the built-in dispatch: see docs/tasks/custom-queue.md. Uses real time.
 *
 * @example
 * queueContract(test, async () => ({
 *   queue: () => tableQueue({ connectionString }),
 *   notifier: (options) => createNotifier({ storage: postgres({ connectionString }), ...options }),
 *   program: [new URL('./table-queue.program.ts', import.meta.url)],
 *   lose: () => query('TRUNCATE ref_sets'),
 *   takeAway: null,
 *   close: () => query('DROP SCHEMA carillon CASCADE'),
 * }))
 */
export function queueContract(test: TestApi, create: () => Promise<QueueHarness>): void {
  interface World {
    readonly harness: QueueHarness
    /** Takes the errors that explain a failure. */
    onError(error: unknown): void
    start(
      channels: Readonly<Record<string, RecordingProvider>>,
      options?: { readonly queue?: Queue; readonly pollMs?: number; readonly deliver?: boolean },
    ): Promise<QueueNotifier>
    /** Starts the harness' program, which ends with the check. */
    spawn(): Promise<QueueProcess>
    sendAll(notifier: QueueNotifier, count: number, change?: Partial<ContractMessage>): Promise<string[]>
  }

  /** Why nothing comes. All other checks would wait for it. */
  let silence: unknown

  function check(name: string, run: (world: World) => Promise<void>): void {
    skippable(test)(name, async () => {
      assertSpeaks(silence)
      const created = await create()
      const started: QueueNotifier[] = []
      const spawned: QueueProcess[] = []
      const errors: unknown[] = []
      try {
        await witnessed(created, [], (harness) => run(worldOf(harness)))
      } catch (error) {
        explain(error, errors)
        if (name === ARRIVAL) silence = error
        throw error
      } finally {
        await Promise.all(spawned.map((program) => program.kill()))
        await Promise.all(started.map((notifier) => notifier.stop({ timeoutMs: 1_000 })))
        await created.close()
      }

      function worldOf(harness: QueueHarness): World {
        return {
          harness,
          onError: (error) => errors.push(error),
          async start(channels, { queue = harness.queue() ?? undefined, pollMs, deliver = true } = {}) {
            // Without an engine, the poll finds the work of other processes.
            const delivery = { pollMs: pollMs ?? (queue === undefined ? 50 : NEVER_MS), leaseMs: LEASE_MS }
            const notifier = harness.notifier({ channels, queue, delivery, plans: {} })
            notifier.on('error', (error) => errors.push(error))
            started.push(notifier)
            await notifier.start({ deliver })
            return notifier
          },
          async spawn() {
            const program = await startProgram(harness.program)
            spawned.push(program)
            return program
          },
          async sendAll(notifier, count, change) {
            const sends = Array.from({ length: count }, () => notifier.send(message(change)))
            return (await Promise.all(sends)).map(({ id }) => id)
          },
        }
      }
    })
  }

  refChecks(check)

  check('what is accepted is delivered exactly once, singly and in a batch', async ({ start, sendAll }) => {
    const email = recordingProvider()
    const sms = recordingProvider()
    const notifier = await start({ email, sms })
    const ids = await sendAll(notifier, 100)
    ids.push(...(await sendAll(notifier, 20, { channel: 'sms', to: '+491701234567' })))
    const batch = Array.from({ length: 500 }, () => message())
    assert.equal((await notifier.sendBatch(batch)).accepted, 500)
    await until('620 deliveries', () => idsOf(email, sms).length, 620)
    await sleep(300)
    assert.equal(new Set(idsOf(email, sms)).size, 620)
    assert.equal(idsOf(email, sms).length, 620)
    for (const id of ids) assert.ok(idsOf(email, sms).includes(id))
  })

  check('processes share the work, also of one that only accepts', async ({ start, sendAll }) => {
    const [one, other] = [recordingProvider({ send: slowly(20) }), recordingProvider({ send: slowly(20) })]
    const api = await start({ email: recordingProvider() }, { deliver: false })
    await start({ email: one })
    await start({ email: other })
    const ids: string[] = []
    const leastOf = (): number => Math.min(one.calls.length, other.calls.length)
    // Waits for a slow connection: the other process takes the first messages.
    const share = async (): Promise<number> => {
      ids.push(...(await sendAll(api, 30)))
      return leastOf()
    }
    await until('a share of 30 for each process', share, 30)
    await until('all deliveries', () => idsOf(one, other).length, ids.length)
    await sleep(200)
    assertOnce(idsOf(one, other), ids)
  })

  check('what is announced twice is delivered once', async ({ harness, start, sendAll }) => {
    const queue = harness.queue()
    const email = recordingProvider()
    const notifier = await start({ email }, queue === null ? {} : { queue: doubled(queue) })
    const ids = await sendAll(notifier, 50)
    ids.push((await notifier.send(message({ sendAt: inMs(300) }))).id)
    await until('51 deliveries', () => email.calls.length, 51)
    await sleep(500)
    assertOnce(idsOf(email), ids)
  })

  check('announcements that are lost on their way are made up for', async ({ harness, start, sendAll }) => {
    const queue = harness.queue()
    const email = recordingProvider()
    const lost = queue === null ? {} : { queue: deaf(queue) }
    const notifier = await start({ email }, { ...lost, pollMs: SWEEP_MS })
    await sleep(100)
    const ids = await sendAll(notifier, 200)
    await until('200 deliveries', () => email.calls.length, 200)
    assertOnce(idsOf(email), ids)
  })

  check('an engine that forgets everything loses nothing', async ({ harness, start, sendAll }) => {
    const email = recordingProvider()
    const notifier = await start({ email }, { pollMs: SWEEP_MS })
    const ids = await sendAll(notifier, 30, { sendAt: inMs(1_500) })
    await sleep(200)
    await harness.lose()
    ids.push(...(await sendAll(notifier, 30)))
    await until('60 deliveries', () => email.calls.length, 60)
    await sleep(200)
    assertOnce(idsOf(email), ids)
  })

  check('a retry comes when it is due', async ({ start }) => {
    const times: number[] = []
    const email = recordingProvider({
      send(_message, { attempt }) {
        times.push(performance.now())
        const retry = { kind: 'retry', code: 'provider_error', scope: 'message', retryAfterMs: 1_000 }
        return attempt === 1 ? retry : { kind: 'accepted', providerMessageId: 'm' }
      },
    })
    const notifier = await start({ email })
    const { id } = await notifier.send(message())
    await until('a second attempt', () => times.length, 2)
    const waited = (times[1] ?? 0) - (times[0] ?? 0)
    assert.ok(waited >= 990, `${waited} ms`)
    await until('sent', async () => (await notifier.notifications.get(id)).status === 'sent')
  })

  check('what is scheduled comes at its time; what is cancelled before, never', async ({ start }) => {
    const email = recordingProvider()
    const notifier = await start({ email })
    const began = performance.now()
    // Late enough for the cancellation to come first.
    const cancelled = await notifier.send(message({ sendAt: inMs(3_000), to: 'never@example.com' }))
    const { id } = await notifier.send(message({ sendAt: inMs(3_000), to: 'due@example.com' }))
    await notifier.notifications.cancel(cancelled.id)
    await email.waitFor({ to: 'due@example.com' }, { withinMs: PATIENCE_MS })
    assert.ok(performance.now() - began >= 2_900)
    await sleep(500)
    assertOnce(idsOf(email), [id])
    assert.equal((await notifier.notifications.get(cancelled.id)).status, 'cancelled')
  })

  check('what is rescheduled comes at its new time, once', async ({ start }) => {
    const times = new Map<string, number>()
    const email = recordingProvider({
      send({ to }) {
        times.set(to, performance.now())
        return { kind: 'accepted', providerMessageId: to }
      },
    })
    const notifier = await start({ email })
    const began = performance.now()
    // Late enough for the new times to come first.
    const [later, earlier, now] = await Promise.all(
      [2_000, 3_600_000, 3_600_000].map(async (ms, index) => {
        const sent = await notifier.send(message({ sendAt: inMs(ms), to: `${index}@example.com` }))
        return sent.id
      }),
    )
    await notifier.notifications.reschedule(later ?? '', { sendAt: inMs(4_000) })
    await notifier.notifications.reschedule(earlier ?? '', { sendAt: inMs(2_000) })
    await notifier.notifications.reschedule(now ?? '', { sendAt: null })
    await until('3 deliveries', () => times.size, 3)
    const waited = (index: number): number => (times.get(`${index}@example.com`) ?? 0) - began
    assert.ok(waited(0) >= 3_900, `later: ${waited(0)} ms`)
    assert.ok(waited(1) >= 1_900, `earlier: ${waited(1)} ms`)
    await sleep(500)
    assertOnce(idsOf(email), [later ?? '', earlier ?? '', now ?? ''])
  })

  check('a provider has no more under way than it may', async ({ start, sendAll }) => {
    const send = slowly(10)
    const email = recordingProvider({ maxConcurrent: 2, send })
    const notifier = await start({ email })
    const ids = await sendAll(notifier, 60)
    await until('60 deliveries', () => email.calls.length, 60)
    assertOnce(idsOf(email), ids)
    assert.equal(send.most, 2)
  })

  check('a provider that hangs holds up only itself', async ({ start, sendAll }) => {
    const email = recordingProvider({ maxConcurrent: 2, send: () => new Promise(() => {}) })
    const sms = recordingProvider()
    const notifier = await start({ email, sms })
    await sendAll(notifier, 300)
    const ids = await sendAll(notifier, 50, { channel: 'sms', to: '+491701234567' })
    await until('50 text messages', () => sms.calls.length, 50)
    assertOnce(idsOf(sms), ids)
    assert.equal(email.calls.length, 2)
  })

  check("one organization's backlog delays another by a round", async ({ start }) => {
    const email = recordingProvider({ maxConcurrent: 5, send: slowly(5) })
    const notifier = await start({ email })
    const other = await notifier.organizations.create({ name: 'Other' })
    await notifier.sendBatch(Array.from({ length: 1_000 }, () => message()))
    await until('a beginning', () => email.calls.length, 11)
    const before = email.calls.length
    const { id } = await notifier.organization(other.id).send(message())
    await until('the delivery of the other', () => idsOf(email).includes(id))
    const behind = idsOf(email).indexOf(id) - before
    assert.ok(behind < 200, `${behind} went before it`)
  })

  check('a stop waits for what runs and leaves the rest to others', async ({ start, sendAll }) => {
    const first = recordingProvider({ maxConcurrent: 4, send: slowly(50) })
    const notifier = await start({ email: first })
    const ids = await sendAll(notifier, 60)
    await until('a beginning', () => first.calls.length, 8)
    await notifier.stop({ timeoutMs: 5_000 })
    const handed = first.calls.length
    assert.ok(handed < 60)
    await sleep(200)
    assert.equal(first.calls.length, handed)
    const second = recordingProvider()
    await start({ email: second })
    await until('60 deliveries', () => idsOf(first, second).length, 60)
    await sleep(200)
    assertOnce(idsOf(first, second), ids)
  })

  check('a process that is killed loses nothing', async ({ start, spawn, sendAll }) => {
    const api = await start({ email: recordingProvider() }, { deliver: false })
    const victim = await spawn()
    const ids = await sendAll(api, 100)
    await until('a beginning', () => victim.handedOver().length, 10)
    await victim.kill()
    const email = recordingProvider()
    await start({ email }, { pollMs: SWEEP_MS })
    const all = (): string[] => [...new Set([...victim.handedOver(), ...idsOf(email)])]
    const isSent = async (id: string): Promise<boolean> => (await api.notifications.get(id)).status === 'sent'
    const countSent = async (): Promise<number> => (await Promise.all(ids.map(isSent))).filter(Boolean).length
    await until('sent messages', countSent, 100)
    assertOnce(all(), ids)
    // Only messages under way or unrecorded may be handed over twice.
    const handed = victim.handedOver().length + email.calls.length
    assert.ok(handed <= 120, `${handed} for 100`)
    assert.ok(email.calls.length > 0)
  })

  check('while the server of the engine is away, all goes on', async ({ harness, start, sendAll }) => {
    if (harness.takeAway === null) throw new Absent('The engine has no server of its own.')
    const email = recordingProvider()
    const notifier = await start({ email }, { pollMs: SWEEP_MS })
    const errors: Error[] = []
    notifier.on('error', (error) => errors.push(error))
    const ids = await sendAll(notifier, 10)
    await until('10 deliveries', () => email.calls.length, 10)
    const bringBack = await harness.takeAway()
    ids.push(...(await sendAll(notifier, 10)))
    await until('20 deliveries', () => email.calls.length, 20)
    await until('a report', async () => errors.length > 0 && (await notifier.health()).queue?.takes === false)
    await bringBack()
    await until('its return', async () => {
      ids.push(...(await sendAll(notifier, 1)))
      await sleep(300)
      return (await notifier.health()).queue?.takes === true
    })
    await until('all deliveries', () => email.calls.length, ids.length)
    await sleep(300)
    assertOnce(idsOf(email), ids)
    assert.ok(errors.length < 20, `${errors.length} reports`)
  })
}
