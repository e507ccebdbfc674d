import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Client, createClient } from '../../src/client/index.ts'
import type { Notifier, SendInput } from '../../src/index.ts'
import { ROUTES } from '../../src/routes.ts'
import type { RunningHost } from '../support/parity/harness.ts'
import { HARNESSES } from '../support/parity/index.ts'
import { httpReceiver, type Receiver } from '../support/receivers.ts'
import { startNotifier } from '../support/rest-host.ts'

const mail = { channel: 'email', to: 'ada@example.com', subject: 'Hello', body: 'Hi' } as const
const later: SendInput = { ...mail, sendAt: new Date(Date.now() + 3_600_000) }
const ada = { recipient: 'user:42' }

interface World {
  readonly client: Client
  /** With the grant `content`. */
  readonly reader: Client
  /** With an operator key. */
  readonly operator: Client
  readonly notifier: Notifier
  /** A name that no other operation uses. */
  readonly name: string
  /** Where webhook events arrive. */
  readonly hook: string
}

type Call = (world: World) => Promise<unknown>

async function failed({ notifier }: World): Promise<string> {
  const { id } = await notifier.send({ ...mail, to: 'fails@example.com' })
  expect((await notifier.waitFor(id)).status).toBe('failed')
  return id
}

async function template({ notifier, name }: World): Promise<string> {
  await notifier.templates.create({ name, channel: 'email', subject: 'A', body: 'Hi {{name}}' })
  await notifier.templates.update(name, { subject: 'B' })
  await notifier.templates.saveDraft(name, { subject: 'C' })
  return name
}

async function sharedText({ notifier, name }: World, kind: 'layouts' | 'partials'): Promise<string> {
  await notifier[kind].create({ name, text: kind === 'layouts' ? '{{content}}' : 'Hi' })
  return name
}

async function webhook({ notifier, hook }: World): Promise<string> {
  return (await notifier.webhooks.create({ url: hook, events: ['notification.sent'] })).id
}

async function delivered(world: World): Promise<[webhookId: string, eventId: string]> {
  const id = await webhook(world)
  await world.notifier.send(mail)
  const first = async () => (await world.notifier.webhooks.deliveries(id)).items[0]
  await expect.poll(async () => (await first())?.status).toBe('delivered')
  return [id, (await first())?.eventId ?? '']
}

