import { describe, expect, it } from 'vitest'
import type { QuietHours } from '../../../../src/core/notification/quiet-hours.ts'
import type { AcceptRequest } from '../../../../src/core/ports/storage/accept.ts'
import type { Storage } from '../../../../src/core/ports/storage/storage.ts'
import { ownerByAddress, ownerByRecipient } from '../../../../src/features/preferences/records.ts'
import { fakeClock } from '../../../../src/testing/fake-clock.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { inMemory } from '../../../support/in-memory.ts'
import { kindOf } from '../../../support/kinds.ts'
import { mail, notifierWorld } from '../../../support/notifier-world.ts'
import { HASHES } from '../../../support/person-hashes.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
/** Midnight in Zurich. */
const NIGHT = Date.parse('2026-01-15T23:00:00Z')
const iso = (hours: number): string => new Date(NIGHT + hours * HOUR).toISOString()
const until = (to: string): QuietHours => ({ zone: 'Europe/Zurich', windows: [{ from: '22:00', to }] })
const night = until('07:00')
const ada = { channel: 'email', to: mail.to } as const
const person = { recipient: 'user:42' } as const
const organization = { organization: true } as const
const toPerson = { ...mail, to: undefined, ...person } as never

async function start(wrap: (storage: Storage) => Storage = (storage) => storage) {
  const clock = fakeClock(NIGHT)
  const world = notifierWorld({ clock, storage: wrap(inMemory(clock)) })
  const email = recordingProvider()
  const notifier = await world.start({
    channels: { email, push: recordingProvider() },
    recipients: { resolve: (ids) => new Map(ids.map((id) => [id, { channels: { email: [mail.to] } }])) },
  })
  const get = (id: string) => notifier.notifications.get(id)
  return {
    ...world,
    email,
    notifier,
    change: notifier.preferences.change,
    get,
    /** A message that waits until seven. */
    async delayed(message: object = mail): Promise<string> {
      const { id } = await notifier.send(message as typeof mail)
      expect((await get(id)).waiting).toMatchObject({ reason: 'delayed', until: iso(7) })
      return id
    },
    /** Some moments, in which nothing that waits falls due. */
    settle: () => clock.advance(100),
    stateOf: async (id: string) => {
      const { status, waiting } = await get(id)
      return waiting === null ? status : `${waiting.reason} ${waiting.until}`
    },
  }
}

