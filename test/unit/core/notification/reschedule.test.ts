import { describe, expect, it, onTestFinished } from 'vitest'
import { createNotifier } from '../../../../src/create-notifier.ts'
import { fakeClock } from '../../../../src/testing/fake-clock.ts'
import {
  type RecordingProviderOptions,
  recordingProvider,
} from '../../../../src/testing/recording-provider.ts'
import { inMemory } from '../../../support/in-memory.ts'

const mail = { channel: 'email', to: 'ada@example.com', body: 'Hello' } as const
const HOUR = 3_600_000

async function start(provider: RecordingProviderOptions = {}) {
  const clock = fakeClock()
  const email = recordingProvider(provider)
  const notifier = createNotifier({
    channels: { email },
    storage: inMemory(clock),
    clock,
    delivery: { pollMs: HOUR },
  })
  await notifier.start()
  onTestFinished(() => notifier.stop({ timeoutMs: 0 }))
  const inHours = (hours: number): Date => new Date(clock.now() + hours * HOUR)
  const scheduled = async (change: object = {}) =>
    (await notifier.send({ ...mail, sendAt: inHours(1), ...change })).id
  const { reschedule } = notifier.notifications
  return { clock, email, notifier, inHours, scheduled, reschedule }
}

const refused = (message: string) => ({
  code: 'not_reschedulable',
  status: 409,
  message: expect.stringContaining(message),
})

describe('a scheduled notification gets a new time', () => {
  it('and goes then, once, and not at its old one', async () => {
    const { clock, email, notifier, inHours, scheduled, reschedule } = await start()
    const id = await scheduled()
    const sendAt = inHours(3)
    const record = await reschedule(id, { sendAt })
    expect(record).toMatchObject({
      status: 'scheduled',
      sendAt: sendAt.toISOString(),
      waiting: { reason: 'scheduled', until: sendAt.toISOString() },
    })
    expect(record.timeline).toMatchObject([
      { event: 'scheduled', status: 'scheduled' },
      { event: 'rescheduled', status: 'scheduled', message: `Due at ${sendAt.toISOString()}.` },
    ])
    await clock.advance(3 * HOUR - 1_000)
    expect(email.calls).toEqual([])
    await clock.advance(1_000)
    expect(email.calls).toHaveLength(1)
    expect((await notifier.notifications.get(id)).status).toBe('sent')
    await clock.advance(24 * HOUR)
    expect(email.calls).toHaveLength(1)
    const { items } = await notifier.logs.list({ notificationId: id })
    expect(items.map(({ event }) => event)).toEqual(['sent', 'rescheduled', 'scheduled'])
  })

  it('that is earlier, as text with a zone', async () => {
    const { clock, email, inHours, scheduled, reschedule } = await start()
    const id = await scheduled({ sendAt: inHours(48) })
    await reschedule(id, { sendAt: inHours(1).toISOString() })
    await clock.advance(HOUR)
    expect(email.calls).toHaveLength(1)
  })

  it.each(['null', 'a time in the past'])('that is now: %s', async (name) => {
    const { clock, email, inHours, scheduled, reschedule } = await start()
    const id = await scheduled()
    await reschedule(id, { sendAt: name === 'null' ? null : inHours(-1) })
    await clock.advance(1)
    expect(email.calls).toHaveLength(1)
    await clock.advance(2 * HOUR)
    expect(email.calls).toHaveLength(1)
  })

  it('that is now, after another organization has used the lane', async () => {
    const { clock, email, notifier } = await start()
    const { id: other } = await notifier.organizations.create({ name: 'Other' })
    const { send, notifications } = notifier.organization(other)
    await send(mail)
    await clock.advance(1)
    expect(email.calls).toHaveLength(1)
    const { id } = await send({ ...mail, sendAt: new Date(clock.now() + 12 * HOUR) })
    await clock.advance(1)
    await notifications.reschedule(id, { sendAt: null })
    await clock.advance(1)
    expect(email.calls).toHaveLength(2)
    const soon = new Date(clock.now() + HOUR / 2)
    await send({ ...mail, sendAt: soon })
    await clock.advance(HOUR / 2)
    expect(email.calls).toHaveLength(3)
  })

  it('and is cancelled after it', async () => {
    const { clock, email, notifier, inHours, scheduled, reschedule } = await start()
    const id = await scheduled()
    await reschedule(id, { sendAt: inHours(2) })
    await notifier.notifications.cancel(id)
    await expect(reschedule(id, { sendAt: null })).rejects.toMatchObject(refused('it has ended'))
    await clock.advance(24 * HOUR)
    expect(email.calls).toEqual([])
  })

  it('and keeps its idempotency key', async () => {
    const { clock, email, notifier, inHours, reschedule } = await start()
    const message = { ...mail, sendAt: inHours(1) }
    const first = await notifier.send(message, { idempotencyKey: 'k' })
    await reschedule(first.id, { sendAt: inHours(2) })
    expect(await notifier.send(message, { idempotencyKey: 'k' })).toEqual({ ...first, replayed: true })
    await clock.advance(24 * HOUR - 1_000)
    expect(email.calls).toHaveLength(1)
  })
})