/** A call of each operation. */
const CALLS: Readonly<Record<string, Call>> = {
  sendNotification: async ({ client, notifier }) => {
    const sent = await client.send({
      ...mail,
      email: {
        attachments: [
          { filename: 'a.bin', contentType: 'application/octet-stream', content: Buffer.from([0, 255]) },
        ],
      },
    })
    expect(sent).toMatchObject({ channel: 'email', to: mail.to, replayed: false })
    const { rendered } = await notifier.notifications.get(sent.id, { rendered: true })
    expect(rendered?.email?.attachments).toMatchObject([{ filename: 'a.bin', size: 2 }])
    const keyed = { idempotencyKey: 'k' }
    const first = await client.send(mail, keyed)
    expect(await client.send(mail, keyed)).toMatchObject({ id: first.id, replayed: true })
    const validated = await client.validate(mail)
    expect(validated).toMatchObject({ to: mail.to, rendered: { body: 'Hi' } })
  },
  sendBatch: async ({ client }) => {
    const { accepted, items, replayed } = await client.sendBatch([
      mail,
      { channel: 'email', to: 'no', body: 'Hi' },
    ])
    expect({ accepted, replayed }).toEqual({ accepted: 1, replayed: false })
    expect(items[1]).toMatchObject({ error: { code: 'invalid_email' } })
  },
  listNotifications: async ({ client, notifier, name }) => {
    const sent = await Promise.all(
      Array.from({ length: 5 }, () => notifier.send({ ...mail, metadata: { of: name } })),
    )
    const query = { metadata: { of: name }, from: new Date(0), limit: 2 }
    const pages = client.notifications.list(query)
    const ids = sent.slice(0, 2).map(({ id }) => id)
    expect((await client.notifications.list({ ids })).items.map(({ id }) => id).sort()).toEqual(ids.sort())
    const { items, nextCursor } = await pages
    expect(items).toHaveLength(2)
    expect((await client.notifications.list({ ...query, cursor: nextCursor ?? '' })).items).toHaveLength(2)
    const found: string[] = []
    for await (const { id } of pages) found.push(id)
    expect(found.sort()).toEqual(sent.map(({ id }) => id).sort())
  },
  getNotification: async ({ client, notifier }) => {
    const { id } = await notifier.send(mail)
    expect(await client.notifications.get(id)).not.toHaveProperty('rendered')
    await expect(client.notifications.get(id, { rendered: true })).rejects.toMatchObject({
      code: 'insufficient_permissions',
      status: 403,
      details: { required: 'content' },
    })
  },
  cancelNotification: async ({ client }) => {
    const { id } = await client.send(later)
    expect(await client.notifications.cancel(id)).toMatchObject({ status: 'cancelled' })
  },
  rescheduleNotification: async ({ client }) => {
    const { id } = await client.send(later)
    const sendAt = new Date(Date.now() + 7_200_000)
    expect(await client.notifications.reschedule(id, { sendAt })).toMatchObject({
      sendAt: sendAt.toISOString(),
    })
  },
  resendNotification: async ({ client }) => {
    const { id } = await client.send(mail)
    expect(await client.notifications.resend(id)).toMatchObject({ replayed: false })
  },
  explainNotification: async ({ client }) => {
    const { id } = await client.send(mail)
    expect((await client.notifications.explain(id)).gates).not.toEqual([])
  },
  explainMessage: async ({ client }) => {
    const [explanation] = await client.explain(mail)
    expect(explanation?.gates).not.toEqual([])
  },
  retryNotification: async (world) => world.client.notifications.retry(await failed(world)),
  listNotificationWebhookDeliveries: async ({ client }) => {
    const { id } = await client.send(mail)
    expect(await client.notifications.webhookDeliveries(id)).toHaveProperty('items')
  },
  listDeadLetters: async (world) => {
    const ids = [await failed(world), await failed(world)]
    expect((await world.client.deadLetters.list({ ids })).items).toHaveLength(2)
  },
  groupDeadLetters: async (world) => {
    await failed(world)
    expect(await world.client.deadLetters.groups({ channel: 'email' })).toMatchObject({ exact: true })
  },
  retryDeadLetters: async (world) => {
    const ids = [await failed(world)]
    expect(await world.client.deadLetters.retry({ filter: { ids } })).toMatchObject({ retried: 1 })
  },
  uploadAttachment: async ({ client }) => {
    const file = { filename: 'ä & b.txt', contentType: 'text/plain; charset=UTF-8' }
    for (const content of [
      new Uint8Array([72, 105]),
      new Blob(['Hi']),
      'SGk=',
      new TextEncoder().encode('Hi').buffer,
    ])
      expect(await client.attachments.upload(content, file)).toMatchObject({ ...file, size: 2 })
  },
  deleteAttachment: async ({ client }) => {
    const { id } = await client.attachments.upload('SGk=', { filename: 'a', contentType: 'text/plain' })
    expect(await client.attachments.delete(id)).toBe(undefined)
  },
  createTemplate: ({ client, name }) => client.templates.create({ name, channel: 'sms', body: 'Hi' }),
  listTemplates: async ({ client }) => client.templates.list({ limit: 1 }),
  getTemplate: async (world) => world.client.templates.get(await template(world)),
  updateTemplate: async (world) => world.client.templates.update(await template(world), { subject: 'D' }),
  previewTemplate: async (world) => {
    const { templates } = world.client
    const name = await template(world)
    expect(await templates.preview(name, { name: 'Ada' }, { draft: true })).toMatchObject({ subject: 'C' })
    await expect(templates.preview(name, {})).rejects.toMatchObject({ code: 'invalid_template_variable' })
  },
  previewTemplateDraft: async ({ client }) => client.templates.previewDraft({ channel: 'sms', body: 'Hi' }),
  listTemplateVersions: async (world) => {
    const versions: number[] = []
    for await (const { version } of world.client.templates.versions(await template(world), { limit: 1 }))
      versions.push(version)
    expect(versions).toEqual([2, 1])
  },
  getTemplateVersion: async (world) => world.client.templates.version(await template(world), 1),
  restoreTemplateVersion: async (world) => world.client.templates.restore(await template(world), 1),
  deleteTemplate: async (world) =>
    expect(await world.client.templates.delete(await template(world))).toBe(undefined),
  compareTemplateVersions: async (world) => world.client.templates.compare(await template(world), 1, 2),
  getTemplateDraft: async (world) => world.client.templates.draft(await template(world)),
  saveTemplateDraft: async (world) =>
    world.client.templates.saveDraft(await template(world), { subject: 'D' }),
  publishTemplateDraft: async (world) => world.client.templates.publish(await template(world)),
  discardTemplateDraft: async (world) => world.client.templates.discardDraft(await template(world)),
  lintTemplate: async (world) => world.client.templates.lint(await template(world), { draft: true }),
  lintTemplateDraft: ({ client }) => client.templates.lintDraft({ channel: 'sms', body: 'Hi' }),
  createLayout: ({ client, name }) => client.layouts.create({ name, text: '{{content}}' }),
  listLayouts: async ({ client }) => client.layouts.list(),
  getLayout: async (world) => world.client.layouts.get(await sharedText(world, 'layouts')),
  updateLayout: async (world) =>
    world.client.layouts.update(await sharedText(world, 'layouts'), { description: 'x' }),
  listLayoutVersions: async (world) => world.client.layouts.versions(await sharedText(world, 'layouts')),
  getLayoutVersion: async (world) => world.client.layouts.version(await sharedText(world, 'layouts'), 1),
  restoreLayoutVersion: async (world) => world.client.layouts.restore(await sharedText(world, 'layouts'), 1),
  deleteLayout: async (world) => world.client.layouts.delete(await sharedText(world, 'layouts')),
  createPartial: ({ client, name }) => client.partials.create({ name, text: 'Hi' }),
  listPartials: async ({ client }) => client.partials.list(),
  getPartial: async (world) => world.client.partials.get(await sharedText(world, 'partials')),
  updatePartial: async (world) =>
    world.client.partials.update(await sharedText(world, 'partials'), { description: 'x' }),
  listPartialVersions: async (world) => world.client.partials.versions(await sharedText(world, 'partials')),
  getPartialVersion: async (world) => world.client.partials.version(await sharedText(world, 'partials'), 1),
  restorePartialVersion: async (world) =>
    world.client.partials.restore(await sharedText(world, 'partials'), 1),
  deletePartial: async (world) => world.client.partials.delete(await sharedText(world, 'partials')),
  putCatalogue: async ({ client }) => {
    const { version } = await client.messages.put('de', { a: 'x' })
    expect(await client.messages.put('de', { a: 'y' }, { version })).toMatchObject({ messages: { a: 'y' } })
    await expect(client.messages.put('de', { a: 'z' }, { version })).rejects.toMatchObject({
      code: 'version_conflict',
    })
  },
  listCatalogues: ({ client }) => client.messages.list(),
  getCatalogue: async ({ client }) => {
    await client.messages.put('fr', { a: 'x' })
    return client.messages.get('fr')
  },
  deleteCatalogue: async ({ client }) => {
    await client.messages.put('it', { a: 'x' })
    expect(await client.messages.delete('it')).toBe(undefined)
  },
  listMissingTranslations: async ({ client }) => client.templates.missing(),
  listLogs: async ({ client }) => client.logs.list({ channel: 'email' }),
  erasePerson: async ({ client, operator }) => {
    const person = { channel: 'email', to: 'erased@example.com' } as const
    await client.send({ ...later, to: person.to })
    const counted = { status: 'dry_run', counts: { notifications: 1 } }
    expect(await client.people.erase(person, { dryRun: true })).toMatchObject(counted)
    expect(await operator.allOrganizations.people.erase(person, { dryRun: true })).toMatchObject(counted)
    expect(await client.people.erase(person)).toMatchObject({ counts: { cancelled: 1 } })
  },
  listErasures: async ({ client }) => client.people.listErasures(),
  getErasure: async ({ client }) => {
    const { id } = await client.people.erase({ channel: 'email', to: 'other@example.com' })
    return client.people.getErasure(id ?? '')
  },
  exportPerson: async ({ client, reader }) => {
    const person = { channel: 'email', to: 'exported@example.com' } as const
    for (let sent = 0; sent < 100; sent += 1)
      await client.send({ ...later, to: person.to, body: 'ä'.repeat(500) })
    const types: string[] = []
    for await (const { type } of await reader.people.export(person)) types.push(type)
    expect(types).toEqual(Array(100).fill('notification'))
    await expect(client.people.export(person)).rejects.toMatchObject({ code: 'insufficient_permissions' })
    for await (const { type } of await reader.people.export(person)) {
      expect(type).toBe('notification')
      break
    }
  },
  previewRetention: ({ client }) => client.retention.preview(),
  getStatistics: ({ client }) => client.statistics.get(),
  getOperations: ({ operator }) => operator.operations(),
  getIdentity: async ({ client, operator }) => {
    expect(await client.identity()).toMatchObject({ organizations: ['org_default'] })
    expect(await operator.identity()).toMatchObject({ organizations: 'all' })
  },
  getAccountLimits: ({ client }) => client.limits.get(),
  createApiKey: ({ client, name }) => client.apiKeys.create({ name, permission: 'Read Only' }),
  listApiKeys: async ({ client }) => client.apiKeys.list(),
  getApiKey: async ({ client, name }) => {
    const { id } = await client.apiKeys.create({ name, permission: 'Write' })
    expect(await client.apiKeys.get(id)).not.toHaveProperty('secret')
  },
  rotateApiKey: async ({ client, name }) => {
    const { id } = await client.apiKeys.create({ name, permission: 'Write' })
    expect(await client.apiKeys.rotate(id, { overlapMs: 0 })).toHaveProperty('secret')
  },
  deleteApiKey: async ({ client, name }) => {
    const { id } = await client.apiKeys.create({ name, permission: 'Write' })
    await client.apiKeys.delete(id)
    await expect(client.apiKeys.get(id)).rejects.toMatchObject({ code: 'not_found', status: 404 })
  },
  createWebhook: ({ client, hook }) => client.webhooks.create({ url: hook }),
  listWebhooks: async ({ client }) => client.webhooks.list(),
  getWebhook: async (world) => world.client.webhooks.get(await webhook(world)),
  updateWebhook: async (world) => world.client.webhooks.update(await webhook(world), { status: 'disabled' }),
  rotateWebhookSecret: async (world) => world.client.webhooks.rotateSecret(await webhook(world)),
  testWebhook: async (world) =>
    expect(await world.client.webhooks.test(await webhook(world))).toMatchObject({ succeeded: true }),
  listWebhookDeliveries: async (world) =>
    world.client.webhooks.deliveries(...((await delivered(world)).slice(0, 1) as [string])),
  redeliverWebhookDelivery: async (world) => world.client.webhooks.redeliverOne(...(await delivered(world))),
  redeliverWebhook: async (world) => {
    const [id] = await delivered(world)
    expect(await world.client.webhooks.redeliver(id, { since: new Date(0) })).toEqual({ redelivered: 0 })
  },
  deleteWebhook: async (world) => world.client.webhooks.delete(await webhook(world)),
  addSuppression: ({ client }) => client.suppressions.add({ channel: 'sms', to: '+14155550123' }),
  listRefusals: async ({ client }) => client.refusals.list(),
  listSuppressions: async ({ client }) => {
    const found: string[] = []
    for await (const { to } of client.suppressions.list({ channel: 'sms' })) found.push(to ?? '')
    expect(found).toEqual(['+14155550123'])
  },
  removeSuppression: async ({ client }) =>
    expect(await client.suppressions.remove({ channel: 'sms', to: '+14155550123' })).toBe(undefined),
  createCategory: ({ client, name }) => client.categories.create({ id: name, name: 'News' }),
  listCategories: ({ client }) => client.categories.list(),
  getCategory: async ({ client, name }) => {
    await client.categories.create({ id: name, name: 'News' })
    return client.categories.get(name)
  },
  updateCategory: async ({ client, name }) => {
    await client.categories.create({ id: name, name: 'News' })
    return client.categories.update(name, { name: 'New' })
  },
  deleteCategory: async ({ client, name }) => {
    await client.categories.create({ id: name, name: 'News' })
    return client.categories.delete(name)
  },
  getPreferences: ({ client }) => client.preferences.get({ channel: 'sms', to: '+14155550123' }),
  changePreferences: async ({ client }) =>
    expect(await client.preferences.change(ada, { channels: { sms: false } })).toMatchObject({
      ...ada,
      channels: { sms: false },
    }),
  replacePreferences: async ({ client }) =>
    expect(await client.preferences.replace(ada, {})).toMatchObject({ channels: {} }),
  getOrganizationPreferences: ({ client }) => client.preferences.get({ organization: true }),
  changeOrganizationPreferences: async ({ client }) =>
    expect(
      await client.preferences.change({ organization: true }, { channels: { sms: true } }),
    ).toMatchObject({
      organization: true,
      channels: { sms: true },
    }),
  replaceOrganizationPreferences: ({ client }) => client.preferences.replace({ organization: true }, {}),
  createOrganization: async ({ operator }) => {
    const { id } = await operator.organizations.create({ name: 'Acme' })
    const { id: sent } = await operator.organization(id).send(mail)
    expect(await operator.organization(id).notifications.get(sent)).toMatchObject({ organizationId: id })
    await expect(operator.send(mail)).rejects.toMatchObject({ details: { field: 'orgId' } })
  },
  listOrganizations: async ({ operator }) => {
    const { id } = await operator.organizations.create({ name: 'Named' })
    const { items, hasMore } = await operator.organizations.list({
      ids: [id, 'org_unknown', 'org_default'],
      limit: 1,
    })
    expect([items.map(({ name }) => name), hasMore]).toEqual([['Named'], true])
    await expect(operator.organizations.list({ ids: ['a,b'] })).rejects.toMatchObject({
      code: 'invalid_parameter',
    })
    return operator.organizations.list()
  },
  listPlans: async ({ operator }) =>
    expect((await operator.organizations.plans()).items).toContainEqual({
      name: 'starter',
      requests: { limit: 1_000, windowMs: 60_000 },
      notificationsPerHour: 10_000,
      concurrentRequests: 10,
      notificationsPerMonth: 100_000,
      storedBytes: 1_024 * 1_024 * 1_024,
    }),
  getOrganization: ({ operator }) => operator.organizations.get('org_default'),
  updateOrganization: ({ operator }) => operator.organizations.update('org_default', { name: 'House' }),
  deleteOrganization: async ({ operator }) => {
    const { id } = await operator.organizations.create({ name: 'Acme' })
    await operator.organization(id).send(later)
    await expect(operator.organizations.delete(id)).rejects.toMatchObject({ code: 'organization_in_use' })
    expect(await operator.organizations.delete(id, { force: true })).toEqual({ id, notifications: 1 })
  },
  listAuditLog: async ({ client }) => client.auditLog.list({ action: 'webhook.deleted' }),
  getHealth: async ({ client }) => expect(await client.health()).toEqual({ status: 'ok' }),
  getOpenApi: async ({ client }) => expect((await client.openApi()).openapi).toBe('3.1.0'),
}

