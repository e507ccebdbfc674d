import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { isNotifierError } from '../../../../src/core/errors/notifier-error.ts'
import { defineTemplates } from '../../../../src/features/code-templates/define.ts'
import type { Person } from '../../../../src/features/recipients/options.ts'
import type { NotifierOptions } from '../../../../src/options.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { notifierWorld } from '../../../support/notifier-world.ts'

const ada: Person = { channels: { email: 'ada@example.com', push: ['one', 'two'] }, locale: 'de' }

async function start(options: Partial<NotifierOptions> = {}) {
  const world = notifierWorld()
  const people = new Map<string, Person>([['user:42', ada]])
  const [email, push, sms] = [recordingProvider(), recordingProvider(), recordingProvider()]
  const notifier = await world.start({
    channels: { email, push, sms },
    recipients: { resolve: (ids) => new Map(ids.map((id) => [id, people.get(id)])) },
    categories: { news: { name: 'News' }, orders: { name: 'Orders' } },
    ...options,
  })
  await notifier.templates.create({
    name: 'welcome-mail',
    channel: 'email',
    subject: 'Welcome, {{name}}',
    html: '<p>Hello {{name}}, you have {{days}} days.</p>',
    category: 'news',
    metadata: { from: 'mail' },
  })
  await notifier.templates.create({
    name: 'welcome-push',
    channel: 'push',
    subject: 'Welcome',
    text: 'Hello {{name}}',
    category: 'orders',
  })
  return { ...world, people, email, push, sms, notifier }
}

const toAda = {
  recipient: 'user:42',
  channels: ['push', 'email'],
  template: { email: 'welcome-mail', push: 'welcome-push' },
  variables: { name: 'Ada', days: 30 },
} as const

async function refusal(call: Promise<unknown>) {
  const error = await call.then(
    () => expect.unreachable('It was not refused.'),
    (reason: unknown) => reason,
  )
  if (!isNotifierError(error)) throw error
  return error
}

describe('a template for each channel', () => {
  it.each([
    ['news', { push: 'sent', email: 'skipped' }],
    ['orders', { push: 'skipped', email: 'sent' }],
  ])('is judged by its own category if the person has turned off %s', async (off, status) => {
    const { notifier, clock } = await start()
    await notifier.preferences.change({ recipient: 'user:42' }, { categories: { [off]: false } })
    await notifier.send(toAda)
    await notifier.sendBatch([toAda])
    await clock.advance(1_000)
    const { items } = await notifier.notifications.list()
    const { push, email } = status
    const each = [
      ['email', email],
      ['push', push],
      ['push', push],
    ]
    expect(items.map((item) => [item.channel, item.status])).toEqual([...each, ...each])
  })

  it('gives each channel its text, category and metadata, with the same variables', async () => {
    const { notifier, email, push, ended } = await start()
    const { ids = [], groupId } = await notifier.send(toAda)
    for (const id of ids) expect(await ended(notifier, id)).toBe('sent')
    expect(email.messages).toMatchObject([
      { subject: 'Welcome, Ada', body: '<p>Hello Ada, you have 30 days.</p>' },
    ])
    expect(push.messages).toMatchObject([
      { to: 'one', subject: 'Welcome', body: 'Hello Ada' },
      { to: 'two', subject: 'Welcome', body: 'Hello Ada' },
    ])
    const { items } = await notifier.notifications.list({ groupId: groupId ?? '' })
    expect(
      items.map(({ channel, template, category, metadata }) => [channel, template, category, metadata]),
    ).toEqual([
      ['email', 'welcome-mail', 'news', { from: 'mail' }],
      ['push', 'welcome-push', 'orders', null],
      ['push', 'welcome-push', 'orders', null],
    ])
  })

  it('lets the message decide the category and the subject of all', async () => {
    const { notifier, email, push, ended } = await start()
    const { ids = [], groupId = '' } = await notifier.send({ ...toAda, category: 'orders', subject: 'Hi' })
    for (const id of ids) await ended(notifier, id)
    expect([...email.messages, ...push.messages].map(({ subject }) => subject)).toEqual(['Hi', 'Hi', 'Hi'])
    const { items } = await notifier.notifications.list({ groupId })
    expect(new Set(items.map(({ category }) => category))).toEqual(new Set(['orders']))
  })

  it('takes ids, templates in code and those in the language of the person', async () => {
    const templates = defineTemplates({
      hello: {
        channel: 'push',
        variables: z.object({ name: z.string() }),
        locale: 'en',
        text: 'Hello {{name}}',
        locales: { de: { text: 'Hallo {{name}}' } },
      },
      written: {
        channel: 'sms',
        variables: z.object({ days: z.number() }),
        text: ({ variables, locale }) => `${variables.days} ${locale}`,
      },
    })
    const { notifier, people, email, push, sms, ended } = await start({ templates })
    people.set('user:42', { channels: { ...ada.channels, sms: '+14155550123' }, locale: 'de' })
    const { items } = await notifier.templates.list()
    const stored = items.find(({ name }) => name === 'welcome-mail')?.id ?? ''
    const message = {
      ...toAda,
      channels: ['push', 'email', 'sms'],
      template: { email: stored, push: 'hello', sms: 'written' },
    }
    for (const { ids = [] } of [
      await notifier.send(message),
      (await notifier.sendBatch([message])).items[0] as { ids: readonly string[] },
    ])
      for (const id of ids) expect(await ended(notifier, id)).toBe('sent')
    expect(email.messages[0]).toMatchObject({ subject: 'Welcome, Ada' })
    expect(new Set(push.messages.map(({ body }) => body))).toEqual(new Set(['Hallo Ada']))
    expect(sms.messages.map(({ body }) => body)).toEqual(['30 de', '30 de'])
  })

  it('leaves out a channel without an address', async () => {
    const { notifier, people } = await start()
    people.set('user:42', { channels: { email: 'ada@example.com' } })
    const sent = await notifier.send(toAda)
    expect(sent).toMatchObject({ channel: 'email' })
    expect(sent).not.toHaveProperty('groupId')
  })
})

