import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import type { SendFields } from '../../../../src/core/accept/input.ts'
import { defineChannel } from '../../../../src/core/channels/channel-kind.ts'
import { isNotifierError } from '../../../../src/core/errors/notifier-error.ts'
import type { Provider } from '../../../../src/core/ports/provider.ts'
import { type Plan, UNLIMITED } from '../../../../src/core/tenancy/plans.ts'
import type { Person } from '../../../../src/features/recipients/options.ts'
import type { Notifier } from '../../../../src/notifier.ts'
import type { NotifierOptions } from '../../../../src/options.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { notifierWorld } from '../../../support/notifier-world.ts'

const MINUTE = 60_000
const ada: Person = {
  channels: { email: 'ada@example.com', push: ['one', 'two'], sms: '+14155550123' },
}

async function start(options: Partial<NotifierOptions> = {}) {
  const world = notifierWorld()
  const people = new Map<string, Person>([['user:42', ada]])
  const asked: (readonly string[])[] = []
  const [email, push, sms] = ['mailer', 'pusher', 'texter'].map((name) => recordingProvider({ name }))
  if (email === undefined || push === undefined || sms === undefined) throw new Error('No providers.')
  const notifier = await world.start({
    channels: { email, push, sms },
    recipients: {
      resolve(ids) {
        asked.push(ids)
        return new Map(ids.map((id) => [id, people.get(id)]))
      },
    },
    ...options,
  })
  return { ...world, people, asked, email, push, sms, notifier }
}

const toAda = {
  channels: ['push', 'email'],
  recipient: 'user:42',
  subject: 'Shipped',
  text: 'Your order is on its way.',
} as const

async function groupOf(notifier: Notifier, groupId: string | undefined) {
  const { items } = await notifier.notifications.list({ groupId: groupId ?? 'grp_0' })
  return items.toReversed().map(({ channel, to }) => [channel, to])
}

async function refusal(call: Promise<unknown>) {
  const error = await call.then(
    () => expect.unreachable('It was not refused.'),
    (reason: unknown) => reason,
  )
  if (!isNotifierError(error)) throw error
  return error
}

