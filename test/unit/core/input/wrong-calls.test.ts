import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { runInNewContext } from 'node:vm'
import { describe, expect, it, onTestFinished } from 'vitest'
import { sqlite } from '../../../../adapters/storage/sqlite/index.ts'
import { WEBHOOK_EVENT_TYPES } from '../../../../src/core/delivery/endpoint-health.ts'
import { createNotifier } from '../../../../src/create-notifier.ts'
import type { Notifier } from '../../../../src/notifier.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { temporaryDirectory } from '../../../support/temporary-directory.ts'

/** What plain JavaScript lets through and the types do not. */
const mail = { channel: 'email', to: 'ada@example.com', body: 'Hello' } as const

const directory = temporaryDirectory()

async function start(): Promise<Notifier> {
  const notifier = createNotifier({ channels: { email: recordingProvider() } })
  await notifier.start({ deliver: false })
  onTestFinished(() => notifier.stop())
  return notifier
}

const refusedFor = (field: string) => ({
  code: 'invalid_parameter',
  details: expect.objectContaining({ field }),
})

describe('a wrong type is refused by its name', () => {
  it.each([null, 5, true, ['key'], {}])('as the idempotency key %j, and nothing is stored', async (key) => {
    const notifier = await start()
    const options = { idempotencyKey: key as never }
    for (const call of [() => notifier.send(mail, options), () => notifier.sendBatch([mail], options)])
      await expect(call()).rejects.toMatchObject(refusedFor('idempotencyKey'))
    expect((await notifier.notifications.list()).items).toEqual([])
  })

  it.each([null, undefined, 5, {}, '', 'acme', 'org_', 'org_a b', `org_${'x'.repeat(61)}`])(
    'as the organization %j, at once',
    async (id) => {
      const notifier = await start()
      expect(() => notifier.organization(id as never)).toThrow(
        expect.objectContaining(refusedFor('organizationId')),
      )
    },
  )

  it('as an organization beside the fields of a message, which would go out for another', async () => {
    const notifier = await start()
    await notifier.organizations.create({ id: 'org_b', name: 'B' })
    const [others, own] = ['org_b', 'org_default'].map((organizationId) => ({ ...mail, organizationId }))
    await expect(notifier.send(others as never)).rejects.toMatchObject(refusedFor('organizationId'))
    await expect(notifier.validate(others as never)).rejects.toMatchObject(refusedFor('organizationId'))
    const { items } = await notifier.sendBatch([others, own] as never[])
    expect(items).toMatchObject([
      { error: refusedFor('organizationId') },
      { error: refusedFor('organizationId') },
    ])
    const same = notifier.organization('org_b').send(others as never)
    await expect(same).rejects.toMatchObject(refusedFor('organizationId'))
    const stored = await notifier.organization('org_b').notifications.list()
    expect(stored.items).toEqual([])
  })

  it('as an organization in the options of a call, with the right call', async () => {
    const notifier = await start()
    await expect(notifier.send(mail, { organizationId: 'org_b' } as never)).rejects.toMatchObject({
      message: expect.stringContaining(
        '"organizationId" (call the same method of notifier.organization(id))',
      ),
    })
  })

  it.each([undefined, null, 5, 'Hello'])('as the notification %j', async (wrong) => {
    const notifier = await start()
    await expect(notifier.send(wrong as never)).rejects.toMatchObject(refusedFor('notification'))
    const { items } = await notifier.sendBatch([wrong as never])
    expect(items).toMatchObject([{ error: refusedFor('notification') }])
  })

  it('as an id of nothing are told what is not there', async () => {
    const notifier = await start()
    const { webhooks, apiKeys } = notifier
    for (const [call, what] of [
      [webhooks.get('wh_1'), 'No webhook endpoint'],
      [webhooks.redeliver('wh_1', { since: new Date(0) }), 'No webhook endpoint'],
      [apiKeys.delete('key_1'), 'No API key'],
      [notifier.organization('org_1').limits.get(), 'No organization'],
    ] as const)
      await expect(call).rejects.toMatchObject({ code: 'not_found', message: expect.stringContaining(what) })
  })

  it.each([undefined, null, 5, {}] as never[])('as the id %j of anything, on SQLite, too', async (id) => {
    const storage = sqlite({ file: join(directory, `${randomUUID()}.db`) })
    const notifier = createNotifier({ channels: {}, storage })
    await notifier.start({ deliver: false })
    onTestFinished(() => notifier.stop())
    const { notifications, webhooks, organizations, apiKeys } = notifier
    for (const call of [notifications.get, notifications.cancel, notifications.resend, notifications.retry])
      await expect(call(id)).rejects.toMatchObject(refusedFor('id'))
    await expect(notifier.waitFor(id)).rejects.toMatchObject(refusedFor('id'))
    for (const call of [webhooks.get, webhooks.delete, webhooks.test, apiKeys.delete, organizations.get])
      await expect(call(id)).rejects.toMatchObject(refusedFor('id'))
    await expect(organizations.update(id, { name: 'x' })).rejects.toMatchObject(refusedFor('id'))
    const { id: endpoint } = await webhooks.create({ url: 'https://example.com/' })
    await expect(webhooks.redeliverOne(endpoint, id)).rejects.toMatchObject(refusedFor('id'))
  })

  it('as the id of a template', async () => {
    const notifier = await start()
    for (const id of [undefined, null, 5] as never[])
      await expect(notifier.templates.get(id)).rejects.toMatchObject({ code: 'template_not_found' })
  })
})

