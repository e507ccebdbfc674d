import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createLinkSigner } from '../../../src/core/links/link-signer.ts'
import { systemClock } from '../../../src/core/loop/system-clock.ts'
import type { Person } from '../../../src/features/recipients/options.ts'
import type { Point } from '../../support/faults/points.ts'
import type { StorageLocation } from '../../support/faults/store.ts'
import { answering, type FaultWorld, faultWorld } from '../../support/faults/world.ts'
import { describeEachWith } from '../../support/left-out.ts'
import { emailHash } from '../../support/person-hashes.ts'
import { sharedPostgres, uniqueSchema, whyNoPostgres } from '../../support/postgres.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import type { WorkOptions } from '../programs/work.ts'

const directory = temporaryDirectory()
const STORAGES: readonly (readonly [name: string, location: () => Promise<StorageLocation>])[] = [
  ['SQLite', async () => ({ sqlite: join(directory, 'people.db') })],
  ['PostgreSQL', async () => ({ postgres: { url: await sharedPostgres(), schema: uniqueSchema() } })],
]
const missing = (name: string): string | null => (name === 'PostgreSQL' ? whyNoPostgres() : null)

const secret = 'the secret of this service, long enough'
const system = systemClock()
/** What was resolved at the accept is looked up again. */
const LATER = { ...system, now: () => system.now() + 2 * 60_000 }
/** Two mailboxes: a group. */
const ADA: Person = { channels: { email: ['ada@example.com', 'ada@example.org'] } }
const MOVED: Person = { channels: { email: 'moved@example.com' } }

describeEachWith(STORAGES, missing, 'kill -9 amid messages to people on %s', (_name, location) => {
  let world: FaultWorld
  let ada = ADA
  beforeAll(async () => {
    world = await faultWorld(await location(), {
      recipients: { resolve: (ids) => new Map(ids.map((id) => [id, ada])) },
      categories: { news: { name: 'News' } },
      secret,
    })
  })
  afterAll(() => world?.close())

  /** Runs a process until it has died where it was to. */
  async function die(options: Partial<WorkOptions>): Promise<void> {
    const program = world.work({ secret, ...options })
    expect(await program.ended, program.errors.join('\n')).toBe('SIGKILL')
  }

  async function timelineOf(id: string): Promise<string[]> {
    const { timeline } = await world.api.notifications.get(id)
    return timeline.map(({ event }) => event)
  }

  /** A message to one person that is accepted and waits. */
  const send = async (recipient: string, body: string) =>
    (await world.api.send({ channel: 'email', recipient, body, category: 'news' })).id

  it.each<readonly [Point, readonly string[]]>([
    // Nothing is stored, so that the repetition asks for the person of now.
    ['before:accept', ['moved@example.com']],
    ['after:accept', ['ada@example.com', 'ada@example.org']],
  ])('a person is resolved once for all of a group, or not at all (%s)', async (point, to) => {
    const task = { do: 'send', key: point, body: point, recipient: point } as const
    await die({ point, deliver: false, people: { [point]: ADA }, task })
    ada = MOVED
    const message = { channel: 'email', recipient: point, body: point } as const
    const repeated = await world.api.send(message, { idempotencyKey: point })
    ada = ADA
    expect([repeated.replayed, repeated.to]).toEqual([point === 'after:accept', to[0]])
    await world.recover()
    const { items } = await world.api.notifications.list({ recipient: point })
    expect(items.map((one) => [one.to, one.status]).sort()).toEqual(to.map((one) => [one, 'sent']))
    expect(items.map(({ groupId }) => groupId)).toEqual(to.map(() => repeated.groupId ?? null))
    expect(world.hits.filter(({ body }) => body === point)).toHaveLength(to.length)
  })

  it('between two attempts: the next one goes to the address of then', async () => {
    ada = { channels: { email: 'ada@example.com' } }
    const id = await send('between', 'between')
    answering(world, {
      onHit: ({ key, attempt }, response) =>
        void response.writeHead(attempt === 1 ? 503 : 200).end(`${key}.${attempt}`),
    })
    await die({ point: 'after:settle', people: { between: ada } })
    expect(await timelineOf(id)).toEqual(['queued', 'attempt_failed'])
    ada = MOVED
    await world.recover({ clock: LATER })
    expect(await timelineOf(id)).toEqual(['queued', 'attempt_failed', 'sent'])
    expect((await world.api.notifications.get(id)).to).toBe('moved@example.com')
    expect(world.hits.filter(({ key }) => key === id).map(({ attempt }) => attempt)).toEqual([1, 2])
  })

  it('a preference that changes while a message waits: it is skipped, also by the next process', async () => {
    ada = { channels: { email: 'waiting@example.com' } }
    const id = await send('waiting', 'waiting')
    await world.api.preferences.change({ recipient: 'waiting' }, { categories: { news: false } })
    await die({ point: 'before:settle', people: { waiting: ada } })
    expect(await timelineOf(id)).toEqual(['queued'])
    await world.recover()
    expect(await timelineOf(id)).toEqual(['queued', 'skipped'])
    const { error } = await world.api.notifications.get(id)
    expect(error).toMatchObject({ code: 'opted_out', decidedBy: 'recipient_category' })
    expect(world.hits.filter(({ key }) => key === id)).toEqual([])
  })

  it.each<Point>(['before:receipts', 'after:receipts'])(
    'an unsubscription is applied before it is reported, and once (%s)',
    async (point) => {
      const to = `${point.replace(':', '-')}@example.com`
      const email = { channel: 'email', to } as const
      const { id } = await world.api.send({ ...email, body: point, category: 'news' })
      await world.recover()
      const target = ['org_default', 'email', await emailHash(world.storage, to), 'news', id]
      const token = createLinkSigner([secret]).sign('unsubscribe', JSON.stringify(target))
      await die({ point, deliver: false, task: { do: 'unsubscribe', token } })
      expect((await world.api.preferences.get(email)).categories).toEqual({ news: { email: false } })
      const again = world.work({ secret, deliver: false, task: { do: 'unsubscribe', token } })
      await again.said('unsubscribed')
      again.kill('SIGTERM')
      await again.ended
      expect(await timelineOf(id)).toEqual(['queued', 'sent', 'unsubscribed'])
      const next = await world.api.send({ ...email, body: point, category: 'news' })
      await world.recover()
      expect((await world.api.notifications.get(next.id)).status).toBe('skipped')
    },
  )
})
