import { expect } from 'vitest'
import type { Storage } from '../../../src/core/ports/storage/storage.ts'
import { createNotifier } from '../../../src/create-notifier.ts'
import type { Notifier } from '../../../src/notifier.ts'
import { type FakeClock, fakeClock, settled } from '../../../src/testing/fake-clock.ts'
import { recordingProvider } from '../../../src/testing/recording-provider.ts'
import { eventually } from '../eventually.ts'
import { httpReceiver } from '../receivers.ts'
import { unfinished } from '../unfinished.ts'
import { type Act, DELAYS_MS, LEASE_MS, type Model, type ModelNotification, statusOf } from './model.ts'
import { mortalClock, mortalStorage, newLife } from './mortal.ts'
import { endingAt, type Point } from './points.ts'

/** The whole service under a virtual clock, with a receiver on a real socket. */
export interface ModelWorld {
  readonly clock: FakeClock
  readonly notifier: Notifier
  /** In the order of the model's. */
  readonly ids: string[]
  /** Hand-overs by notification. */
  handOvers(id: string): number
  /** Resolves when the provider has the next message, which gets no answer. */
  hangOnce(): Promise<void>
  /** Stops in order and starts again. */
  restart(): Promise<void>
  /** Dies as it is. */
  die(): void
  /** Begins a life that dies at a commit; `over` resolves when it has. */
  dieAt(point: Point): Promise<{ readonly over: Promise<void> }>
  /** After a death. */
  rise(): Promise<void>
  compare(model: Model): Promise<void>
  close(): Promise<void>
}

const HOUR = 3_600_000

