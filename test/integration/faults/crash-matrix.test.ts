import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { servedNotifier } from '../../../src/served-notifier.ts'
import type { Point } from '../../support/faults/points.ts'
import type { StorageLocation } from '../../support/faults/store.ts'
import { answering, type FaultWorld, faultWorld } from '../../support/faults/world.ts'
import { describeEachWith } from '../../support/left-out.ts'
import { sharedPostgres, uniqueSchema, whyNoPostgres } from '../../support/postgres.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import type { WorkOptions } from '../programs/work.ts'

const directory = temporaryDirectory()
const STORAGES: readonly (readonly [name: string, location: () => Promise<StorageLocation>])[] = [
  ['SQLite', async () => ({ sqlite: join(directory, 'crashes.db') })],
  ['PostgreSQL', async () => ({ postgres: { url: await sharedPostgres(), schema: uniqueSchema() } })],
]
const missing = (name: string): string | null => (name === 'PostgreSQL' ? whyNoPostgres() : null)

/** What the provider and the endpoint see of one notification, and how much of it the log calls possible. */
interface Seen {
  readonly handOvers: number
  readonly ambiguous: number
  readonly posts: number
}

const ONCE: Seen = { handOvers: 1, ambiguous: 0, posts: 1 }
type Crash = readonly [when: string, at: Point | 'provider' | 'endpoint', seen: Seen]
const CRASHES: readonly Crash[] = [
  ['before the accept is committed', 'before:accept', ONCE],
  ['after the accept, before its answer', 'after:accept', ONCE],
  ['after the claim', 'after:claim', ONCE],
  ['before the attempt is recorded', 'before:start', ONCE],
  // Nobody can know that the provider was not asked yet.
  ['after the attempt was recorded, before the call', 'after:start', { ...ONCE, ambiguous: 1 }],
  ['while the provider has the message', 'provider', { ...ONCE, handOvers: 2, ambiguous: 1 }],
  [
    "after the provider's answer, before it is recorded",
    'before:settle',
    { handOvers: 2, ambiguous: 1, posts: 1 },
  ],
  ['after the outcome was recorded', 'after:settle', ONCE],
  ['after the claim of the event', 'after:claim-event', ONCE],
  ['after the attempt at the event was recorded', 'after:start-event', ONCE],
  ['while the endpoint has the event', 'endpoint', { ...ONCE, posts: 2 }],
  ["after the endpoint's answer, before it is recorded", 'before:settle-event', { ...ONCE, posts: 2 }],
  ['after the outcome of the event was recorded', 'after:settle-event', ONCE],
]

/**
 * With a server each of them takes twice as long. The engine is the same, so by default only those are tried again whose
 * end is a commit of the server; all of them with CARILLON_SOAK_SECONDS.
 */
const WITH_A_SERVER: readonly string[] = [
  ...['after:accept', 'provider', 'before:settle', 'after:settle', 'before:settle-event'],
  ...['after:receipts', 'after:retry', 'after:sweep'],
]
const everything = process.env.CARILLON_SOAK_SECONDS !== undefined

const TEXT = { channel: 'email', to: 'ada@example.com' } as const

