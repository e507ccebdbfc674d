import { describe, expect, it } from 'vitest'
import type { QuietHours } from '../../../../src/core/notification/quiet-hours.ts'
import type { NotifierOptions } from '../../../../src/options.ts'
import { fakeClock } from '../../../../src/testing/fake-clock.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { mail, notifierWorld } from '../../../support/notifier-world.ts'

const HOUR = 3_600_000
/** Midnight in Zurich. */
const NIGHT = Date.parse('2026-01-15T23:00:00Z')
const MORNING = '2026-01-16T06:00:00.000Z'
const NOON = '2026-01-16T11:00:00.000Z'
const night: QuietHours = { zone: 'Europe/Zurich', windows: [{ from: '22:00', to: '07:00' }] }
const untilNoon: QuietHours = { zone: 'Europe/Zurich', windows: [{ from: '22:00', to: '12:00' }] }
const byDay: QuietHours = { zone: 'Europe/Zurich', windows: [{ from: '08:00', to: '09:00' }] }
const ada = { channel: 'email', to: mail.to } as const
const person = { recipient: 'user:42' } as const
const organization = { organization: true } as const

async function start(more: Partial<NotifierOptions> = {}) {
  const world = notifierWorld({ clock: fakeClock(NIGHT) })
  const email = recordingProvider()
  const notifier = await world.start({
    channels: { email, push: recordingProvider() },
    categories: {
      news: { name: 'News', quietHours: untilNoon },
      security: { name: 'Security', required: true },
    },
    recipients: { resolve: (ids) => new Map(ids.map((id) => [id, { channels: { email: [mail.to] } }])) },
    ...more,
  })
  const { change } = notifier.preferences
  /** Until when a message would wait. */
  const until = async (message: object = mail) =>
    (await notifier.validate({ ...mail, ...message })).delayed?.until ?? null
  const toPerson = { to: undefined, ...person }
  return { world, notifier, email, change, until, toPerson }
}