/** @param open opens the same database each time */
export async function modelWorld(open: (clock: FakeClock) => Storage): Promise<ModelWorld> {
  const receiver = await httpReceiver((response) => response.writeHead(200).end())
  const clock = fakeClock(Date.UTC(2026, 10, 21), quiet)
  const eyes = open(clock)
  await eyes.start()
  const ids: string[] = []
  const counts = new Map<string, number>()
  let hangs: (() => void) | null = null
  let life = newLife()
  let endpointId = ''
  let notifier: Notifier
  let stored: Storage
  let ending: { readonly point: Point; readonly ended: () => void } | null = null

  /** Nothing runs but what hangs: posts are real, so this waits for them. */
  async function quiet(): Promise<void> {
    await settled()
    if (life.dead) return
    await eventually(
      async () => {
        await settled()
        const { lanes } = await unfinished(eyes)
        return lanes.every(({ lane, due, leased }) => lane !== null || due + leased === 0)
      },
      { everyMs: 1, withinMs: 5_000 },
    )
  }

  function die(): void {
    life.die()
    void stored.stop()
  }

  const end = (at: { readonly ended: () => void }) => (): void => {
    die()
    at.ended()
  }

  async function rise(): Promise<void> {
    const current = newLife()
    life = current
    stored = open(clock)
    const alive = mortalStorage(stored, current)
    const storage =
      ending === null ? alive : mortalStorage(endingAt(alive, ending.point, end(ending)), current)
    notifier = createNotifier({
      channels: {
        email: recordingProvider({
          retry: { kind: 'schedule', delaysMs: DELAYS_MS, jitter: 0 },
          maxConcurrent: 100,
          send: async ({ body }, { notificationId, attempt }) => {
            counts.set(notificationId, (counts.get(notificationId) ?? 0) + 1)
            if (hangs !== null) {
              hangs()
              hangs = null
              await new Promise(() => {})
            }
            return outcome(body, notificationId, attempt)
          },
          parseReceipts: async (request) => ({
            kind: 'receipts',
            receipts: JSON.parse(new TextDecoder().decode(request.body)),
          }),
        }),
      },
      storage,
      clock: mortalClock(clock, current),
      webhooks: { allowHttp: true, allow: ['127.0.0.0/8'] },
      delivery: { leaseMs: LEASE_MS, pollMs: HOUR },
    })
    await notifier.start()
    if (endpointId === '') {
      const events = [
        'sent',
        'delivered',
        'failed',
        'opened',
        'clicked',
        'deferred',
        'cancelled',
        'complained',
      ]
      const { id } = await notifier.webhooks.create({
        url: `http://127.0.0.1:${receiver.port}/`,
        events: events.map((event) => `notification.${event}`) as never,
      })
      endpointId = id
    }
    await quiet()
  }

  async function publishedEvents(): Promise<Map<string, string[]>> {
    const found = new Map<string, string[]>()
    let cursor: string | undefined
    do {
      const page = await notifier.webhooks.deliveries(endpointId, { limit: 100, cursor })
      for (const { event, payload, status } of page.items) {
        expect(status).toBe('delivered')
        const { id } = JSON.parse(payload).data
        found.set(id, [...(found.get(id) ?? []), event.slice('notification.'.length)])
      }
      cursor = page.nextCursor ?? undefined
    } while (cursor !== undefined)
    return found
  }

  async function observe(): Promise<unknown> {
    const published = await publishedEvents()
    const { lanes } = await unfinished(eyes)
    const { items } = await notifier.suppressions.list()
    const [waiting = { due: 0, scheduled: 0, leased: 0 }] = lanes.filter(({ lane }) => lane !== null)
    const failed = await notifier.deadLetters.list({ limit: 100 })
    return {
      notifications: await Promise.all(
        ids.map(async (id) => {
          const { status, timeline } = await notifier.notifications.get(id)
          return {
            status,
            log: timeline.map((entry) => `${entry.event} ${entry.status}`),
            handOvers: counts.get(id) ?? 0,
            published: (published.get(id) ?? []).sort(),
          }
        }),
      ),
      deadLetters: failed.items.map(({ id }) => ids.indexOf(id)).sort((a, b) => a - b),
      suppressed: items.map(({ to }) => to).sort(),
      backlog: [waiting.due, waiting.scheduled, waiting.leased],
    }
  }

  function expected({ notifications, suppressed }: Model): unknown {
    const jobs = notifications.filter(({ dueAt }) => dueAt !== null)
    return {
      notifications: notifications.map((one) => ({
        status: statusOf(one),
        log: one.log,
        handOvers: one.handOvers,
        published: one.published.toSorted(),
      })),
      deadLetters: notifications.flatMap((one, index) => (statusOf(one) === 'failed' ? [index] : [])),
      suppressed: [...suppressed].sort(),
      backlog: [0, jobs.filter(isScheduled).length, jobs.filter(({ recovered }) => recovered).length],
    }
  }

  await rise()
  return {
    clock,
    ids,
    get notifier() {
      return notifier
    },
    handOvers: (id) => counts.get(id) ?? 0,
    hangOnce: () =>
      new Promise((resolve) => {
        hangs = resolve
      }),
    async restart() {
      await notifier.stop()
      await rise()
    },
    die,
    async dieAt(point) {
      await notifier.stop()
      const ended = new Promise<void>((resolve) => {
        ending = { point, ended: resolve }
      })
      await rise()
      ending = null
      return { over: ended }
    },
    rise,
    async compare(model) {
      await quiet()
      expect(await observe()).toEqual(expected(model))
    },
    async close() {
      await notifier.stop()
      const posted = new Set(receiver.requests.map(({ headers }) => headers['webhook-id']))
      const counted = await eyes.webhookEndpoints.deliveries({ endpointId }, { limit: 100, offset: 0 })
      for (const { eventId } of counted.items) expect(posted).toContain(eventId)
      await eyes.stop()
      await receiver.close()
    },
  }
}

const isScheduled = ({ recovered }: ModelNotification): boolean => !recovered

function outcome(body: string, id: string, attempt: number): unknown {
  const acts: readonly Act[] = JSON.parse(body).acts
  const providerMessageId = `${id}.${attempt}`
  switch (acts[Math.min(attempt, acts.length) - 1]) {
    case 'accept':
      return { kind: 'accepted', providerMessageId }
    case 'deliver':
      return { kind: 'accepted', providerMessageId, status: 'delivered' }
    case 'reject':
      return { kind: 'rejected', code: 'mailbox_full', scope: 'recipient' }
    case 'retry':
      return { kind: 'retry', code: 'mailbox_full', scope: 'recipient' }
    default:
      return { kind: 'ambiguous', reason: 'as told' }
  }
}
