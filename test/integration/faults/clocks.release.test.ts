import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createNotifier } from '../../../src/create-notifier.ts'
import { fakeClock } from '../../../src/testing/fake-clock.ts'
import { recordingProvider } from '../../../src/testing/recording-provider.ts'
import { eventually } from '../../support/eventually.ts'
import { openStorage, type StorageLocation } from '../../support/faults/store.ts'
import { answering, drained, type FaultWorld, faultWorld } from '../../support/faults/world.ts'
import { inMemory } from '../../support/in-memory.ts'
import { describeEachWith } from '../../support/left-out.ts'
import { sharedPostgres, uniqueSchema, whyNoPostgres } from '../../support/postgres.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

const directory = temporaryDirectory()
const HOUR = 3_600_000
/** No lease of a process that lives ends by itself, however slow the machine is. */
const LONG_MS = 20_000
let databases = 0

async function newFile(): Promise<StorageLocation> {
  databases += 1
  return { sqlite: join(directory, `${databases}.db`) }
}

async function newSchema(): Promise<StorageLocation> {
  return { postgres: { url: await sharedPostgres(), schema: uniqueSchema() } }
}

const STORAGES: readonly (readonly [name: string, location: () => Promise<StorageLocation>])[] = [
  ['SQLite', newFile],
  ['PostgreSQL', newSchema],
]
const missing = (name: string): string | null => (name === 'PostgreSQL' ? whyNoPostgres() : null)

async function newWorld(location: () => Promise<StorageLocation> = newFile): Promise<FaultWorld> {
  const world = await faultWorld(await location())
  onTestFinished(() => world.close())
  return world
}

async function allEnded(world: FaultWorld): Promise<void> {
  const storage = openStorage(world.location)
  await storage.start()
  await drained(storage)
  await storage.stop()
}

describeEachWith(STORAGES, missing, 'processes on %s whose clocks are an hour apart', (_name, location) => {
  it('deliver nothing twice, nothing early and nothing late, by the clock of the storage', async () => {
    const world = await newWorld(location)
    const workers = [-HOUR, 0, HOUR].map((clockMs) => world.work({ clockMs, leaseMs: LONG_MS }))
    await Promise.all(workers.map((worker) => worker.said('started')))
    const arrivals = new Map<string, number>()
    answering(world, {
      onHit: ({ key, attempt }, response) => {
        arrivals.set(key, Date.now())
        setTimeout(() => response.writeHead(200).end(`${key}.${attempt}`), 20)
      },
    })
    const sendAt = Date.now() + 1_000
    const messages = Array.from({ length: 60 }, (_, index) => ({
      channel: 'email' as const,
      to: 'ada@example.com',
      body: 'x',
      // Far nearer than the clocks are apart.
      expiresAt: new Date(Date.now() + 600_000),
      ...(index % 2 === 0 ? { sendAt: new Date(sendAt) } : {}),
    }))
    const { items } = await world.api.sendBatch(messages)
    await eventually(() => arrivals.size === 60)
    await allEnded(world)
    for (const worker of workers) worker.kill('SIGTERM')
    for (const worker of workers) expect(await worker.ended).toBe(0)
    expect(world.hits.length).toBe(60)
    for (const [index, item] of items.entries()) {
      if (!('id' in item)) throw new Error('refused')
      const { timeline } = await world.api.notifications.get(item.id)
      expect(timeline.map(({ event }) => event).slice(1)).toEqual(['sent'])
      if (index % 2 === 0) expect(arrivals.get(item.id)).toBeGreaterThanOrEqual(sendAt)
    }
  })
})

describe('processes whose clocks are an hour apart', () => {
  it.each([HOUR, -HOUR])(
    'and each storage has its own (%i ms): a lease that looks expired costs a second hand-over, shown as such',
    async (storageClockMs) => {
      const world = await newWorld()
      answering(world, {
        onHit: ({ key, attempt }, response) =>
          void setTimeout(() => response.writeHead(200).end(`${key}.${attempt}`), 30),
      })
      // One machine has one clock; this is what a clock that is set forward or back does between two processes.
      const workers = [0, storageClockMs].map((ms) => world.work({ storageClockMs: ms, leaseMs: LONG_MS }))
      await Promise.all(workers.map((worker) => worker.said('started')))
      const message = { channel: 'email' as const, to: 'ada@example.com', body: 'x' }
      const { items } = await world.api.sendBatch(Array.from({ length: 40 }, () => message))
      await allEnded(world)
      for (const worker of workers) worker.kill('SIGTERM')
      for (const worker of workers) expect(await worker.ended).toBe(0)
      for (const item of items) {
        if (!('id' in item)) throw new Error('refused')
        const { status, timeline } = await world.api.notifications.get(item.id)
        expect(status).toBe('sent')
        expect(timeline.filter(({ event }) => event === 'sent')).toHaveLength(1)
        const seen = world.hits.filter(({ key }) => key === item.id)
        const marked = timeline.filter(({ ambiguous }) => ambiguous)
        expect(seen.length).toBeGreaterThanOrEqual(1)
        expect(seen.length - 1).toBeLessThanOrEqual(marked.length)
      }
    },
  )
})

describe('a clock that is set meanwhile', () => {
  it.each([HOUR, -HOUR])(
    '%i ms: what waits is delivered, at the latest when the clock says so',
    async (ms) => {
      const clock = fakeClock()
      const storage = inMemory(clock)
      const retry = { kind: 'schedule', delaysMs: [60_000], jitter: 0 } as const
      const email = recordingProvider({ retry })
      const notifier = createNotifier({ channels: { email }, storage, clock, delivery: { pollMs: 60_000 } })
      onTestFinished(async () => {
        const stopped = notifier.stop()
        await clock.advance(60_000)
        await stopped
      })
      await notifier.start()
      email.behave((_message, { attempt, notificationId: id }) =>
        attempt === 1
          ? { kind: 'retry', code: 'mailbox_full', scope: 'recipient' }
          : { kind: 'accepted', providerMessageId: id },
      )
      const { id } = await notifier.send({ channel: 'email', to: 'ada@example.com', body: 'x' })
      await clock.advance(1_000)
      expect(email.calls.length).toBe(1)
      clock.correct(ms)
      // Set forward it is due at once; set back it is due when the storage's clock has come there again.
      await clock.advance(ms > 0 ? 60_000 : HOUR - 1_000)
      expect(email.calls.length).toBe(ms > 0 ? 2 : 1)
      await clock.advance(120_000)
      expect(email.calls.length).toBe(2)
      expect((await notifier.notifications.get(id)).status).toBe('sent')
    },
  )
})