describe.each(HARNESSES.map((harness) => ({ harness, name: harness.name })))(
  'the client of $name',
  ({ harness }) => {
    let host: RunningHost
    let receiver: Receiver
    let world: Omit<World, 'name'>
    /** Answers in the order of their requests. */
    const seen: { method: string; path: string; status: number; body: Promise<string> }[] = []

    beforeAll(async () => {
      receiver = await httpReceiver((response) => response.end())
      const started = await startNotifier({
        webhooks: { allow: ['127.0.0.1/32'], allowHttp: true },
        channel: {
          name: 'mail',
          send: async ({ to }) =>
            to.startsWith('fails')
              ? { kind: 'rejected', scope: 'message', code: 'invalid_email' }
              : { kind: 'accepted' },
        },
        moreChannels: { sms: { name: 'sms', send: async () => ({ kind: 'accepted' }) } },
        recipients: { resolve: (ids) => new Map(ids.map((id) => [id, { channels: { email: mail.to } }])) },
      })
      const { notifier } = started
      const prefix = '/a/b'
      host = await harness.start({
        notifier,
        prefix,
        parser: 'none',
        errors: [],
        active: { count: 0 },
        http: { https: 'allow-loopback', strictBody: true },
      })
      const clientOf = ({ authorization }: { authorization: string }): Client =>
        createClient({
          url: host.url + prefix,
          apiKey: authorization.replace('Bearer ', ''),
          async fetch(url, init) {
            const answer = await fetch(url, init)
            const path = new URL(String(url)).pathname.replace(prefix, '')
            seen.push({ method: `${init?.method}`, path, status: answer.status, body: answer.clone().text() })
            return answer
          },
        })
      world = {
        client: clientOf(await started.key()),
        reader: clientOf({
          authorization: (
            await notifier.apiKeys.create({ name: 'reader', permission: 'Full Access', grants: ['content'] })
          ).secret,
        }),
        operator: clientOf(await started.operatorKey()),
        notifier,
        hook: `http://127.0.0.1:${receiver.port}/`,
      }
    })
    afterAll(async () => {
      await host.close()
      await world.notifier.stop()
      await receiver.close()
    })

    const routes = ROUTES.filter(({ permission, tag }) => permission !== 'public' || tag.name === 'Service')
    it.each(routes)('$operation', async (route) => {
      const { operation, method, paths, status, response } = route
      seen.length = 0
      await CALLS[operation]?.({ ...world, name: `name-${operation.toLowerCase()}` })
      const pattern = new RegExp(`^${paths[0]?.replace(/\{\w+\}/g, '[^/]+')}$`)
      const answers = seen.filter((each) => each.method === method && pattern.test(each.path))
      expect(answers.map((answer) => answer.status)).toContain(status)
      const answer = answers.find((each) => each.status === status)
      expect(response.safeParse(JSON.parse((await answer?.body)?.split('\n', 1)[0] ?? '')).error).toBe(
        undefined,
      )
    })
  },
)

it('each operation is called', () => {
  const called = Object.keys(CALLS)
  const routes = ROUTES.filter(({ permission, tag }) => permission !== 'public' || tag.name === 'Service')
  expect(called.sort()).toEqual(routes.map(({ operation }) => operation).sort())
})