describe('a send on several channels of a person', () => {
  it('goes to every address, as one group in the order of the channels', async () => {
    const { notifier, email, push, sms, ended } = await start()
    const sent = await notifier.send(toAda)
    expect(sent).toMatchObject({ channel: 'push', to: 'one', status: 'queued', replayed: false })
    expect(sent.groupId).toMatch(/^grp_/)
    expect([sent.ids?.[0], sent.ids?.length]).toEqual([sent.id, 3])
    for (const id of sent.ids ?? []) expect(await ended(notifier, id)).toBe('sent')
    expect(await groupOf(notifier, sent.groupId)).toEqual([
      ['push', 'one'],
      ['push', 'two'],
      ['email', 'ada@example.com'],
    ])
    expect([email.messages.length, push.messages.length, sms.messages.length]).toEqual([1, 2, 0])
    expect(email.messages[0]).toMatchObject({ subject: 'Shipped', body: toAda.text })
  })

  it('leaves out channels without an address; a single address is no group', async () => {
    const { notifier, people } = await start()
    people.set('user:42', { channels: { email: 'ada@example.com', push: [] } })
    const sent = await notifier.send(toAda)
    expect(sent).toMatchObject({ channel: 'email', to: 'ada@example.com' })
    expect(sent).not.toHaveProperty('groupId')
    expect((await notifier.notifications.list()).items).toHaveLength(1)
  })

  it('is skipped, visibly, without an address on any of them', async () => {
    const { notifier, people, ended } = await start()
    people.set('user:42', { channels: { sms: '+14155550123' } })
    const sent = await notifier.send(toAda)
    expect(sent).toMatchObject({ channel: 'push', to: '' })
    expect(await ended(notifier, sent.id)).toBe('skipped')
    expect((await notifier.notifications.list()).items).toMatchObject([{ error: { code: 'no_address' } }])
  })

  it('gives each channel what it takes: html, text, its parts', async () => {
    const { notifier, email, push, sms, ended } = await start()
    const { ids = [] } = await notifier.send({
      ...toAda,
      channels: ['email', 'push', 'sms'],
      html: '<p>On its way</p>',
      email: { replyTo: 'help@example.com' },
      push: { data: { order: '17' } },
    })
    for (const id of ids) expect(await ended(notifier, id)).toBe('sent')
    expect(email.messages[0]).toMatchObject({
      body: '<p>On its way</p>',
      text: toAda.text,
      email: { replyTo: [{ address: 'help@example.com' }] },
    })
    expect(push.messages[0]).toMatchObject({ subject: 'Shipped', push: { data: { order: '17' } } })
    expect(sms.messages[0]).toMatchObject({ body: toAda.text })
    expect(email.messages[0]).not.toHaveProperty('push')
    expect(push.messages[0]).not.toHaveProperty('email')
  })

  it('takes parts in place of a text on one of them', async () => {
    const { notifier, push, ended } = await start()
    const { text: _, ...rest } = toAda
    const message = { ...rest, html: '<p>Hi</p>', push: { data: { order: '17' } } }
    const { ids = [] } = await notifier.send(message)
    expect(await ended(notifier, ids[0] ?? '')).toBe('sent')
    expect(push.messages[0]).toMatchObject({ push: { data: { order: '17' } } })
  })

  it('leaves out an address that its channel refuses, and says so', async () => {
    const { notifier, people, errors } = await start()
    people.set('user:42', { channels: { push: 'one', email: 'nobody' } })
    const sent = await notifier.send(toAda)
    expect(sent).toMatchObject({ channel: 'push', to: 'one' })
    expect(errors).toMatchObject([{ message: expect.stringContaining('user:42') }])
    const wrong = await refusal(notifier.send({ ...toAda, channels: ['sms', 'email'] }))
    expect(wrong).toMatchObject({ code: 'invalid_email', details: { field: 'recipient', channel: 'email' } })
  })

  it('is stored where an address is suppressed beside others, and refused where all are', async () => {
    const { notifier, ended } = await start()
    await notifier.suppressions.add({ channel: 'email', to: 'ada@example.com' })
    const { ids = [] } = await notifier.send(toAda)
    const states = await Promise.all(ids.map((id) => ended(notifier, id)))
    expect(states).toEqual(['sent', 'sent', 'failed'])
    expect(await refusal(notifier.send({ ...toAda, channels: ['email'] }))).toMatchObject({
      code: 'blocked_recipient',
    })
  })

  it('skips only the channel that the person has turned off', async () => {
    const { notifier, ended } = await start({ categories: { news: { name: 'News' } } })
    await notifier.preferences.change({ recipient: 'user:42' }, { categories: { news: { push: false } } })
    const { ids = [] } = await notifier.send({ ...toAda, category: 'news' })
    const states = await Promise.all(ids.map((id) => ended(notifier, id)))
    expect(states).toEqual(['skipped', 'skipped', 'sent'])
  })

  it('completes the uploads that the parts of each channel name', async () => {
    const upload = z.strictObject({ id: z.string() })
    const kind = defineChannel({
      name: 'fax',
      recipient: 'a number',
      parts: z.strictObject({ attachments: z.array(upload).optional() }),
      files: { maxBytes: 1_000 },
    })
    const taken: unknown[] = []
    const fax: Provider<typeof kind> = {
      kind,
      name: 'faxes',
      send: async ({ fax: parts }) => {
        taken.push(parts)
        return { kind: 'accepted' }
      },
    }
    const { people, email, ...world } = await start({ channels: { email: recordingProvider(), fax } })
    people.set('user:42', { channels: { email: 'ada@example.com', fax: '1' } })
    const about = { filename: 'a.txt', contentType: 'text/plain' }
    const { id } = await world.notifier.attachments.upload(Buffer.from('Hello'), about)
    const attachments = [{ id }]
    const both = { ...toAda, channels: ['email', 'fax'], email: { attachments }, fax: { attachments } }
    const { ids = [] } = await world.notifier.send(both)
    for (const each of ids) expect(await world.ended(world.notifier, each)).toBe('sent')
    expect(taken).toMatchObject([{ attachments: [{ ...about, size: 5, content: Buffer.from('Hello') }] }])
    const unknown = { ...both, fax: { attachments: [{ id: 'att_unknown' }] } }
    expect(await refusal(world.notifier.send(unknown))).toMatchObject({ code: 'unknown_attachment' })
  })

  it('checks the sender of the mail, also after another channel', async () => {
    const { notifier } = await start()

    await notifier.organizations.update('org_default', { senders: ['shop.example'] })
    const from = (address: string) => notifier.send({ ...toAda, email: { from: address } })
    expect(await refusal(from('a@other.example'))).toMatchObject({ code: 'invalid_sender' })
    await expect(from('a@shop.example')).resolves.toMatchObject({ channel: 'push' })
  })
})