describe('a message in quiet hours', () => {
  it('waits until their end, says why, and is sent then', async () => {
    const { world, notifier, email, change } = await start()
    await change(ada, { quietHours: night })
    const message = 'Quiet hours until 07:00 (Europe/Zurich).'
    expect((await notifier.validate(mail)).delayed).toEqual({ until: MORNING, message, expires: false })
    const { id, status } = await notifier.send(mail)
    expect(status).toBe('queued')
    await world.clock.advance(6 * HOUR)
    const { waiting } = await notifier.notifications.get(id)
    expect(waiting).toEqual({ reason: 'delayed', until: MORNING, code: null, message })
    await world.clock.advance(HOUR)
    expect(await world.ended(notifier, id)).toBe('sent')
    expect(email.messages).toHaveLength(1)
    expect((await notifier.validate(mail)).delayed).toBeNull()
  })

  it('is judged for its own time if it is scheduled', async () => {
    const { world, notifier, email, change } = await start()
    await change(ada, { quietHours: night })
    const [noon, nextNight] = [NIGHT + 12 * HOUR, NIGHT + 24 * HOUR]
    const [day, late] = [noon, nextNight].map((at) => ({ ...mail, sendAt: new Date(at) }))
    if (day === undefined || late === undefined) throw new Error('missing')
    const nextMorning = '2026-01-17T06:00:00.000Z'
    expect((await notifier.validate(day)).delayed).toBeNull()
    expect((await notifier.validate(late)).delayed?.until).toBe(nextMorning)
    expect((await notifier.explain(day))[0]?.decidedBy).toBe('schedule')
    expect((await notifier.explain(late))[0]).toMatchObject({ decidedBy: 'preferences' })
    const one = await notifier.send(day)
    const { items } = await notifier.sendBatch([day, late])
    const ids = [one.id, ...items.map((item) => ('id' in item ? item.id : ''))]
    const waiting = async () =>
      (await Promise.all(ids.map((id) => notifier.notifications.get(id)))).map((each) => each.waiting)
    const scheduled = { reason: 'scheduled', until: new Date(noon).toISOString() }
    const delayed = { reason: 'delayed', until: nextMorning }
    expect(await waiting()).toMatchObject([scheduled, scheduled, delayed])
    expect((await notifier.notifications.get(ids[2] ?? '')).status).toBe('scheduled')
    await world.clock.advance(noon - NIGHT)
    expect(await world.ended(notifier, one.id)).toBe('sent')
    expect(email.messages).toHaveLength(2)
    await world.clock.advance(nextNight - noon)
    expect((await waiting())[2]).toMatchObject(delayed)
    expect(await world.ended(notifier, ids[2] ?? '')).toBe('sent')
    expect(world.clock.now()).toBeGreaterThanOrEqual(Date.parse(nextMorning))
  })

  it('waits before its attempt if it was accepted before', async () => {
    const { world, notifier, change } = await start()
    const early = { zone: 'Europe/Zurich', windows: [{ from: '00:30', to: '01:00' }] }
    await change(ada, { quietHours: early })
    const { id } = await notifier.send({ ...mail, sendAt: new Date(NIGHT + HOUR * 0.75).toISOString() })
    await world.clock.advance(HOUR * 0.8)
    expect((await notifier.notifications.get(id)).waiting).toMatchObject({ reason: 'delayed' })
    await world.clock.advance(HOUR * 0.2)
    expect(await world.ended(notifier, id)).toBe('sent')
  })

  it('ends as expired if it expires before their end', async () => {
    const { world, notifier, email, change } = await start()
    await change(ada, { quietHours: night })
    const short = { ...mail, expiresAt: '2026-01-16T00:00:00.000Z' }
    const expires = async (expiresAt: string) =>
      (await notifier.validate({ ...mail, expiresAt })).delayed?.expires
    expect(await Promise.all(['2026-01-16T06:00:00.001Z', MORNING, short.expiresAt].map(expires))).toEqual([
      false,
      true,
      true,
    ])
    const { id } = await notifier.send(short)
    const message = `It expires at ${short.expiresAt}, before "preferences" lets it go at ${MORNING}.`
    for (const why of [await notifier.notifications.explain(id), ...(await notifier.explain(short))]) {
      expect(why.decidedBy).toBe('expiry')
      const [waits, expiry] = why.gates.filter(({ result }) => result !== 'passed')
      expect(waits).toMatchObject({ gate: 'preferences', result: 'waits', until: MORNING })
      expect(expiry).toMatchObject({ gate: 'expiry', result: 'failed', code: 'expired', message })
    }
    await world.clock.advance(2 * HOUR)
    expect((await notifier.notifications.get(id)).error?.code).toBe('expired')
    expect(email.messages).toHaveLength(0)
  })

  it('does not wait if its category is required', async () => {
    const { change, until } = await start()
    await change(ada, { quietHours: night })
    await change(organization, { quietHours: night })
    expect(await until({ category: 'security' })).toBeNull()
  })

  it('heeds the person before the organization, and that before the category', async () => {
    const { change, until, toPerson } = await start()
    const news = { category: 'news' }
    expect([await until(), await until(news)]).toEqual([null, NOON])
    await change(organization, { quietHours: night })
    expect([await until(), await until(news)]).toEqual([MORNING, MORNING])
    await change(organization, { quietHours: false })
    expect([await until(), await until(news)]).toEqual([null, null])
    await change(person, { quietHours: untilNoon })
    expect([await until(toPerson), await until({ ...toPerson, ...news })]).toEqual([NOON, NOON])
    await change(person, { quietHours: byDay })
    expect(await until({ ...toPerson, ...news })).toBeNull()
    await change(organization, { quietHours: night })
    await change(person, { quietHours: false })
    expect([await until(toPerson), await until(news)]).toEqual([null, MORNING])
    await change(person, { quietHours: null })
    await change(organization, { quietHours: null })
    expect([await until(toPerson), await until({ ...toPerson, ...news })]).toEqual([null, NOON])
  })

  it("heeds the later choice of a person's two records", async () => {
    const { world, change, until, toPerson } = await start()
    await change(person, { quietHours: night })
    await world.clock.advance(1_000)
    await change(ada, { quietHours: untilNoon })
    expect(await until(toPerson)).toBe(NOON)
    await world.clock.advance(1_000)
    await change(person, { quietHours: false })
    expect([await until(toPerson), await until()]).toEqual([null, NOON])
    // The same choice again, and later.
    await world.clock.advance(1_000)
    await change(ada, { quietHours: untilNoon })
    expect(await until(toPerson)).toBe(NOON)
  })

  it('heeds those of stored categories', async () => {
    const { notifier, until } = await start()
    const made = await notifier.categories.create({ id: 'tips', name: 'Tips', quietHours: night })
    expect(made.quietHours).toEqual(night)
    expect(await until({ category: 'tips' })).toBe(MORNING)
    expect(await notifier.categories.update('tips', { quietHours: null })).toMatchObject({ quietHours: null })
    expect(await until({ category: 'tips' })).toBeNull()
  })

  it('waits for its own time if that is later', async () => {
    const { change, until } = await start()
    await change(ada, { quietHours: night })
    expect(await until({ sendAt: '2026-01-17T12:00:00Z' })).toBeNull()
  })
})