describe('start and stop refuse', () => {
  const wrong = (option: string) => ({
    name: 'NotifierError',
    code: 'invalid_configuration',
    message: expect.stringContaining(option),
    details: { option },
  })

  it.each([
    [{ deliver: 'no' }, 'deliver'],
    [{ deliver: null }, 'deliver'],
    [{ deliver: 0 }, 'deliver'],
    [{ delivers: false }, 'delivers'],
    [null, 'options'],
    ['no', 'options'],
  ])('start(%j), and nothing is started', async (options, option) => {
    const notifier = createNotifier({ channels: { email: recordingProvider() } })
    await expect(notifier.start(options as never)).rejects.toMatchObject(wrong(option))
    await expect(notifier.send(mail)).rejects.toMatchObject({ code: 'not_started' })
  })

  it.each([
    [{ timeoutMs: 'x' }, 'timeoutMs'],
    [{ timeoutMs: '5' }, 'timeoutMs'],
    [{ timeoutMs: Number.NaN }, 'timeoutMs'],
    [{ timeoutMs: Number.POSITIVE_INFINITY }, 'timeoutMs'],
    [{ timeoutMs: -1 }, 'timeoutMs'],
    [{ timeoutMs: null }, 'timeoutMs'],
    [{ deadline: 5 }, 'deadline'],
    [null, 'options'],
  ])('stop(%o), and nothing is stopped', async (options, option) => {
    const notifier = await start()
    await expect(notifier.stop(options as never)).rejects.toMatchObject(wrong(option))
    await notifier.send(mail)
  })

  it('not a signal, as a listener of the process gets it', async () => {
    const notifier = await start()
    const stop = notifier.stop as unknown as (signal: string, number: number) => Promise<void>
    await stop('SIGTERM', 15)
    await expect(notifier.send(mail)).rejects.toMatchObject({ code: 'service_unavailable' })
  })

  it('nothing else', async () => {
    const notifier = createNotifier({ channels: { email: recordingProvider() } })
    await notifier.start({ deliver: undefined })
    await notifier.stop({ timeoutMs: 0 })
    await notifier.stop({ timeoutMs: undefined })
  })
})