describe('the limits', () => {
  const plans = (plan: Partial<Plan>) => ({ plans: { free: { ...UNLIMITED, ...plan } } })

  it.each([
    ['hour', { notificationsPerHour: 2 }, 'rate_limit_exceeded'],
    ['month', { notificationsPerMonth: 2 }, 'notification_quota_exceeded'],
  ])('of the %s admit the group as a whole, or not at all', async (_what, plan, code) => {
    const { notifier } = await start(plans(plan))
    await notifier.organizations.create({ id: 'org_a', name: 'A' })
    const tenant = notifier.organization('org_a')
    expect(await refusal(tenant.send(toAda))).toMatchObject({ code })
    expect(await refusal(tenant.validate(toAda))).toMatchObject({ code })
    expect((await tenant.notifications.list()).items).toEqual([])
    const { items } = await tenant.sendBatch([toAda, { ...toAda, channels: ['sms', 'email'] }])
    expect(items).toMatchObject([{ error: { code } }, { error: { code } }])
    expect(await tenant.send({ ...toAda, channels: ['sms', 'email'] })).toMatchObject({ channel: 'sms' })
  })
})

describe('a batch, a validation, a repetition and a resend', () => {
  it('answers each message of a batch, and refuses only the wrong ones', async () => {
    const { notifier, people } = await start()
    people.set('user:43', { channels: { sms: '+14155550124' } })
    const { items } = await notifier.sendBatch([
      toAda,
      { ...toAda, recipient: 'user:43' },
      { ...toAda, recipient: 'user:7' },
      { ...toAda, channels: ['pager'] } as never,
      { channel: 'email', to: 'bob@example.com', text: 'Hi' },
    ])
    expect(items).toMatchObject([
      { groupId: expect.any(String), ids: { length: 3 } },
      { id: expect.any(String) },
      { error: { code: 'unknown_recipient' } },
      { error: { code: 'invalid_channel', details: { channels: ['pager'] } } },
      { id: expect.any(String) },
    ])
  })

  it('counts all channels of a person against the most notifications of a batch', async () => {
    const { notifier, people } = await start()
    const tokens = Array.from({ length: 99 }, (_, at) => `token${at}`)
    people.set('user:42', { channels: { push: tokens, email: 'ada@example.com' } })
    const { accepted, items } = await notifier.sendBatch(Array.from({ length: 201 }, () => toAda))
    expect(accepted).toBe(200)
    expect(items[200]).toMatchObject({ error: { code: 'message_too_large' } })
  })

  it('validates all channels, and answers the first message', async () => {
    const { notifier } = await start()
    expect(await notifier.validate(toAda)).toMatchObject({ channel: 'push', to: 'one' })
    expect((await notifier.notifications.list()).items).toEqual([])
  })

  it('gets the first answer again with a key, and is another message with other channels', async () => {
    const { notifier, people } = await start()
    const first = await notifier.send(toAda, { idempotencyKey: 'k' })
    people.clear()
    expect(await notifier.send(toAda, { idempotencyKey: 'k' })).toEqual({ ...first, replayed: true })
    const other = { ...toAda, channels: ['push', 'sms'] } as const
    expect(await refusal(notifier.send(other, { idempotencyKey: 'k' }))).toMatchObject({
      code: 'idempotency_key_reused',
    })
  })

  it('resends one of the group, by itself', async () => {
    const { notifier, ended } = await start()
    const { ids = [] } = await notifier.send(toAda)
    for (const id of ids) await ended(notifier, id)
    const again = await notifier.notifications.resend(ids[2] ?? '')
    expect(again).toMatchObject({ channel: 'email', to: 'ada@example.com' })
    expect(again).not.toHaveProperty('groupId')
  })
})

describe('a group that waits', () => {
  it('follows a changed address that is alone on its channel, and leaves the other devices', async () => {
    const { notifier, people, clock, email, push, ended } = await start()
    const sendAt = new Date(clock.now() + 10 * MINUTE)
    const { ids = [] } = await notifier.send({ ...toAda, sendAt })
    people.set('user:42', { channels: { email: 'new@example.com', push: ['two', 'three'] } })
    await clock.advance(10 * MINUTE)
    const states = await Promise.all(ids.map((id) => ended(notifier, id)))
    expect(states).toEqual(['skipped', 'sent', 'sent'])
    expect(email.messages.map(({ to }) => to)).toEqual(['new@example.com'])
    expect(push.messages.map(({ to }) => to)).toEqual(['two'])
  })
})

