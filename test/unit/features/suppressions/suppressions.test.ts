import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { whatsappChannel } from '../../../../adapters/channels/whatsapp/send.ts'
import { UNLIMITED } from '../../../../src/core/tenancy/plans.ts'
import { createNotifier } from '../../../../src/create-notifier.ts'
import type { SuppressionQuery } from '../../../../src/features/suppressions/model.ts'
import { suppressionKind } from '../../../../src/features/suppressions/records.ts'
import type { NotifierOptions } from '../../../../src/options.ts'
import { fakeClock } from '../../../../src/testing/fake-clock.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { inMemory } from '../../../support/in-memory.ts'
import { watchReads } from '../../../support/record-reads.ts'
import { replayOf } from '../../../support/replay-of.ts'

const ada = { channel: 'email', to: 'ada@example.com' } as const
const mail = { ...ada, body: 'Hello' }
const MINUTE = 60_000

describe('suppressions', () => {
  async function start(options: Partial<NotifierOptions> = {}, deliver = false) {
    const clock = fakeClock()
    const storage = inMemory(clock)
    const email = recordingProvider()
    const push = recordingProvider()
    const notifier = createNotifier({ channels: { email, push }, storage, clock, ...options })
    await notifier.start({ deliver })
    onTestFinished(() => notifier.stop())
    return { clock, notifier, storage, email }
  }

  it('are added once, listed and removed, each organization its own', async () => {
    const { notifier, clock } = await start()
    await notifier.organizations.create({ id: 'org_a', name: 'A' })
    const added = await notifier.suppressions.add({ ...ada, to: 'Ada@Example.COM', source: 'support' })
    const createdAt = new Date(clock.now()).toISOString()
    expect(added).toEqual({ ...ada, reason: 'manual', source: 'support', createdAt })
    await clock.advance(1_000)
    expect(await notifier.suppressions.add({ ...ada, reason: 'complaint' })).toEqual(added)
    await notifier.organization('org_a').suppressions.add({ channel: 'push', to: 'Token' })
    expect((await notifier.suppressions.list()).items).toEqual([added])
    expect((await notifier.suppressions.list({ channel: 'push' })).items).toEqual([])
    expect((await notifier.organization('org_a').suppressions.list()).items).toMatchObject([{ to: 'Token' }])
    await expect(notifier.organization('org_a').suppressions.remove(ada)).rejects.toMatchObject({
      code: 'not_found',
    })
    await notifier.suppressions.remove({ ...ada, to: 'ADA@example.com' })
    await expect(notifier.suppressions.remove(ada)).rejects.toMatchObject({ code: 'not_found', status: 404 })
    await expect(
      notifier.organization('org_a').suppressions.remove({ channel: 'push', to: 'token' }),
    ).rejects.toMatchObject({ code: 'not_found' })
  })

  it('are found by address in any spelling, also when it is erased, and by reason', async () => {
    const { notifier, clock } = await start()
    const { suppressions } = notifier
    await suppressions.add({ ...ada, reason: 'complaint' })
    await suppressions.add({ channel: 'push', to: ada.to })
    for (let index = 0; index < 130; index += 1) {
      await suppressions.add({ channel: 'email', to: `p${index}@example.com`, reason: 'hard_bounce' })
    }
    const found = async (query: SuppressionQuery) =>
      (await suppressions.list(query)).items.map(({ channel, to }) => `${channel} ${to}`)
    await clock.advance(1_000)
    expect(await found({ channel: 'email', to: 'ADA@Example.com' })).toEqual(['email ada@example.com'])
    expect((await found({ to: ada.to })).toSorted()).toEqual([
      'email ada@example.com',
      'push ada@example.com',
    ])
    expect(await found({ to: ada.to, reason: 'manual' })).toEqual(['push ada@example.com'])
    expect(await found({ to: 'grace@example.com' })).toEqual([])
    expect(await found({ channel: 'pigeon', to: ada.to })).toEqual([])
    const first = await suppressions.list({ to: ada.to, limit: 1 })
    const { items, hasMore } = await suppressions.list({
      to: ada.to,
      limit: 1,
      cursor: first.nextCursor ?? '',
    })
    expect([first.hasMore, hasMore, items[0]?.channel === first.items[0]?.channel]).toEqual([
      true,
      false,
      false,
    ])
    // Behind more others than are read at once.
    expect(await found({ reason: 'complaint' })).toEqual(['email ada@example.com'])
    expect(await found({ reason: 'hard_bounce', limit: 2 })).toEqual([
      'email p129@example.com',
      'email p128@example.com',
    ])
    await notifier.people.erase({ channel: 'email', to: ada.to })
    await clock.advance(60_000)
    expect(await suppressions.list({ channel: 'email', to: ada.to })).toMatchObject({
      items: [{ to: null, reason: 'complaint' }],
    })
  })

  it('are of well-formed recipients and known organizations', async () => {
    const { notifier } = await start()
    const { suppressions } = notifier
    const cases = [
      [{ channel: 'email', to: 'nobody' }, 'invalid_email'],
      [{ channel: 'sms', to: '123' }, 'invalid_phone'],
      [{ channel: 'pigeon', to: 'x' }, 'invalid_channel'],
      [{ channel: 'email' }, 'missing_required_field'],
      [{ ...ada, reason: 'whim' }, 'invalid_parameter'],
      [{ ...ada, source: 'x'.repeat(201) }, 'invalid_parameter'],
    ] as const
    for (const [input, code] of cases) {
      await expect(suppressions.add(input as never)).rejects.toMatchObject({ code })
    }
    await expect(notifier.organization('org_nobody').suppressions.add(ada)).rejects.toMatchObject({
      code: 'not_found',
    })
  })

  it.each([
    ['hard_bounce', 'blocked_recipient'],
    ['complaint', 'blocked_recipient'],
    ['manual', 'blocked_recipient'],
    ['unsubscribe', 'unsubscribed'],
    ['stop', 'unsubscribed'],
  ] as const)('for the reason %s refuse with %s, until they are removed', async (reason, code) => {
    const free = { ...UNLIMITED, notificationsPerHour: 2, notificationsPerMonth: 2 }
    const { notifier } = await start({ plans: { free } })
    const tenant = notifier.organization('org_a')
    await notifier.organizations.create({ id: 'org_a', name: 'A', plan: 'free' })
    const { id } = await tenant.send(mail)
    await tenant.suppressions.add({ ...ada, reason })
    const refused = { code, status: 422, details: { field: 'to', reason } }
    const shouted = { ...mail, to: 'ADA@example.com' }
    for (const message of [mail, shouted]) {
      await expect(tenant.send(message)).rejects.toMatchObject(refused)
      await expect(tenant.validate(message)).rejects.toMatchObject(refused)
    }
    await expect(tenant.notifications.resend(id)).rejects.toMatchObject(refused)
    expect((await notifier.send(mail)).status).toBe('queued')
    await tenant.suppressions.remove(ada)
    // No refusal was counted: the second of two in the hour and in the month is left.
    await tenant.validate(mail)
    expect((await tenant.send(mail)).status).toBe('queued')
  })

  it.each([
    ['ada@bücher.example', 'Ada@XN--BCHER-KVA.example'],
    ['ada@xn--bcher-kva.example', 'ada@BÜCHER.example'],
    ['ada@bücher.example', 'ada@bu\u0308cher.example'],
  ])('of %s are of %s too, which is the same mailbox', async (suppressed, to) => {
    const { notifier } = await start()
    const added = await notifier.suppressions.add({ channel: 'email', to: suppressed })
    expect(added.to).toBe('ada@xn--bcher-kva.example')
    await expect(notifier.send({ ...mail, to })).rejects.toMatchObject({ code: 'blocked_recipient' })
    await notifier.suppressions.remove({ channel: 'email', to })
    expect((await notifier.send({ ...mail, to })).status).toBe('queued')
  })

  it('refuse what is wrong for another reason by that one', async () => {
    const { notifier } = await start()
    await notifier.suppressions.add(ada)
    await expect(notifier.send({ ...ada, template: 'nothing' })).rejects.toMatchObject({
      code: 'template_not_found',
    })
  })

  it('refuse single items of a batch, looked for in one go, which count against no limit', async () => {
    const free = { ...UNLIMITED, notificationsPerHour: 2 }
    const { notifier, storage } = await start({ plans: { free } })
    const tenant = notifier.organization('org_a')
    await notifier.organizations.create({ id: 'org_a', name: 'A', plan: 'free' })
    await tenant.suppressions.add({ ...ada, reason: 'unsubscribe' })
    await tenant.suppressions.add({ channel: 'push', to: 'token' })
    const reads = watchReads(storage, suppressionKind)
    const batch = [
      mail,
      { ...mail, to: 'bob@example.com' },
      { ...mail, to: 'nobody' },
      { channel: 'push', to: 'token', body: 'Hi' },
      { channel: 'push', to: 'Token', body: 'Hi' },
    ] as const
    const result = await tenant.sendBatch(batch, { idempotencyKey: 'k' })
    expect(reads).toHaveLength(1)
    expect(result).toMatchObject({
      accepted: 2,
      rejected: 3,
      items: [
        { index: 0, error: { code: 'unsubscribed', details: { field: 'to', reason: 'unsubscribe' } } },
        { index: 1, status: 'queued' },
        { index: 2, error: { code: 'invalid_email' } },
        { index: 3, error: { code: 'blocked_recipient' } },
        { index: 4, status: 'queued' },
      ],
    })
    await tenant.suppressions.remove(ada)
    expect((await tenant.sendBatch(batch, { idempotencyKey: 'k' })).items).toEqual(replayOf(result).items)
  })

  it('do not change the answer to a repeated send', async () => {
    const { notifier } = await start()
    const options = { idempotencyKey: 'k' }
    const first = await notifier.send(mail, options)
    await notifier.suppressions.add(ada)
    expect(await notifier.send(mail, options)).toEqual({ ...first, replayed: true })
    await expect(notifier.send(mail, { idempotencyKey: 'other' })).rejects.toMatchObject({
      code: 'blocked_recipient',
    })
  })

  it.each([
    ['complaint', 'blocked_recipient'],
    ['unsubscribe', 'unsubscribed'],
  ] as const)('that come between accept and delivery end it (%s)', async (reason, code) => {
    const { notifier, clock, email } = await start({}, true)
    const sendAt = new Date(clock.now() + MINUTE)
    const { id } = await notifier.send({ ...mail, sendAt })
    const other = await notifier.send({ ...mail, to: 'bob@example.com', sendAt })
    await notifier.suppressions.add({ ...ada, reason })
    const failed = vi.fn()
    notifier.on('notification.failed', failed)
    await clock.advance(2 * MINUTE)
    const record = await notifier.notifications.get(id)
    expect(record).toMatchObject({ status: 'failed', error: { code } })
    expect(record.timeline.map(({ event }) => event)).toEqual(['scheduled', 'failed'])
    expect(failed).toHaveBeenCalledTimes(1)
    expect(email.calls.map(({ message }) => message.to)).toEqual(['bob@example.com'])
    expect((await notifier.notifications.get(other.id)).status).toBe('sent')
  })

  it('that come between two attempts end it', async () => {
    const { notifier, clock, email } = await start({}, true)
    email.behave(() => ({ kind: 'retry', code: 'mailbox_full', scope: 'recipient' }))
    const { id } = await notifier.send(mail)
    await clock.until(() => email.calls.length === 1)
    await notifier.suppressions.add({ ...ada, reason: 'hard_bounce' })
    await clock.advance(60 * MINUTE)
    expect(email.calls).toHaveLength(1)
    expect(await notifier.notifications.get(id)).toMatchObject({
      status: 'failed',
      error: { code: 'blocked_recipient' },
    })
  })

  it('that cannot be looked for let nothing through', async () => {
    const { notifier, storage, clock, email } = await start({}, true)
    const errors = vi.fn()
    notifier.on('error', errors)
    const { id } = await notifier.send({ ...mail, sendAt: new Date(clock.now() + MINUTE) })
    const away = new Error('away')
    const unavailable = { code: 'service_unavailable', cause: away }
    let answer = (): Promise<never[]> | null => Promise.reject(away)
    watchReads(storage, suppressionKind, (inner) => answer() ?? inner())
    await expect(notifier.send(mail)).rejects.toMatchObject(unavailable)
    await expect(notifier.sendBatch([mail])).rejects.toMatchObject(unavailable)
    await expect(notifier.validate(mail)).rejects.toMatchObject(unavailable)
    await clock.advance(3 * MINUTE)
    expect(email.calls).toEqual([])
    expect(errors).toHaveBeenCalled()
    answer = async () => []
    await expect(notifier.sendBatch([mail])).rejects.toThrow('0 answers')
    answer = () => null
    await clock.until(() => email.calls.length === 1)
    await clock.advance(1)
    expect((await notifier.notifications.get(id)).status).toBe('sent')
  })

  it('of phone numbers match with and without a trunk prefix', async () => {
    const { notifier } = await start({ channels: { sms: recordingProvider() } })
    const phone = { channel: 'sms', to: '+447911123456' } as const
    const dialled = { ...phone, to: '+4407911123456' }
    await notifier.suppressions.add({ ...phone, reason: 'unsubscribe' })
    const [one, other] = await Promise.allSettled([
      notifier.send({ ...phone, body: 'Hello' }),
      notifier.send({ ...dialled, body: 'Hello' }),
    ])
    expect(one).toMatchObject({ reason: { code: 'unsubscribed' } })
    expect(other).toMatchObject({ reason: { code: 'invalid_phone', details: { expected: phone.to } } })
    await expect(notifier.suppressions.add(dialled)).rejects.toMatchObject({ code: 'invalid_phone' })
    await notifier.suppressions.remove(dialled)
    expect((await notifier.suppressions.list()).items).toEqual([])
  })

  it.each([
    ['Brazil', '+551187654321', '+5511987654321'],
    ['Argentina', '+541158749895', '+5491158749895'],
    ['Mexico', '+5215512345678', '+525512345678'],
  ])('of a phone match under both of its numbers: %s', async (_, old, now) => {
    const whatsapp = { ...recordingProvider(), kind: whatsappChannel }
    const { notifier } = await start({ channels: { whatsapp } }, true)
    const to = (number: string) => ({ channel: 'whatsapp', to: number }) as const
    for (const [one, other] of [
      [old, now],
      [now, old],
    ] as const) {
      expect(await notifier.suppressions.add(to(one))).toMatchObject({ to: now })
      await expect(notifier.send({ ...to(other), body: 'Hello' })).rejects.toMatchObject({
        code: 'blocked_recipient',
      })
      await notifier.suppressions.remove(to(other))
      await notifier.preferences.change(to(one), { channels: { whatsapp: false } })
      expect(await notifier.preferences.get(to(other))).toMatchObject({ channels: { whatsapp: false } })
      await notifier.preferences.change(to(other), { channels: { whatsapp: null } })
      // The provider gets the number as it was given.
      const sent = await notifier.send({ ...to(one), body: 'Hello' })
      expect(sent.to).toBe(one)
      await vi.waitFor(() => expect(whatsapp.calls.at(-1)?.message.to).toBe(one))
    }
  })
})