describe('quiet hours as preferences', () => {
  it('are kept, replaced, cleared, and survive other changes', async () => {
    const { notifier, change } = await start()
    const { get, replace } = notifier.preferences
    expect((await get(ada)).quietHours).toBeNull()
    expect((await change(ada, { quietHours: night })).quietHours).toEqual(night)
    expect((await change(ada, { channels: { email: true } })).quietHours).toEqual(night)
    expect((await change(ada, { quietHours: false })).quietHours).toBe(false)
    expect(await change(ada, { quietHours: null })).toMatchObject({
      channels: { email: true },
      quietHours: null,
    })
    await change(ada, { quietHours: night })
    expect((await replace(ada, { channels: { email: true } })).quietHours).toBeNull()
  })

  it('are refused by name', async () => {
    const { notifier, change } = await start()
    const wrong = { zone: 'Europe/Zurich', windows: [{ from: '22:00', to: '24:00' }] }
    await expect(change(ada, { quietHours: wrong })).rejects.toMatchObject({
      code: 'invalid_parameter',
      details: { field: 'quietHours.windows.0.to' },
    })
    await expect(change(ada, { quietHours: { windows: night.windows } as never })).rejects.toMatchObject({
      code: 'missing_required_field',
      details: { field: 'quietHours.zone' },
    })
    await expect(change(ada, { quietHours: { ...night, zone: 7 as never } })).rejects.toMatchObject({
      code: 'invalid_parameter',
      message: expect.stringMatching(/"quietHours\.zone": must be a text/),
      details: { field: 'quietHours.zone' },
    })
    await expect(change(ada, { quietHours: { ...night, until: 1 } as never })).rejects.toMatchObject({
      message: expect.stringMatching(/"quietHours": has no field "until"; its fields are/),
    })
    await expect(change(ada, { quietHours: true as never })).rejects.toMatchObject({
      code: 'invalid_parameter',
      details: { field: 'quietHours' },
    })
    await expect(
      notifier.categories.create({ id: 'x', name: 'X', quietHours: { ...night, zone: 'Mars/Base' } }),
    ).rejects.toMatchObject({ details: { field: 'quietHours.zone' } })
    await expect(
      notifier.categories.create({ id: 'x', name: 'X', quietHours: night, required: true }),
    ).rejects.toMatchObject({
      details: { field: 'quietHours' },
      message: expect.stringMatching(/never wait/),
    })
    await expect(start({ categories: { x: { name: 'X', quietHours: wrong } } })).rejects.toMatchObject({
      code: 'invalid_configuration',
      message: expect.stringMatching(/categories\.x\.quietHours\.windows\.0\.to/),
    })
  })
})