describe('a wrong message for several channels', () => {
  const { recipient: _recipient, ...nobody } = toAda
  const { text: _text, ...textless } = toAda
  it.each<[string, SendFields & object, string, object, string]>([
    [
      'a channel as well',
      { ...toAda, channel: 'email' },
      'invalid_parameter',
      { field: 'channels' },
      'with "channel"',
    ],
    [
      'an address',
      { ...nobody, to: 'a@example.com' },
      'missing_required_field',
      { field: 'recipient' },
      'with "channels"',
    ],
    ['both', { ...toAda, to: 'a@example.com' }, 'invalid_parameter', { field: 'channels' }, 'with "to"'],
    ['nobody', nobody, 'missing_required_field', { field: 'recipient' }, 'with "channels"'],
    [
      'one template for all',
      { ...textless, template: 'welcome' },
      'invalid_parameter',
      { field: 'template' },
      'is of one channel',
    ],
    ['no channel', { ...toAda, channels: [] }, 'invalid_parameter', { field: 'channels' }, 'at least one'],
    [
      'a text',
      { ...toAda, channels: 'email' as never },
      'invalid_parameter',
      { field: 'channels' },
      'must be a list',
    ],
    [
      'a number',
      { ...toAda, channels: [1] as never },
      'invalid_parameter',
      { field: 'channels.0' },
      'must be a text',
    ],
    [
      'nine',
      { ...toAda, channels: [...'abcdefghi'] },
      'invalid_parameter',
      { field: 'channels' },
      'at most 8',
    ],
    ['one twice', { ...toAda, channels: ['sms', 'sms'] }, 'invalid_parameter', { field: 'channels' }, 'once'],
    ['no name', { ...toAda, channels: ['E-Mail'] }, 'invalid_channel', { field: 'channels.0' }, '"E-Mail"'],
    [
      'unknown ones',
      { ...toAda, channels: ['email', 'pager', 'slack'] },
      'invalid_channel',
      { field: 'channels', channels: ['pager', 'slack'] },
      'pager, slack are not configured here; configured: email, push, sms',
    ],
    [
      'parts of another channel',
      { ...toAda, slack: { unfurlLinks: false } } as never,
      'invalid_parameter',
      { field: 'slack', channels: ['push', 'email'] },
      '"slack" is for the channel slack',
    ],
    [
      'no text',
      textless,
      'missing_required_field',
      { field: 'body', channel: 'push' },
      'On the channel push',
    ],
    [
      'no text for one that has no HTML',
      { ...textless, channels: ['email', 'sms'], html: '<p>Hi</p>' },
      'missing_required_field',
      { field: 'text', channel: 'sms' },
      'does not take "html"',
    ],
    [
      'a body of HTML for one that has none',
      { ...textless, channels: ['email', 'sms'], body: '<p>Hi</p>' },
      'invalid_parameter',
      { field: 'body', channel: 'sms' },
      'Give "html" for email and "text"',
    ],
    [
      'a text that is too long for one, which the person does not have',
      { ...toAda, recipient: 'user:43', channels: ['email', 'sms'], text: 'x'.repeat(5_000) },
      'message_too_large',
      { channel: 'sms' },
      'On the channel sms',
    ],
    [
      'a past end',
      { ...toAda, expiresAt: new Date(0) },
      'invalid_parameter',
      { field: 'expiresAt' },
      'in the future',
    ],
  ])('is refused: %s', async (_what, message, code, details, words) => {
    const { notifier, people } = await start()
    people.set('user:43', { channels: { email: 'bob@example.com' } })
    const error = await refusal(notifier.send(message as never))
    expect(error).toMatchObject({ code, details })
    expect(error.message).toContain(words)
    const { items } = await notifier.sendBatch([message as never])
    expect(items).toMatchObject([{ error: { code } }])
    expect((await notifier.notifications.list()).items).toEqual([])
  })

  it('is refused before it asks for people if its fields contradict each other', async () => {
    const { notifier, asked } = await start()
    await refusal(notifier.send({ ...toAda, channel: 'email' } as never))
    expect(asked).toEqual([])
  })
})