describe('a batch, a validation, an explanation and a repetition', () => {
  it('answers each message of a batch with its templates, and refuses only the wrong ones', async () => {
    const { notifier, email, push, ended } = await start()
    await notifier.templates.create({ name: 'bye', channel: 'push', text: 'Bye {{name}}' })
    const one = { recipient: 'user:42', template: 'bye', variables: { name: 'Ada' } }
    const { items } = await notifier.sendBatch([
      toAda,
      { ...toAda, template: { push: 'bye', email: 'welcome-mail' } },
      { ...toAda, template: { ...toAda.template, push: 'unknown' } },
      one,
      { ...toAda, variables: { name: 'Ada' } },
      { ...toAda, variables: { name: 'Bob', days: 1 } },
      { recipient: 'user:42', channels: ['push'], text: 'Plain' },
    ])
    expect(items).toMatchObject([
      { ids: { length: 3 } },
      { ids: { length: 3 } },
      { error: { code: 'template_not_found', details: { field: 'template.push', channel: 'push' } } },
      { ids: { length: 2 } },
      { error: { code: 'invalid_template_variable', details: { channel: 'email', missing: ['days'] } } },
      { ids: { length: 3 } },
      { ids: { length: 2 } },
    ])
    for (const { ids = [] } of items as readonly { ids?: readonly string[] }[])
      for (const id of ids) expect(await ended(notifier, id)).toBe('sent')
    expect(email.messages.map(({ subject }) => subject).sort()).toEqual([
      'Welcome, Ada',
      'Welcome, Ada',
      'Welcome, Bob',
    ])
    expect(push.messages.map(({ body }) => body).sort()).toEqual([
      'Bye Ada',
      'Bye Ada',
      'Bye Ada',
      'Bye Ada',
      'Hello Ada',
      'Hello Ada',
      'Hello Bob',
      'Hello Bob',
      'Plain',
      'Plain',
    ])
  })

  it('reads more templates than fit into one look-up', async () => {
    const { notifier, ended, push } = await start()
    const names = Array.from({ length: 20 }, (_, at) => `push-${at}`)
    for (const name of names) await notifier.templates.create({ name, channel: 'push', text: name })
    const { items } = await notifier.sendBatch(
      names.flatMap((name) => [
        { ...toAda, template: { ...toAda.template, push: name } },
        { recipient: 'user:42', template: name },
      ]),
    )
    expect(items.filter((item) => 'error' in item)).toEqual([])
    for (const { ids = [] } of items as readonly { ids?: readonly string[] }[])
      for (const id of ids) expect(await ended(notifier, id)).toBe('sent')
    expect(push.messages.map(({ body }) => body).sort()).toEqual(
      names.flatMap((name) => [name, name, name, name]).sort(),
    )
  })

  it('validates all of them, and shows the first', async () => {
    const { notifier } = await start()
    expect(await notifier.validate(toAda)).toMatchObject({
      channel: 'push',
      rendered: { subject: 'Welcome', body: 'Hello Ada' },
    })
    const error = await refusal(notifier.validate({ ...toAda, variables: { name: 'Ada' } }))
    expect(error).toMatchObject({ code: 'invalid_template_variable', details: { channel: 'email' } })
  })

  it('explains what would become of it', async () => {
    const { notifier } = await start()
    const explained = await notifier.explain(toAda)
    expect(explained.map(({ channel, to, decidedBy }) => [channel, to, decidedBy])).toEqual([
      ['push', 'one', null],
      ['push', 'two', null],
      ['email', 'ada@example.com', null],
    ])
    const wrong = await notifier.explain({ ...toAda, template: { ...toAda.template, email: 'unknown' } })
    expect(wrong).toMatchObject([
      { gates: expect.arrayContaining([expect.objectContaining({ code: 'template_not_found' })]) },
    ])
  })

  it('gets the first answer again with a key, and is another message with another template', async () => {
    const { notifier } = await start()
    const first = await notifier.send(toAda, { idempotencyKey: 'k' })
    expect(await notifier.send(toAda, { idempotencyKey: 'k' })).toEqual({ ...first, replayed: true })
    const other = { ...toAda, template: { ...toAda.template, email: 'other' } }
    expect(await refusal(notifier.send(other, { idempotencyKey: 'k' }))).toMatchObject({
      code: 'idempotency_key_reused',
    })
  })
})

