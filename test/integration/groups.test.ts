import { expect, it, onTestFinished } from 'vitest'
import { postgres } from '../../adapters/storage/postgres/index.ts'
import type { Storage } from '../../src/core/ports/storage/storage.ts'
import { type Plan, UNLIMITED } from '../../src/core/tenancy/plans.ts'
import { createNotifier } from '../../src/create-notifier.ts'
import type { Person } from '../../src/features/recipients/options.ts'
import { recordingProvider } from '../../src/testing/recording-provider.ts'
import { openStorage } from '../support/faults/store.ts'
import { describeEachWith, describeWith } from '../support/left-out.ts'
import { onPostgres, sharedPostgres, uniqueSchema, whyNoPostgres } from '../support/postgres.ts'
import { STORAGES, whyNoStorage } from '../support/storages.ts'

const ada: Person = {
  channels: { email: 'ada@example.com', push: ['one', 'two'], sms: '+14155550123' },
}

const toAda = {
  recipient: 'user:42',
  channels: ['push', 'email'],
  template: { push: 'welcome-push', email: 'welcome-mail' },
  variables: { name: 'Ada' },
} as const

const toBob = { ...toAda, recipient: 'user:43' }

const PUSH_AND_MAIL = [
  ['push', 'Hello Ada'],
  ['push', 'Hello Ada'],
  ['email', 'Dear Ada'],
]

async function start<Tx>(storage: Storage<Tx>, plan: Partial<Plan> = {}) {
  const people = new Map<string, Person>([
    ['user:42', ada],
    ['user:43', { channels: { push: 'three' } }],
  ])
  const [email, push, sms] = [recordingProvider(), recordingProvider(), recordingProvider()]
  const notifier = createNotifier({
    storage,
    channels: { email, push, sms },
    recipients: { resolve: (ids) => new Map(ids.map((id) => [id, people.get(id)])) },
    plans: { free: { ...UNLIMITED, ...plan } },
    delivery: { pollMs: 20 },
  })
  onTestFinished(() => notifier.stop())
  await notifier.start()
  await notifier.organizations.create({ id: 'org_a', name: 'A' })
  const tenant = notifier.organization('org_a')
  await tenant.templates.create({ name: 'welcome-mail', channel: 'email', text: 'Dear {{name}}' })
  await tenant.templates.create({ name: 'welcome-push', channel: 'push', text: 'Hello {{name}}' })
  const texts = async (ids: readonly string[]) => {
    for (const id of ids) expect(await tenant.waitFor(id)).toMatchObject({ status: 'sent' })
    return Promise.all(
      ids.map(async (id) => {
        const { channel, rendered } = await tenant.notifications.get(id, { rendered: true })
        return [channel, rendered?.body]
      }),
    )
  }
  const all = async () => (await tenant.notifications.list()).items
  return { people, notifier, tenant, texts, all }
}