describe('when a person changes quiet hours', () => {
  it.each([
    ['no more', null, 'sent'],
    ['none by choice', false, 'sent'],
    ['a shorter night', until('05:00'), `delayed ${iso(5)}`],
    ['a longer night', until('09:00'), `delayed ${iso(9)}`],
  ] as const)('to %s, what waits is judged again at once', async (_name, quietHours, then) => {
    const { change, delayed, settle, stateOf } = await start()
    await change(ada, { quietHours: night })
    const id = await delayed()
    await change({ channel: 'email', to: 'ADA@example.com' }, { quietHours })
    await settle()
    expect(await stateOf(id)).toBe(then)
  })

  it('by recipient, their messages are judged again, and nobody else’s', async () => {
    const { change, delayed, settle, stateOf } = await start()
    const bob = { channel: 'email', to: 'bob@example.com' } as const
    for (const who of [person, bob]) await change(who, { quietHours: night })
    const own = await delayed(toPerson)
    const other = await delayed({ ...mail, ...bob })
    await change(person, { quietHours: null })
    await settle()
    expect([await stateOf(own), await stateOf(other)]).toEqual(['sent', `delayed ${iso(7)}`])
  })

  it('a later choice for the address frees messages of the recipient, too', async () => {
    const { change, delayed, clock, settle, stateOf } = await start()
    await change(ada, { quietHours: false })
    await clock.advance(1)
    await change(person, { quietHours: night })
    const id = await delayed(toPerson)
    await clock.advance(1)
    await change(ada, { quietHours: false })
    await settle()
    expect(await stateOf(id)).toBe('sent')
  })

  it('what was delayed before its attempt goes, too', async () => {
    const { notifier, change, clock, settle, stateOf, history } = await start()
    const { id } = await notifier.send({ ...mail, sendAt: new Date(NIGHT + MINUTE) })
    await change(ada, { quietHours: night })
    await clock.advance(2 * MINUTE)
    expect(await stateOf(id)).toBe(`delayed ${iso(7)}`)
    await change(ada, { quietHours: null })
    await settle()
    expect(await stateOf(id)).toBe('sent')
    expect(await history(notifier, id)).toEqual(['scheduled', 'delayed', 'sent'])
  })

  it('nothing goes before its own time, and it waits for that', async () => {
    const { change, delayed, clock, email, stateOf } = await start()
    await change(ada, { quietHours: night })
    const id = await delayed({ ...mail, sendAt: new Date(NIGHT + 2 * HOUR) })
    await change(ada, { quietHours: null })
    expect(await stateOf(id)).toBe(`scheduled ${iso(2)}`)
    await clock.advance(2 * HOUR - 1)
    expect(email.messages).toEqual([])
    await clock.advance(1_000)
    expect(await stateOf(id)).toBe('sent')
  })

  it('longer hours hold a scheduled message before its attempt, although nothing moves it', async () => {
    const { notifier, change, clock, stateOf } = await start()
    await change(ada, { quietHours: night })
    const { id } = await notifier.send({ ...mail, sendAt: new Date(NIGHT + 8 * HOUR) })
    await change(ada, { quietHours: until('09:00') })
    expect(await stateOf(id)).toBe(`scheduled ${iso(8)}`)
    await clock.advance(8 * HOUR + MINUTE)
    expect(await stateOf(id)).toBe(`delayed ${iso(9)}`)
  })

  it('a retry does not come sooner', async () => {
    const { notifier, change, email, settle, stateOf } = await start()
    email.behave(() => ({ kind: 'retry', code: 'provider_error', scope: 'message' }))
    const { id } = await notifier.send(mail)
    await settle()
    const before = await stateOf(id)
    expect(before).toMatch(/^retry /)
    await change(ada, { quietHours: false })
    await settle()
    expect(await stateOf(id)).toBe(before)
  })

  it('other choices judge nothing again', async () => {
    const { storage, change, delayed } = await start()
    await change(ada, { quietHours: night })
    await delayed()
    const asked: unknown[] = []
    const { judgeAgain } = storage.notifications
    Object.assign(storage.notifications, {
      judgeAgain: (request: Parameters<typeof judgeAgain>[0]) => {
        asked.push(request)
        return judgeAgain(request)
      },
    })
    await change(ada, { categories: {}, channels: { email: true } })
    expect(asked).toEqual([])
    await change(ada, { quietHours: null })
    expect(asked).toHaveLength(1)
  })

  it('the change is stored even if nothing can be judged again, and that follows', async () => {
    let away = false
    const { change, delayed, clock, settle, stateOf } = await start((storage) => ({
      ...storage,
      notifications: {
        ...storage.notifications,
        judgeAgain: async (request) => {
          if (away) throw new Error('away')
          return storage.notifications.judgeAgain(request)
        },
      },
    }))
    await change(ada, { quietHours: night })
    const id = await delayed()
    away = true
    await change(ada, { quietHours: null })
    away = false
    await settle()
    expect(await stateOf(id)).toBe(`delayed ${iso(7)}`)
    await clock.advance(11_000)
    expect(await stateOf(id)).toBe('sent')
  })
})