describe('a reschedule is refused', () => {
  it('for what is due already, has begun or has ended', async () => {
    let end = (): void => {}
    const hung = new Promise((resolve) => {
      end = () => resolve({ kind: 'accepted' })
    })
    const { clock, notifier, scheduled, reschedule } = await start({ send: () => hung })
    const id = await scheduled()
    await clock.advance(HOUR)
    await expect(reschedule(id, { sendAt: null })).rejects.toMatchObject(refused('an attempt'))
    end()
    await notifier.waitFor(id)
    await expect(reschedule(id, { sendAt: null })).rejects.toMatchObject(refused('it has ended'))
    const { id: queued } = await notifier.send({ ...mail, channel: 'email' })
    await notifier.waitFor(queued)
    await expect(reschedule(queued, { sendAt: null })).rejects.toMatchObject(refused('it has ended'))
  })

  it('for what was not scheduled', async () => {
    const clock = fakeClock()
    const channels = { email: recordingProvider() }
    const notifier = createNotifier({ channels, storage: inMemory(clock), clock })
    await notifier.start({ deliver: false })
    onTestFinished(() => notifier.stop())
    const { id } = await notifier.send(mail)
    const later = new Date(clock.now() + HOUR)
    const answer = notifier.notifications.reschedule(id, { sendAt: later })
    await expect(answer).rejects.toMatchObject(refused('sent with a "sendAt" ahead'))
  })

  it.each<[string, (inHours: (hours: number) => Date) => unknown, string]>([
    ['no time', () => ({}), 'missing_required_field'],
    ['nothing', () => undefined, 'invalid_parameter'],
    ['a text that is no time', () => ({ sendAt: 'tomorrow' }), 'invalid_parameter'],
    ['more than a year ahead', (inHours) => ({ sendAt: inHours(24 * 367) }), 'invalid_parameter'],
    ['not before it expires', (inHours) => ({ sendAt: inHours(5) }), 'invalid_parameter'],
    ['an unknown field', () => ({ sendAt: null, send_at: null }), 'invalid_parameter'],
  ])('with %s, and its time stays', async (_name, change, code) => {
    const { notifier, inHours, scheduled, reschedule } = await start()
    const [sendAt, expiresAt] = [inHours(1), inHours(5)]
    const id = await scheduled({ sendAt, expiresAt })
    await expect(reschedule(id, change(inHours) as never)).rejects.toMatchObject({ code })
    expect((await notifier.notifications.get(id)).sendAt).toBe(sendAt.toISOString())
  })

  it('after 100 reschedules, also to now, and the rest goes at the last accepted time', async () => {
    const { clock, email, notifier, inHours, scheduled, reschedule } = await start()
    const id = await scheduled()
    const sendAt = inHours(2)
    for (let n = 1; n < 100; n += 1) await reschedule(id, { sendAt: inHours(1 + n) })
    const { timeline } = await reschedule(id, { sendAt })
    expect(timeline).toHaveLength(101)
    for (const late of [inHours(9), null])
      await expect(reschedule(id, { sendAt: late })).rejects.toMatchObject(
        refused('more than 100 times. Cancel it and send a new message.'),
      )
    expect((await notifier.notifications.get(id)).timeline).toEqual(timeline)
    await clock.advance(2 * HOUR)
    expect(email.calls).toHaveLength(1)
  })

  it.each(['null', 'a new time'])('for an expired one: %s', async (name) => {
    const clock = fakeClock()
    const channels = { email: recordingProvider() }
    const notifier = createNotifier({ channels, storage: inMemory(clock), clock })
    await notifier.start({ deliver: false })
    onTestFinished(() => notifier.stop())
    const inHours = (hours: number): Date => new Date(clock.now() + hours * HOUR)
    const { id } = await notifier.send({ ...mail, sendAt: inHours(1), expiresAt: inHours(2) })
    await clock.advance(2 * HOUR)
    const sendAt = name === 'null' ? null : inHours(1)
    await expect(notifier.notifications.reschedule(id, { sendAt })).rejects.toMatchObject(
      refused('it has expired'),
    )
  })

  it('for an unknown one, and one of another organization', async () => {
    const { notifier, scheduled, reschedule } = await start()
    const id = await scheduled()
    const other = await notifier.organizations.create({ name: 'Other' })
    const foreign = notifier.organization(other.id).notifications.reschedule(id, { sendAt: null })
    await expect(foreign).rejects.toMatchObject({ code: 'organization_mismatch' })
    await expect(reschedule('notif_1', { sendAt: null })).rejects.toMatchObject({
      code: 'notification_not_found',
    })
    await expect(reschedule(5 as never, { sendAt: null })).rejects.toMatchObject({
      code: 'invalid_parameter',
    })
  })
})