describe('on and off refuse', () => {
  const listener = (): void => {}
  const names = ['misspelt', 'notification.*', '*', '', 'toString', '__proto__', Symbol('sent'), undefined, 5]

  it.each(names)('the event %o', (event) => {
    const notifier = createNotifier({ channels: {} })
    for (const name of ['on', 'off'] as const) {
      expect(() => notifier[name](event as never, listener as never)).toThrow(
        expect.objectContaining({
          ...refusedFor('event'),
          message: expect.stringContaining('notification.sent'),
        }),
      )
    }
  })

  it.each([undefined, null, 'x', {}])('the listener %o, and others stay', async (wrong) => {
    const notifier = await start()
    const heard = new Promise((resolve) => notifier.on('notification.accepted', resolve))
    for (const name of ['on', 'off'] as const) {
      expect(() => notifier[name]('notification.accepted', wrong as never)).toThrow(
        expect.objectContaining(refusedFor('listener')),
      )
    }
    await notifier.send(mail)
    await heard
  })

  it('no event that there is', () => {
    const notifier = createNotifier({ channels: {} })
    const others = ['notification.accepted', 'attempt.started', 'attempt.failed', 'error'] as const
    const resting = ['provider.paused', 'provider.resumed'] as const
    for (const event of [...WEBHOOK_EVENT_TYPES, ...others, ...resting])
      notifier.on(event as 'error', listener).off(event as 'error', listener)
  })
})

describe('variables that hide their values are refused', () => {
  class Person {
    readonly name = 'Ada'
    get greeting(): string {
      return 'Hello'
    }
  }
  class Hidden {
    readonly #name = 'Ada'
    get name(): string {
      return this.#name
    }
  }

  async function withTemplate(): Promise<Notifier> {
    const notifier = await start()
    await notifier.templates.create({ name: 'hi', channel: 'email', body: 'Hi{{#name}} {{name}}{{/name}}' })
    return notifier
  }

  it.each<[string, unknown]>([
    ['a Map', new Map([['name', 'Ada']])],
    ['a Set', new Set(['Ada'])],
    ['a Date', new Date()],
    ['a class without fields', new Hidden()],
    ['an array', ['Ada']],
  ])('as %s', async (_name, given) => {
    const notifier = await withTemplate()
    const variables = given as never
    const to = 'ada@example.com'
    await expect(notifier.send({ to, template: 'hi', variables })).rejects.toMatchObject(
      refusedFor('variables'),
    )
    await expect(notifier.send({ to, template: 'hi', data: variables })).rejects.toMatchObject(
      refusedFor('data'),
    )
    await expect(notifier.templates.preview('hi', variables)).rejects.toMatchObject(refusedFor('variables'))
    expect((await notifier.notifications.list()).items).toEqual([])
  })

  it.each([new Map([['name', 'Ada']]), new Set(['Ada']), new Hidden()])('as %o inside', async (inside) => {
    const notifier = await withTemplate()
    const sent = notifier.send({ to: 'ada@example.com', template: 'hi', variables: { name: 'Ada', inside } })
    await expect(sent).rejects.toMatchObject(refusedFor('variables'))
  })

  it.each<[string, object]>([
    ['an instance with fields', new Person()],
    ['an object without a prototype', Object.assign(Object.create(null), { name: 'Ada' })],
    ['an object of another realm', runInNewContext('({ name: "Ada", none: {} })')],
    ['a Date inside', { name: 'Ada', since: new Date() }],
  ])('and not %s', async (_name, variables) => {
    const notifier = await withTemplate()
    const preview = await notifier.templates.preview('hi', variables as Record<string, unknown>)
    expect(preview.body).toBe('Hi Ada')
    await notifier.send({ to: 'ada@example.com', template: 'hi', variables: variables as never })
  })

  it.each([{}, runInNewContext('({})'), Object.create(null)])('and not %o, which is empty', async (empty) => {
    const notifier = await withTemplate()
    expect((await notifier.templates.preview('hi', empty)).body).toBe('Hi')
  })
})