describeEachWith(STORAGES, whyNoStorage, 'a message on several channels, on %s', (_name, location) => {
  const open = async () => openStorage(await location())

  it('is a group, whose channels have texts of their own', async () => {
    const { tenant, texts, all } = await start(await open())
    const { ids = [], groupId } = await tenant.send(toAda)
    expect(await texts(ids)).toEqual(PUSH_AND_MAIL)
    const stored = await all()
    expect(stored.map((one) => [one.channel, one.to, one.groupId])).toEqual([
      ['email', 'ada@example.com', groupId],
      ['push', 'two', groupId],
      ['push', 'one', groupId],
    ])
    expect(new Set(stored.map(({ createdAt }) => createdAt)).size).toBe(1)
  })

  it('is one of a batch, beside wrong ones', async () => {
    const { tenant, texts, all } = await start(await open())
    const { items } = await tenant.sendBatch([
      toAda,
      { ...toAda, template: { ...toAda.template, email: 'unknown' } },
      toBob,
      { ...toAda, channels: ['push', 'pager'] } as never,
      { channel: 'email', to: 'eve@example.com', text: 'Hi' },
    ])
    expect(items).toMatchObject([
      { groupId: expect.any(String), ids: { length: 3 } },
      { error: { code: 'template_not_found', details: { channel: 'email' } } },
      { id: expect.any(String) },
      { error: { code: 'invalid_parameter' } },
      { id: expect.any(String) },
    ])
    const [first] = items as readonly { ids?: readonly string[] }[]
    expect(await texts(first?.ids ?? [])).toEqual(PUSH_AND_MAIL)
    expect(items[2]).not.toHaveProperty('groupId')
    expect(await all()).toHaveLength(5)
  })

  it('is answered alike with the same key, alone and in a batch, at once and later', async () => {
    const { tenant, people, all } = await start(await open())
    const key = { idempotencyKey: 'k' }
    const answers = await Promise.all([tenant.send(toAda, key), tenant.send(toAda, key)])
    const batches = await Promise.all([
      tenant.sendBatch([toAda, toBob], key),
      tenant.sendBatch([toAda, toBob], key),
    ])
    people.clear()
    answers.push(await tenant.send(toAda, key))
    batches.push(await tenant.sendBatch([toAda, toBob], key))
    const [{ ids, groupId } = {}] = answers
    expect(ids).toHaveLength(3)
    for (const answer of answers) expect(answer).toMatchObject({ ids, groupId })
    expect(answers.filter(({ replayed }) => !replayed)).toHaveLength(1)
    const namesOf = (items: readonly object[]) =>
      items.map((item) => ('ids' in item ? item.ids : 'id' in item ? item.id : item))
    for (const { items } of batches) expect(namesOf(items)).toEqual(namesOf(batches[0]?.items ?? []))
    expect(batches.filter(({ replayed }) => !replayed)).toHaveLength(1)
    expect(await all()).toHaveLength(7)
  })

  it.each([
    ['hour', { notificationsPerHour: 4 }, 'rate_limit_exceeded'],
    ['month', { notificationsPerMonth: 4 }, 'notification_quota_exceeded'],
  ])('is admitted by the limit of the %s as a whole, or not at all', async (_what, plan, code) => {
    const { tenant, all } = await start(await open(), plan)
    const answers = await Promise.allSettled([1, 2, 3].map(() => tenant.send(toAda)))
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const answer of answers)
      if (answer.status === 'rejected') expect(answer.reason).toMatchObject({ code })
    const { items } = await tenant.sendBatch([toAda, toBob, toAda])
    expect(items).toMatchObject([{ error: { code } }, { error: { code } }, { error: { code } }])
    expect(await tenant.send(toBob)).toMatchObject({ to: 'three' })
    expect(await all()).toHaveLength(4)
  })
})

describeWith(whyNoPostgres(), 'a message on several channels, in PostgreSQL', () => {
  async function open() {
    const url = await sharedPostgres()
    const schema = uniqueSchema()
    const rows = () =>
      onPostgres(url, (client) =>
        client.query<{ group_id: string | null; xid: string }>(
          `SELECT group_id, xmin::text AS xid FROM "${schema}".notifications`,
        ),
      ).then((found) => found.rows)
    const world = await start(postgres({ connectionString: url, schema, listen: false, maxConnections: 3 }))
    return { ...world, url, rows }
  }
  const sendAt = new Date(Date.now() + 3_600_000)

  it('is stored by one transaction, alone and in a batch', async () => {
    const { tenant, rows } = await open()
    await tenant.send({ ...toAda, sendAt })
    await tenant.sendBatch([toAda, toBob, toAda].map((one) => ({ ...one, sendAt })))
    const stored = await rows()
    expect(stored).toHaveLength(10)
    expect(new Set(stored.map(({ xid }) => xid)).size).toBe(2)
    expect(new Set(stored.map(({ group_id }) => group_id)).size).toBe(4)
  })

  it('is part of a transaction of the application, as a whole', async () => {
    const { tenant, url, rows, all } = await open()
    await onPostgres(url, async (client) => {
      await client.query('BEGIN')
      await tenant.send(toAda, { tx: client })
      await tenant.sendBatch([toAda, toBob], { tx: client })
      expect(await all()).toEqual([])
      await client.query('ROLLBACK')
      expect(await rows()).toEqual([])
      await client.query('BEGIN')
      const { ids } = await tenant.send({ ...toAda, sendAt }, { tx: client })
      const wrong = { ...toAda, template: { push: 'welcome-push', email: 'unknown' } }
      await expect(tenant.send(wrong, { tx: client })).rejects.toMatchObject({ code: 'template_not_found' })
      await client.query('COMMIT')
      expect((await all()).map(({ id }) => id).toReversed()).toEqual(ids)
      expect(new Set((await rows()).map(({ xid }) => xid)).size).toBe(1)
    })
  })
})