describe('wrong templates for channels', () => {
  const { channels: _channels, ...oneChannel } = toAda
  const many = Object.fromEntries(Array.from({ length: 9 }, (_, at) => [`c${at}`, 'x']))
  it.each<[string, object, string, object, string]>([
    [
      'a single one',
      { ...toAda, template: 'welcome-mail' },
      'invalid_parameter',
      { field: 'template' },
      'with "channels" name one for each: { "push": "…" }',
    ],
    [
      'none for one',
      { ...toAda, template: { push: 'welcome-push' } },
      'invalid_parameter',
      { field: 'template' },
      'none for email',
    ],
    [
      'none for a channel with a name of every object',
      { ...toAda, channels: ['constructor'], template: { email: 'welcome-mail' } },
      'invalid_parameter',
      { field: 'template' },
      'none for constructor',
    ],
    [
      'one for a channel that is not named',
      { ...toAda, channels: ['push'] },
      'invalid_parameter',
      { field: 'template' },
      'one for email, which "channels" does not name',
    ],
    ['no channels', oneChannel, 'invalid_parameter', { field: 'template' }, 'needs "channels"'],
    [
      'a channel',
      { ...oneChannel, channel: 'email' },
      'invalid_parameter',
      { field: 'template' },
      'needs "channels"',
    ],
    [
      'no name of a channel',
      { ...toAda, template: { ...toAda.template, 'E-Mail': 'x' } },
      'invalid_parameter',
      { field: 'template' },
      'must be the name of a channel',
    ],
    ['nine', { ...toAda, template: many }, 'invalid_parameter', { field: 'template' }, 'at most 8'],
    [
      'a number',
      { ...toAda, template: 1 },
      'invalid_parameter',
      { field: 'template' },
      'must be a text, or must be an object',
    ],
    [
      'a number in it',
      { ...toAda, template: { push: 1, email: 'x' } },
      'invalid_parameter',
      { field: 'template' },
      '"push" must be a text',
    ],
    [
      'an unknown one',
      { ...toAda, template: { ...toAda.template, email: 'unknown' } },
      'template_not_found',
      { field: 'template.email', channel: 'email', template: 'unknown' },
      'has no template "unknown"',
    ],
    [
      'one of another channel',
      { ...toAda, template: { push: 'welcome-push', email: 'welcome-push' } },
      'invalid_channel',
      { field: 'template.email', channel: 'email', expected: 'push' },
      'is for push, not for email',
    ],
    [
      'variables that one of them misses',
      { ...toAda, variables: { name: 'Ada' } },
      'invalid_template_variable',
      { field: 'variables', channel: 'email', missing: ['days'] },
      'On the channel email',
    ],
  ])('are refused: %s', async (_what, message, code, details, words) => {
    const { notifier } = await start()
    const error = await refusal(notifier.send(message as never))
    expect(error).toMatchObject({ code, details })
    expect(error.message).toContain(words)
    const { items } = await notifier.sendBatch([message as never])
    expect(items).toMatchObject([{ error: { code, details } }])
    expect((await notifier.notifications.list()).items).toEqual([])
  })
})