describe('when an organization or a category changes quiet hours', () => {
  it.each([
    ['all', 'organization'],
    ['its own', 'category'],
  ])('%s messages that wait are judged again: %s', async (_what, whose) => {
    const { notifier, change, delayed, clock, stateOf } = await start()
    await notifier.categories.create({ id: 'news', name: 'News', quietHours: night })
    await notifier.categories.create({ id: 'offers', name: 'Offers', quietHours: night })
    if (whose === 'organization') await change(organization, { quietHours: night })
    const news = await delayed({ ...mail, category: 'news' })
    const offers = await delayed({ ...mail, category: 'offers' })
    if (whose === 'organization') await change(organization, { quietHours: false })
    else await notifier.categories.update('news', { quietHours: null })
    await clock.advance(1_000)
    const others = whose === 'organization' ? 'sent' : `delayed ${iso(7)}`
    expect([await stateOf(news), await stateOf(offers)]).toEqual(['sent', others])
  })

  it.each<[name: string, change: (categories: Categories) => Promise<unknown>]>([
    ['is required', ({ update }) => update('news', { required: true, quietHours: null })],
    ['is deleted', (categories) => categories.delete('news')],
  ])('messages of one that %s now go', async (_name, changeIt) => {
    const { notifier, delayed, clock, stateOf } = await start()
    await notifier.categories.create({ id: 'news', name: 'News', quietHours: night })
    const id = await delayed({ ...mail, category: 'news' })
    await changeIt(notifier.categories)
    await clock.advance(1_000)
    expect(await stateOf(id)).toBe('sent')
  })

  it('messages of its former id are judged again, too', async () => {
    const { notifier, clock, stateOf } = await start()
    const { categories } = notifier
    await categories.create({ id: 'news', name: 'News' })
    const { id } = await notifier.send({ ...mail, category: 'news', sendAt: new Date(NIGHT + MINUTE) })
    await categories.delete('news')
    await categories.create({ id: 'letters', name: 'Letters', formerIds: ['news'], quietHours: night })
    await clock.advance(2 * MINUTE)
    expect(await stateOf(id)).toBe(`delayed ${iso(7)}`)
    await categories.update('letters', { quietHours: null })
    await clock.advance(1_000)
    expect(await stateOf(id)).toBe('sent')
  })

  it('a change of its name judges nothing again, and records of changes end', async () => {
    const { notifier, storage, delayed, clock, stateOf } = await start()
    await notifier.categories.create({ id: 'news', name: 'News', quietHours: night })
    const id = await delayed({ ...mail, category: 'news' })
    await notifier.categories.update('news', { name: 'All news' })
    await clock.advance(20_000)
    expect(await stateOf(id)).toBe(`delayed ${iso(7)}`)
    const before = await storage.records.stored('org_default')
    await notifier.categories.update('news', { quietHours: until('06:00') })
    expect(await storage.records.stored('org_default')).toBeGreaterThan(before)
    await clock.advance(30_000)
    expect(await storage.records.stored('org_default')).toBe(before)
    expect(await stateOf(id)).toBe(`delayed ${iso(6)}`)
  })
})

type Categories = Awaited<ReturnType<typeof start>>['notifier']['categories']

it.each(['person', 'organization'] as const)(
  'what was accepted by old quiet hours while they changed goes some seconds later: of one %s',
  async (whose) => {
    let hold: Promise<void> | null = null
    const { notifier, change, clock, stateOf } = await start((storage) => ({
      ...storage,
      accept: async (requests: readonly AcceptRequest[]) => {
        await hold
        return storage.accept(requests)
      },
    }))
    const who = whose === 'person' ? ada : organization
    await change(who, { quietHours: night })
    let release = (): void => {}
    hold = new Promise((resolve) => {
      release = resolve
    })
    const sending = notifier.send(mail)
    await clock.advance(10)
    await change(who, { quietHours: null })
    await clock.advance(1_000)
    release()
    const { id } = await sending
    expect(await stateOf(id)).toBe(`delayed ${iso(7)}`)
    await clock.advance(10_000)
    expect(await stateOf(id)).toBe('sent')
  },
)

it('names the people of preferences as their delayed messages do', () => {
  const hash = HASHES.address(kindOf('email'), mail.to)
  expect(ownerByAddress('org_a', 'email', hash).messages).toEqual({ by: 'address', address: `email ${hash}` })
  const long = 'ü'.repeat(200)
  expect(ownerByRecipient(HASHES, 'org_a', long).messages).toEqual({ by: 'recipient', recipient: long })
})
