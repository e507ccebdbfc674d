import { expect, it } from 'vitest'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { mail, notifierWorld } from '../../../support/notifier-world.ts'

async function start() {
  const world = notifierWorld()
  const provider = recordingProvider()
  const notifier = await world.start({ channels: { email: provider } })
  return { ...world, provider, notifier }
}

const order = { order: '4711', 'shop.id': 'ü 😀', empty: '' }

it('goes with a message: into its record, lists, log and events, and to the provider', async () => {
  const { notifier, provider, ended } = await start()
  const heard: unknown[] = []
  notifier.on('notification.sent', ({ data }) => heard.push(data.metadata))
  const { id } = await notifier.send({ ...mail, metadata: order })
  await ended(notifier, id)
  expect((await notifier.notifications.get(id)).metadata).toEqual(order)
  expect((await notifier.notifications.list()).items.map(({ metadata }) => metadata)).toEqual([order])
  const log = await notifier.logs.list()
  expect(log.items.map(({ metadata }) => metadata)).toEqual(log.items.map(() => order))
  expect(heard).toEqual([order])
  expect(provider.messages.map(({ metadata }) => metadata)).toEqual([order])
})

it('is absent where there is none', async () => {
  const { notifier, provider, ended } = await start()
  const { id } = await notifier.send({ ...mail, metadata: {} })
  await ended(notifier, id)
  expect(await notifier.notifications.get(id)).toMatchObject({
    metadata: null,
    recipient: null,
    groupId: null,
  })
  expect(provider.messages[0]).not.toHaveProperty('metadata')
})

it('wins over that of the template, whose pairs are pinned', async () => {
  const { notifier } = await start()
  const created = await notifier.templates.create({
    name: 'shipped',
    channel: 'email',
    body: 'Hi',
    metadata: { team: 'shop', order: '0' },
  })
  expect(created).toMatchObject({ metadata: { team: 'shop', order: '0' }, version: 1 })
  const { id } = await notifier.send({ to: mail.to, template: 'shipped', metadata: { order: '1' } })
  const changed = await notifier.templates.update('shipped', { metadata: { team: 'mail' } })
  expect(changed).toMatchObject({ metadata: { team: 'mail' }, version: 2 })
  expect(await notifier.templates.update('shipped', { metadata: { team: 'mail' } })).toMatchObject({
    version: 2,
  })
  const later = await notifier.sendBatch([
    { to: mail.to, template: 'shipped' },
    { ...mail, metadata: { order: '2' } },
  ])
  const ids = later.items.flatMap((item) => ('id' in item ? [item.id] : []))
  const all = await Promise.all([id, ...ids].map((one) => notifier.notifications.get(one)))
  expect(all.map(({ metadata }) => metadata)).toEqual([
    { team: 'shop', order: '1' },
    { team: 'mail' },
    { order: '2' },
  ])
  expect((await notifier.templates.version('shipped', 1)).metadata).toEqual({ team: 'shop', order: '0' })
  expect((await notifier.templates.restore('shipped', 1)).metadata).toEqual({ team: 'shop', order: '0' })
  expect((await notifier.templates.update('shipped', { metadata: null })).metadata).toBeNull()
})

it('is copied by a resend', async () => {
  const { notifier, ended } = await start()
  const { id } = await notifier.send({ ...mail, metadata: order })
  await ended(notifier, id)
  const copy = await notifier.notifications.resend(id)
  expect((await notifier.notifications.get(copy.id)).metadata).toEqual(order)
})

it('finds notifications, log entries and dead letters by all pairs', async () => {
  const { notifier, provider, ended } = await start()
  provider.behave(() => ({ kind: 'rejected', scope: 'message', code: 'invalid_content' }))
  const first = await notifier.send({ ...mail, metadata: { order: '1', shop: 'a' } })
  const second = await notifier.send({ ...mail, metadata: { order: '1', shop: 'b' } })
  await ended(notifier, first.id)
  await ended(notifier, second.id)
  const both = { metadata: { order: '1' } }
  const one = { metadata: { order: '1', shop: 'b' } }
  const ids = (list: { readonly items: readonly { readonly id: string }[] }) => list.items.map(({ id }) => id)
  expect(ids(await notifier.notifications.list(both))).toEqual([second.id, first.id])
  expect(ids(await notifier.notifications.list(one))).toEqual([second.id])
  expect(ids(await notifier.deadLetters.list(one))).toEqual([second.id])
  const log = await notifier.logs.list(one)
  expect(new Set(log.items.map(({ notificationId }) => notificationId))).toEqual(new Set([second.id]))
  expect(await notifier.deadLetters.retry({ filter: one, dryRun: true })).toMatchObject({ retried: 1 })
  await expect(notifier.notifications.list({ metadata: { 'a b': '1' } })).rejects.toMatchObject({
    code: 'invalid_parameter',
  })
})

const pairs = (count: number, value = 'x') =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`name-${index}`, value]))

it.each([
  ['too many pairs', pairs(21), 'metadata'],
  ['a name with a space', { 'a b': '1' }, 'metadata.a b'],
  ['an empty name', { '': '1' }, 'metadata.'],
  ['a long name', { ['x'.repeat(41)]: '1' }, `metadata.${'x'.repeat(41)}`],
  ['a number', { order: 4711 }, 'metadata.order'],
  ['a long value', { order: 'x'.repeat(501) }, 'metadata.order'],
  ['a lone surrogate', { order: '\ud800' }, 'metadata.order'],
  ['too much', pairs(9, 'ü'.repeat(250)), 'metadata'],
])('is refused, with the name of the pair: %s', async (_what, metadata, field) => {
  const { notifier } = await start()
  const refused = { code: 'invalid_parameter', status: 422, details: { field } }
  await expect(notifier.send({ ...mail, metadata } as never)).rejects.toMatchObject(refused)
  const { items } = await notifier.sendBatch([{ ...mail, metadata } as never, mail])
  expect(items).toMatchObject([{ error: { code: 'invalid_parameter', details: { field } } }, { index: 1 }])
})

it('is limited together with that of the template', async () => {
  const { notifier } = await start()
  await notifier.templates.create({ name: 'full', channel: 'email', body: 'Hi', metadata: pairs(20) })
  const refused = { code: 'invalid_parameter', status: 422, details: { field: 'metadata' } }
  const send = (metadata: Record<string, string>) =>
    notifier.send({ to: mail.to, template: 'full', metadata })
  await expect(send({ one: 'more' })).rejects.toMatchObject(refused)
  await expect(send({ 'name-1': 'other' })).resolves.toMatchObject({ status: 'queued' })
})

it('refuses the name __proto__, in messages and in filters', async () => {
  const { notifier } = await start()
  const metadata = { ['__proto__']: 'p' }
  const refusal = { code: 'invalid_parameter', details: { field: 'metadata.__proto__' } }
  await expect(notifier.send({ ...mail, metadata })).rejects.toMatchObject({ ...refusal, status: 422 })
  for (const list of [notifier.notifications.list, notifier.logs.list, notifier.deadLetters.list])
    await expect(list({ metadata })).rejects.toMatchObject({ ...refusal, status: 400 })
})