describeEachWith(STORAGES, missing, 'kill -9 on %s', (name, location) => {
  let world: FaultWorld
  const tried = (at: string): boolean => name === 'SQLite' || everything || WITH_A_SERVER.includes(at)
  const points = <At extends Point>(...all: readonly At[]): At[] => all.filter(tried)
  beforeAll(async () => {
    world = await faultWorld(await location())
  })
  afterAll(() => world?.close())

  /** Runs a process until it has died where it was to. */
  async function die(options: Partial<WorkOptions>): Promise<void> {
    const program = world.work({ deliver: false, ...options })
    expect(await program.ended, program.errors.join('\n')).toBe('SIGKILL')
  }

  async function timelineOf(id: string): Promise<string[]> {
    const { timeline } = await world.api.notifications.get(id)
    return timeline.map(({ event }) => event)
  }

  /** Everything that is published about a notification, as it is stored. */
  async function published(id: string): Promise<{ readonly event: string; readonly eventId: string }[]> {
    const { items } = await world.api.webhooks.deliveries(world.endpointId, { limit: 100 })
    const about = items.filter(({ payload }) => payload.includes(id))
    for (const { status } of about) expect(status).toBe('delivered')
    return about.map(({ event, eventId }) => ({ event, eventId })).reverse()
  }

  it.each(CRASHES.filter(([, at]) => tried(at)))('%s', async (_when, at, seen) => {
    const message = { ...TEXT, body: at }
    const idempotencyKey = at
    const killer = { kill: () => {} }
    if (at === 'provider') {
      answering(world, {
        onHit: ({ attempt, key }, response) =>
          attempt === 1 ? killer.kill() : response.writeHead(200).end(`${key}.${attempt}`),
      })
    }
    let posted = 0
    if (at === 'endpoint') {
      answering(world, {
        onPost: (_post, response) => {
          posted += 1
          if (posted === 1) killer.kill()
          else response.writeHead(200).end()
        },
      })
    }
    const program = world.work({
      task: { do: 'send', key: idempotencyKey, body: message.body },
      ...(at === 'provider' || at === 'endpoint' ? {} : { point: at }),
    })
    killer.kill = () => program.kill('SIGKILL')
    expect(await program.ended, program.errors.join('\n')).toBe('SIGKILL')

    const repeated = await world.api.send(message, { idempotencyKey })
    expect(repeated.replayed).toBe(at !== 'before:accept')
    const { id } = repeated
    for (const line of program.lines) if (line.startsWith('accepted')) expect(line).toBe(`accepted ${id}`)
    await world.recover()
    const { status, timeline } = await world.api.notifications.get(id)
    expect(status).toBe('sent')
    expect(timeline.filter(({ ambiguous }) => ambiguous).length).toBe(seen.ambiguous)
    const sent = timeline.filter(({ event }) => event === 'sent').map(({ attempt }) => attempt)
    expect(sent).toEqual([1 + seen.ambiguous])
    expect(timeline.length).toBe(2 + seen.ambiguous)
    const handOvers = world.hits.filter(({ body }) => body === at)
    // With one key, by which the provider can tell that they are the same.
    expect(handOvers.map(({ key }) => key)).toEqual(handOvers.map(() => id))
    expect(handOvers.length).toBe(seen.handOvers)
    const events = await published(id)
    expect(events.map(({ event }) => event)).toEqual(['notification.sent'])
    const posts = world.posts.filter(({ body }) => body.includes(id))
    expect(posts.map(({ headers }) => headers['webhook-id'])).toEqual(posts.map(() => events[0]?.eventId))
    expect(posts.length).toBe(seen.posts)
  })

  it.each(points('before:receipts', 'after:receipts'))(
    'amid a report of the provider, which repeats it (%s)',
    async (point) => {
      const { id } = await world.api.send({ ...TEXT, body: point })
      await world.recover()
      const fact = { type: 'delivered', providerMessageId: `${id}.1` } as const
      const receipts = [{ dedupeKey: point, fact }]
      await die({ point, task: { do: 'report', receipts } })
      expect(await timelineOf(id)).toHaveLength(point === 'before:receipts' ? 2 : 3)
      const body = new TextEncoder().encode(JSON.stringify(receipts))
      const arrival = { method: 'POST', target: '/', host: undefined, headers: {}, body }
      await servedNotifier(world.api).receipts.take({ channel: 'email', provider: 'http' }, arrival)
      expect(await timelineOf(id)).toEqual(['queued', 'sent', 'delivered'])
      await world.recover()
      const events = await published(id)
      expect(events.map(({ event }) => event)).toEqual(['notification.sent', 'notification.delivered'])
    },
  )

  it.each(points('before:retry', 'after:retry'))('amid a retry (%s)', async (point) => {
    answering(world, {
      onHit: ({ key, attempt }, response) =>
        response.writeHead(attempt === 1 ? 422 : 200).end(`${key}.${attempt}`),
    })
    const { id } = await world.api.send({ ...TEXT, body: point })
    await world.recover()
    expect(await timelineOf(id)).toEqual(['queued', 'failed'])
    await die({ point, task: { do: 'retry' } })
    const { retried } = await world.api.deadLetters.retry({ filter: {} })
    expect(retried).toBe(point === 'before:retry' ? 1 : 0)
    await world.recover()
    expect(await timelineOf(id)).toEqual(['queued', 'failed', 'retried', 'sent'])
    const hits = world.hits.filter(({ key }) => key.startsWith(id))
    expect(hits.map(({ attempt, key }) => [attempt, key])).toEqual([
      [1, id],
      [2, `${id}-1`],
    ])
    const events = await published(id)
    expect(events.map(({ event }) => event)).toEqual(['notification.failed', 'notification.sent'])
  })

  it.each(points('before:sweep', 'after:sweep'))('amid a step of the retention (%s)', async (point) => {
    const { id: young } = await world.api.send({ ...TEXT, body: point })
    await world.recover()
    const stored = async (): Promise<string[]> => {
      const { items } = await world.api.notifications.list({ limit: 100 })
      return items.map(({ id }) => id)
    }
    const before = await stored()
    const gone = point === 'after:sweep' ? before.slice(-1) : []
    await die({ point, task: { do: 'sweep', olderThanMs: 1 } })
    expect(await stored()).toEqual(before.filter((id) => !gone.includes(id)))
    expect(await published(young)).toHaveLength(1)
    for (const id of gone) {
      expect(await published(id)).toEqual([])
      await expect(timelineOf(id)).rejects.toMatchObject({ code: 'notification_not_found' })
    }
  })
})
