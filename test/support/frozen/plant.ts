import { eventually } from '../eventually.ts'
import type { StorageLocation } from '../faults/store.ts'
import { httpReceiver } from '../receivers.ts'
import { frozenNotifier } from './notifier.ts'

/** Facts about a frozen database that tests need. */
export interface FrozenFacts {
  /** Epoch milliseconds. */
  readonly frozenAt: number
  readonly organization: string
  /** Secrets, which databases hold only as hashes. */
  readonly apiKey: string
  readonly operatorKey: string
  /** Of the endpoint that answers, and of the one that is down. */
  readonly endpoints: Readonly<Record<'up' | 'down', { readonly id: string; readonly secret: string }>>
  readonly replay: {
    readonly idempotencyKey: string
    readonly message: typeof ORDER
    readonly id: string
  }
  /** Newest first, as the list of notifications has them. */
  readonly notifications: readonly { readonly id: string; readonly status: string; readonly to: string }[]
  /** Messages that wait for another attempt or for their time: texts by address. */
  readonly waiting: Readonly<Record<string, string>>
}

const ORGANIZATION = 'org_acme'

const ORDER = {
  channel: 'email',
  to: 'ada@example.com',
  template: 'order',
  variables: { name: 'Ada', order: '4711' },
  metadata: { order: '4711' },
} as const

const LATER_MS = 30 * 60_000

/** Fills an empty database with data of every kind, and ends in the middle of its work. */
export async function plantFrozen(location: StorageLocation): Promise<FrozenFacts> {
  const { notifier } = frozenNotifier(location, 0)
  const receiver = await httpReceiver((response, { path }) => {
    response.statusCode = path === '/up' ? 200 : 503
    response.end()
  })
  try {
    await notifier.start()
    await notifier.organizations.create({
      id: ORGANIZATION,
      name: 'Acme',
      plan: 'starter',
      branding: { color: '#2f4fd0' },
      locale: 'en',
    })
    const acme = notifier.organization(ORGANIZATION)
    const endpoint = async (path: 'up' | 'down') => {
      const url = `http://127.0.0.1:${receiver.port}/${path}`
      const events = ['notification.sent', 'notification.failed', 'notification.cancelled'] as const
      const { id, secret } = await acme.webhooks.create({ url, events })
      return { id, secret }
    }
    const endpoints = { up: await endpoint('up'), down: await endpoint('down') }

    await acme.partials.create({ name: 'footer', html: '<p>Acme Ltd</p>', text: 'Acme Ltd' })
    await acme.layouts.create({ name: 'brand', html: '<main>{{{content}}}</main>{{> footer}}' })
    await acme.messages.put('en', { 'order.title': 'Order {order}' })
    await acme.messages.put('de', { 'order.title': 'Bestellung {order}' })
    await acme.templates.create({
      name: 'order',
      channel: 'email',
      subject: '{{@order.title}}',
      html: '<p>Thank you!</p>',
      layout: 'brand',
    })
    await acme.templates.update('order', { html: '<p>Thank you, {{name}}!</p>' })
    await acme.templates.create({ name: 'code', channel: 'sms', body: 'Your code is {{code}}' })

    const quietHours = { zone: 'Europe/Vienna', windows: [{ from: '22:00', to: '07:00' }] }
    await acme.categories.create({ id: 'news', name: 'News', default: { sms: false } })
    await acme.preferences.change({ recipient: 'user_7' }, { quietHours, categories: { news: false } })
    await acme.preferences.change(
      { channel: 'email', to: 'bob@example.com' },
      { categories: { news: false } },
    )
    await acme.suppressions.add({ channel: 'email', to: 'former@example.com', reason: 'complaint' })
    const { secret: apiKey } = await acme.apiKeys.create({
      name: 'Production',
      permission: 'Full Access',
      grants: ['content'],
    })
    await acme.apiKeys.create({ name: 'Reporting', permission: 'Read Only' })
    const { secret: operatorKey } = await notifier.operatorKeys.create({
      name: 'Back office',
      permission: 'Full Access',
    })

    const idempotencyKey = 'order:4711'
    const { id } = await acme.send(ORDER, { idempotencyKey })
    await acme.send({ recipient: 'user_42', channels: ['email', 'sms'], subject: 'Hi', text: 'Hello' })
    await acme.send({
      channel: 'sms',
      to: '+436641234567',
      template: 'code',
      variables: { code: '123' },
      sensitive: true,
    })
    await acme.send({
      channel: 'email',
      to: 'bob@example.com',
      subject: 'News',
      body: 'News',
      category: 'news',
    })
    const gone = await acme.send({ channel: 'email', to: 'gone@example.com', subject: 'Hi', body: 'Hello' })
    const busy = await acme.send({
      channel: 'email',
      to: 'busy@example.com',
      subject: 'Hi',
      body: 'Once more',
    })
    const file = await acme.attachments.upload(Buffer.from('the invoice'), {
      filename: 'invoice.txt',
      contentType: 'text/plain',
    })
    await acme.send({
      ...ORDER,
      to: 'carol@example.com',
      variables: { name: 'Carol', order: '4712' },
      metadata: { order: '4712' },
      sendAt: new Date(Date.now() + LATER_MS),
      email: { cc: ['dave@example.com'], attachments: [{ id: file.id }] },
    })
    const reminder = await acme.send({
      channel: 'email',
      to: 'ada@example.com',
      subject: 'Reminder',
      body: 'Soon',
      sendAt: new Date(Date.now() + LATER_MS),
    })
    await acme.notifications.cancel(reminder.id)
    await acme.send({ channel: 'email', recipient: 'user_9', subject: 'Hi', body: 'Hello' })
    await acme
      .send({ channel: 'email', to: 'former@example.com', subject: 'Hi', body: 'Hello' })
      .catch(() => {})
    await eventually(async () => (await acme.notifications.get(gone.id)).status === 'failed')
    await eventually(async () => (await acme.notifications.get(busy.id)).waiting?.reason === 'retry')
    await acme.people.erase({ recipient: 'user_9' })

    // Every event has had its first attempt.
    await eventually(async () => {
      const { items } = await acme.notifications.list({ limit: 100 })
      const ended = items.filter(({ status }) => ['sent', 'failed', 'cancelled'].includes(status))
      const both = await Promise.all(
        Object.values(endpoints).map(
          async ({ id }) => (await acme.webhooks.deliveries(id, { limit: 100 })).items,
        ),
      )
      return both.every(
        (all) => all.length >= ended.length && all.every(({ attempts }) => attempts.length > 0),
      )
    })
    await notifier.stop()
    const { notifications } = await readBack(location)
    return {
      frozenAt: Date.now(),
      organization: ORGANIZATION,
      apiKey,
      operatorKey,
      endpoints,
      replay: { idempotencyKey, message: ORDER, id },
      notifications,
      waiting: {
        'busy@example.com': 'Once more',
        'carol@example.com': '<main><p>Thank you, Carol!</p></main><p>Acme Ltd</p>',
      },
    }
  } finally {
    await notifier.stop()
    await receiver.close()
  }
}

async function readBack(location: StorageLocation): Promise<Pick<FrozenFacts, 'notifications'>> {
  const { notifier } = frozenNotifier(location, 0)
  await notifier.start({ deliver: false })
  const { items } = await notifier.organization(ORGANIZATION).notifications.list({ limit: 100 })
  await notifier.stop()
  return { notifications: items.map(({ id, status, to }) => ({ id, status, to })) }
}