type Untyped<Api> = {
  readonly [Name in keyof Api]: Api[Name] extends (...input: never) => unknown
    ? (...input: unknown[]) => Promise<unknown>
    : Untyped<Api[Name]>
}

describe('what a call is given beside its subject', () => {
  /** As JavaScript calls, whatever the types say. */
  const others: ((notifier: Untyped<Notifier>, options: unknown) => Promise<unknown>)[] = [
    (notifier, options) => notifier.send(mail, options),
    (notifier, options) => notifier.sendBatch([mail], options),
    (notifier, options) => notifier.validate(mail, options),
    (notifier, options) => notifier.notifications.resend('notif_1', options),
    (notifier, options) => notifier.notifications.get('notif_1', options),
    (notifier, options) => notifier.notifications.cancel('notif_1', options),
    (notifier, options) => notifier.notifications.retry('notif_1', options),
    (notifier, options) => notifier.notifications.list(options),
    (notifier, options) => notifier.logs.list(options),
    (notifier, options) => notifier.deadLetters.list(options),
    (notifier, options) => notifier.deadLetters.retry({ filter: {} }, options),
    (notifier, options) => notifier.templates.create({ name: 'x', channel: 'sms', body: 'x' }, options),
    (notifier, options) => notifier.templates.get('x', options),
    (notifier, options) => notifier.templates.list(options),
    (notifier, options) => notifier.templates.update('x', {}, options),
    (notifier, options) => notifier.templates.delete('x', options),
    (notifier, options) => notifier.apiKeys.create({ name: 'k', permission: 'Full Access' }, options),
    (notifier, options) => notifier.apiKeys.list(options),
    (notifier, options) => notifier.apiKeys.delete('key_1', options),
    (notifier, options) => notifier.webhooks.create({ url: 'https://example.com' }, options),
    (notifier, options) => notifier.webhooks.get('wh_1', options),
    (notifier, options) => notifier.webhooks.list(options),
    (notifier, options) => notifier.webhooks.deliveries('wh_1', options),
    (notifier, options) => notifier.webhooks.rotateSecret('wh_1', options),
    (notifier, options) => notifier.suppressions.add({ channel: 'email', to: mail.to }, options),
    (notifier, options) => notifier.suppressions.remove({ channel: 'email', to: mail.to }, options),
    (notifier, options) => notifier.suppressions.list(options),
    (notifier, options) => notifier.organizations.list(options),
    (notifier, options) => notifier.limits.get(options),
  ]

  it.each(['org_b', null, { organizationID: 'org_b' }, { idempotencykey: 'k' }])(
    'is never taken for the default organization: %j',
    async (options) => {
      const notifier = await start()
      for (const call of others)
        await expect(call(notifier as never, options), String(call)).rejects.toMatchObject(
          refusedFor('options'),
        )
      expect((await notifier.notifications.list()).items).toEqual([])
    },
  )

  it.each<[string, unknown, string]>([
    ['options', { reason: 'x' }, 'retry() got an object too many, with "reason". Leave it out.'],
    ['an option of another call', { tx: {}, idempotencyKey: 'k' }, '"tx": only send(), sendBatch(), and'],
    ['a callback', () => {}, 'retry() takes no callback. Await the promise'],
    ['an organization', 'org_b', 'retry() does not take an organization. Call the same method of notifier.o'],
    ['an organization among options', { organizationID: 'org_b' }, 'retry() does not take an organization.'],
    ['a value', 'because', 'retry() got an argument too many. Leave it out.'],
    ['nothing of use', {}, 'retry() got an argument too many. Leave it out.'],
  ])('is called what it is: %s', async (_name, extra, message) => {
    const { notifications } = (await start()) as never as Untyped<Notifier>
    await expect(notifications.retry('notif_1', extra)).rejects.toMatchObject({
      ...refusedFor('options'),
      message: expect.stringContaining(message),
    })
  })

  it('is what map() adds to it', async () => {
    const { send, notifications } = (await start()) as never as Untyped<Notifier>
    const calls = [
      ...['notif_1'].map(notifications.cancel),
      ...['notif_1'].map(notifications.get),
      ...[mail].map(send),
    ]
    const names = ['cancel', 'get', 'send']
    const answers = await Promise.allSettled(calls)
    expect(answers).toMatchObject(
      names.map((name) => ({
        reason: {
          ...refusedFor('options'),
          message: `${name}() was passed to map() or forEach(), which add an index and the list. Pass (each) => ${name}(each) instead.`,
        },
      })),
    )
  })

  it('is refused where an input names another organization itself', async () => {
    const notifier = await start()
    const organizationId = 'org_b'
    await notifier.organizations.create({ id: organizationId, name: 'B' })
    const template = { name: 'x', channel: 'sms', body: 'x', organizationId } as const
    const key = { name: 'k', permission: 'Full Access', organizationId } as const
    const endpoint = { url: 'https://example.com/', organizationId }
    const recipient = { channel: 'email', to: mail.to, organizationId } as const
    for (const call of [
      () => notifier.templates.create(template),
      () => notifier.apiKeys.create(key),
      () => notifier.webhooks.create(endpoint),
      () => notifier.suppressions.add(recipient),
      () => notifier.suppressions.remove(recipient),
      () => notifier.templates.update('x', { body: 'y', organizationId } as never),
      () => notifier.webhooks.update('wh_1', { events: ['notification.sent'], organizationId } as never),
      () => notifier.webhooks.redeliver('wh_1', { since: new Date(), organizationId } as never),
    ])
      await expect(call()).rejects.toMatchObject(refusedFor('organizationId'))
    await expect(notifier.organization(organizationId).apiKeys.create(key)).rejects.toMatchObject(
      refusedFor('organizationId'),
    )
  })

  it.each<[string, object]>([
    ['channel', { channel: null }],
    ['status', { status: 'done' }],
    ['status', { status: ['sent'] }],
    ['to', { to: {} }],
    ['template', { template: 5 }],
    ['from', { from: '1' }],
    ['until', { until: new Date(Number.NaN) }],
    ['limit', { limit: 101 }],
    ['limit', { limit: '5' }],
    ['offset', { offset: -1 }],
    ['offset', { offset: 2_001 }],
    ['options', { chanel: 'sms' }],
  ])('names a filter that is wrong, %s: %j', async (field, query) => {
    const notifier = await start()
    for (const list of [notifier.notifications.list, notifier.deadLetters.list])
      if (!(field === 'status' && list === notifier.deadLetters.list))
        await expect(list(query)).rejects.toMatchObject(refusedFor(field))
    await expect(notifier.logs.list({ channel: 'E-mail' })).rejects.toMatchObject({
      code: 'invalid_channel',
    })
  })

  it('takes dates as they are written and as they are', async () => {
    const notifier = await start()
    const { createdAt } = await notifier.send(mail)
    for (const from of [createdAt, new Date(createdAt)])
      expect((await notifier.notifications.list({ from })).items).toHaveLength(1)
    expect((await notifier.notifications.list({ until: new Date(createdAt) })).items).toEqual([])
  })
})

it('a cursor of another list is refused', async () => {
  const notifier = await start()
  for (const name of ['one', 'two']) {
    await notifier.send(mail)
    await notifier.templates.create({ name, channel: 'email', body: 'Hi' })
  }
  const { nextCursor } = await notifier.notifications.list({ limit: 1 })
  const cursor = String(nextCursor)
  expect((await notifier.notifications.list({ limit: 1, cursor })).items).toHaveLength(1)
  const { logs, templates, suppressions, deadLetters } = notifier
  for (const { list } of [logs, templates, suppressions, deadLetters])
    await expect(list({ cursor })).rejects.toMatchObject(refusedFor('cursor'))
})
