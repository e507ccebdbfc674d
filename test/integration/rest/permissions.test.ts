import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { SendInput } from '../../../src/core/accept/input.ts'
import { PERMISSIONS, type Permission, permits } from '../../../src/core/access/permissions.ts'
import type { Route } from '../../../src/core/rest/route.ts'
import { ALL_ORGANIZATIONS } from '../../../src/core/tenancy/all-organizations.ts'
import type { Webhooks } from '../../../src/features/webhook-events/api.ts'
import { ROUTES } from '../../../src/routes.ts'
import type { Tenant } from '../../../src/tenant.ts'
import { accept, claimOne, ended, note } from '../../../src/testing/storage/fixtures.ts'
import { eventually } from '../../support/eventually.ts'
import { type Answer, codeOf } from '../../support/http-client.ts'
import { httpReceiver, type Receiver } from '../../support/receivers.ts'
import { type Host, startHost } from '../../support/rest-host.ts'

const OWN = 'org_default'
const OTHER = 'org_other'
const suppressed = { channel: 'push', to: 'token' } as const
const mail: SendInput = { channel: 'email', to: 'ada@example.com', body: 'Hi' }

const entries = ROUTES.flatMap((route) => route.paths.map((path) => ({ route, path })))
const guarded = entries.filter(({ route }) => route.permission !== 'public')
const open = entries.filter(({ route }) => route.permission === 'public')
const tenants = guarded.filter(({ route }) => route.belongsTo === 'organization')
const operators = guarded.filter(({ route }) => route.belongsTo === 'operator')
// A catalogue that is put need not exist.
const ofOne = tenants.filter(({ path, route }) => path.includes('{') && route.operation !== 'putCatalogue')
/** The ids of these belong to one organization alone: another one has none of the same record. */
const OWN_IDS: readonly string[] = ['Categories', 'Messages']

let host: Host
let receiver: Receiver
const keys = new Map<string, { authorization: string }>()
let names = 0

beforeAll(async () => {
  receiver = await httpReceiver((response) => response.end())
  host = await startHost({ webhooks: { allow: ['127.0.0.1/32'], allowHttp: true } })
  await host.notifier.organizations.create({ id: OTHER, name: 'Other', plan: 'enterprise' })
  for (const permission of PERMISSIONS) {
    for (const organizationId of [OWN, OTHER])
      keys.set(`${organizationId} ${permission}`, await host.key(permission, organizationId, ['content']))
    keys.set(`operator ${permission}`, await host.operatorKey(permission, ['content']))
  }
})
afterAll(async () => {
  await host.close()
  await receiver.close()
})
// Requests without a key are limited by address.
beforeEach(() => void host.clock.advance(2_000))

/** A body with which each operation succeeds. */
const bodies: Readonly<Record<string, () => object>> = {
  sendNotification: () => mail,
  explainMessage: () => mail,
  sendBatch: () => ({ notifications: [mail] }),
  rescheduleNotification: () => ({ sendAt: null }),
  createTemplate: () => ({ name: newName(), channel: 'email', body: 'Hi' }),
  updateTemplate: () => ({ body: 'Hello' }),
  previewTemplate: () => ({}),
  lintTemplate: () => ({}),
  lintTemplateDraft: () => ({ channel: 'email', body: 'Hi' }),
  previewTemplateDraft: () => ({ channel: 'email', body: 'Hi' }),
  createApiKey: () => ({ name: 'k', permission: 'Read Only' }),
  rotateApiKey: () => ({}),
  updateWebhook: () => ({ successStatus: '2xx' }),
  rotateWebhookSecret: () => ({}),
  redeliverWebhook: () => ({ since: '2026-01-01T00:00:00Z' }),
  putCatalogue: () => ({ messages: { a: 'y' } }),
  saveTemplateDraft: () => ({ body: 'Hello again' }),
  publishTemplateDraft: () => ({}),
  createLayout: () => ({ name: newName(), text: '{{content}}' }),
  updateLayout: () => ({ description: 'x' }),
  createPartial: () => ({ name: newName(), text: 'x' }),
  updatePartial: () => ({ description: 'x' }),
  createWebhook: () => ({ url: 'https://example.com/hook' }),
  addSuppression: () => suppressed,
  createCategory: () => ({ id: newName(), name: 'News' }),
  updateCategory: () => ({ name: 'Newsletter' }),
  changePreferences: () => ({ channels: { email: false } }),
  replacePreferences: () => ({ channels: { email: false } }),
  changeOrganizationPreferences: () => ({ channels: { email: null } }),
  replaceOrganizationPreferences: () => ({}),
  retryDeadLetters: () => ({ filter: {} }),
  erasePerson: () => ({ recipient: newName() }),
  exportPerson: () => ({ recipient: 'nobody' }),
  createOrganization: () => ({ name: 'New' }),
  updateOrganization: () => ({ name: 'Renamed' }),
}

function newName(): string {
  names += 1
  return `template-${names}`
}

/** A template with a draft. */
async function withDraft({ templates }: Tenant<unknown>): Promise<{ id: string }> {
  const { id } = await templates.create({ name: newName(), channel: 'email', body: 'Hi' })
  return templates.saveDraft(id, { body: 'Hello' })
}

/** An organization may have fifty, and operators as many. */
async function newWebhook(webhooks: Webhooks): Promise<{ id: string }> {
  for (const { id } of (await webhooks.list()).items) await webhooks.delete(id)
  return webhooks.create({ url: `http://127.0.0.1:${receiver.port}/` })
}

function webhooksOf(organizationId: string): Webhooks {
  const { allOrganizations, organization } = host.notifier
  return organizationId === ALL_ORGANIZATIONS
    ? allOrganizations.webhooks
    : organization(organizationId).webhooks
}

async function erasureIn(organizationId: string): Promise<{ id: string }> {
  const { allOrganizations, organization } = host.notifier
  const { people } = organizationId === ALL_ORGANIZATIONS ? allOrganizations : organization(organizationId)
  const { id } = await people.erase({ recipient: 'someone' })
  return { id: id ?? '' }
}

/** Something that an operation on one resource can be done to. */
async function resource({ tag, operation }: Route, organizationId: string): Promise<{ id: string }> {
  if (tag.name === 'Webhooks') return newWebhook(webhooksOf(organizationId))
  if (tag.name === 'People') return erasureIn(organizationId)
  const tenant = host.notifier.organization(organizationId)
  if (operation === 'retryNotification') return { id: await failed(organizationId) }
  switch (tag.name) {
    case 'Notifications':
      return tenant.send({ ...mail, sendAt: new Date(host.clock.now() + 3_600_000) })
    case 'Attachments':
      return tenant.attachments.upload('YQ==', { filename: 'a.txt', contentType: 'text/plain' })
    case 'Templates':
      return withDraft(tenant)
    case 'Layouts':
      return tenant.layouts.create({ name: newName(), text: '{{content}}' })
    case 'Partials':
      return tenant.partials.create({ name: newName(), text: 'Hi' })
    case 'Messages':
      // An organization may have a hundred.
      for (const { locale } of (await tenant.messages.list()).items) await tenant.messages.delete(locale)
      return {
        id: (await tenant.messages.put(`de-${newName().slice(9).padStart(5, 'v0000')}`, { a: 'x' })).locale,
      }
    case 'Organizations':
      return host.notifier.organizations.create({ name: 'One' })
    case 'API keys':
      return tenant.apiKeys.create({ name: 'k', permission: 'Read Only' })
    case 'Categories':
      return tenant.categories.create({ id: newName(), name: 'News' })
    default:
      throw new Error(`no resource for ${tag.name}`)
  }
}

interface Attempt {
  permission?: Permission | null
  /** Of the key, and of the query under /admin. */
  organizationId?: string
  /** Present: an operator key, which names this organization; empty: none. */
  naming?: string
  query?: string
  /** In place of a resource of the organization. */
  id?: string
}

async function attempt(route: Route, path: string, options: Attempt = {}): Promise<Answer> {
  const { permission = 'Full Access', organizationId = OWN, naming } = options
  const id = path.includes('{') ? (options.id ?? (await resource(route, organizationId)).id) : ''
  const inQuery = path.startsWith('/admin/')
  let query = options.query ?? (inQuery ? `?orgId=${naming ?? organizationId}` : '')
  if (route.operation === 'removeSuppression') {
    await host.notifier.organization(organizationId).suppressions.add(suppressed)
    query = `${query === '' ? '?' : `${query}&`}channel=push&to=token`
  }
  if (path === '/v1/attachments') query = `${query === '' ? '?' : `${query}&`}filename=a.txt`
  if (path === '/v1/preferences') query = `${query === '' ? '?' : `${query}&`}recipient=ada`
  const body = route.raw === true ? 'content' : bodies[route.operation]?.()
  if (route.body !== undefined && body === undefined) throw new Error(`no body for ${route.operation}`)
  const eventId = path.includes('{eventId}') ? await published(id, organizationId) : ''
  return host.call({
    method: route.method,
    path:
      path
        .replace('{eventId}', eventId)
        .replace('{version}', '1')
        .replace('{other}', '1')
        .replace(/\{\w+\}/, id) + query,
    headers: {
      ...(route.raw === true ? { 'content-type': 'text/plain' } : {}),
      ...keys.get(`${naming === undefined ? organizationId : 'operator'} ${permission}`),
      ...(naming === undefined || inQuery ? {} : { 'x-organization-id': naming }),
    },
    body,
  })
}

/** The id of a notification that failed, in a lane that no process delivers. */
async function failed(organizationId: string): Promise<string> {
  const lane = newName()
  const [id = ''] = await accept(host.storage, [note({ lane })], organizationId)
  const job = await claimOne(host.storage, lane)
  await host.storage.settle([ended(job, [{ type: 'failed', code: 'provider_error' }])])
  return id
}

/** The id of an event for a webhook endpoint. */
async function published(endpointId: string, organizationId: string): Promise<string> {
  const webhooks = webhooksOf(organizationId)
  try {
    await webhooks.get(endpointId)
  } catch {
    return 'evt_0'
  }
  await host.notifier.organization(organizationId === ALL_ORGANIZATIONS ? OWN : organizationId).send(mail)
  const delivery = await eventually(async () => (await webhooks.deliveries(endpointId)).items[0])
  return delivery.eventId
}

const outcome = (answer: Answer): unknown[] => [answer.status, codeOf(answer)]

describe.each(tenants)('$route.method $path', ({ route, path }) => {
  it.each(
    PERMISSIONS.flatMap((permission) =>
      [OWN, OTHER].map((organizationId) => [permission, organizationId] as const),
    ),
  )('with a %s operator key, for %s', async (permission, organizationId) => {
    const expected = permits(permission, route.permission as Permission)
      ? [route.status, undefined]
      : [403, 'insufficient_permissions']
    const answer = await attempt(route, path, { permission, organizationId, naming: organizationId })
    expect(outcome(answer)).toEqual(expected)
  })

  it.each(PERMISSIONS)(
    'with a %s operator key that names no organization, or none that exists',
    async (permission) => {
      const allowed = permits(permission, route.permission as Permission)
      const refused = [403, 'insufficient_permissions']
      const id = path.includes('{') ? (await resource(route, OWN)).id : ''
      const unnamed = await attempt(route, path, { permission, id, naming: '' })
      expect(outcome(unnamed)).toEqual(allowed ? [422, 'missing_required_field'] : refused)
      for (const naming of ['org_unknown', 'x', 'org_%00', '__proto__']) {
        const unknown = await attempt(route, path, { permission, id, naming })
        expect(outcome(unknown)).toEqual(allowed ? [404, 'not_found'] : refused)
      }
    },
  )

  it.each(PERMISSIONS)('with a %s operator key, for all organizations', async (permission) => {
    const organizationId = route.allOrganizations ? ALL_ORGANIZATIONS : OWN
    const id = path.includes('{') ? (await resource(route, organizationId)).id : ''
    const answer = await attempt(route, path, { permission, organizationId, id, naming: ALL_ORGANIZATIONS })
    const permitted = route.allOrganizations ? [route.status, undefined] : [422, 'missing_required_field']
    const allowed = permits(permission, route.permission as Permission)
    expect(outcome(answer)).toEqual(allowed ? permitted : [403, 'insufficient_permissions'])
  })

  it('with a key of one organization, for all', async () => {
    expect(outcome(await attempt(route, path, { query: '?orgId=*' }))).toEqual([403, 'organization_mismatch'])
  })

  it.each(PERMISSIONS)('with a %s key', async (permission) => {
    const expected = permits(permission, route.permission as Permission)
      ? [route.status, undefined]
      : [403, 'insufficient_permissions']
    expect(outcome(await attempt(route, path, { permission }))).toEqual(expected)
  })

  it('with no key', async () => {
    expect(outcome(await attempt(route, path, { permission: null }))).toEqual([401, 'missing_authorization'])
  })

  it.each(PERMISSIONS)('with a %s key of another organization, on its own', async (permission) => {
    const allowed = permits(permission, route.permission as Permission)
    const answer = await attempt(route, path, { permission, organizationId: OTHER })
    expect(outcome(answer)).toEqual(allowed ? [route.status, undefined] : [403, 'insufficient_permissions'])
  })

  it('with a key of another organization, naming this one', async () => {
    const options = { organizationId: OTHER, query: `?orgId=${OWN}` }
    expect(outcome(await attempt(route, path, options))).toEqual([403, 'organization_mismatch'])
  })
})

describe.each(operators)('$route.method $path', ({ route, path }) => {
  it.each(PERMISSIONS)('with a %s operator key', async (permission) => {
    const expected = permits(permission, route.permission as Permission)
      ? [route.status, undefined]
      : [403, 'insufficient_permissions']
    expect(outcome(await attempt(route, path, { permission, naming: '' }))).toEqual(expected)
  })

  it.each(PERMISSIONS)('with a %s key of an organization, also for that one', async (permission) => {
    for (const organizationId of [OWN, OTHER]) {
      const answer = await attempt(route, path, { permission, organizationId, id: organizationId })
      expect(outcome(answer)).toEqual([403, 'operator_key_required'])
    }
  })

  it('with no key', async () => {
    expect(outcome(await attempt(route, path, { permission: null }))).toEqual([401, 'missing_authorization'])
  })
})

describe.each(operators.filter(({ path }) => path.includes('{')))(
  '$route.method $path',
  ({ route, path }) => {
    it('of something unknown is 404', async () => {
      for (const id of [`org_${'0'.repeat(22)}`, 'x', '%00', '..%2F..', '__proto__'])
        expect(outcome(await attempt(route, path, { id, naming: '' }))).toEqual([404, route.unknown])
    })
  },
)

describe.each(ofOne)('$route.method $path', ({ route, path }) => {
  it("of another organization's resource is refused, and leaves it as it was", async () => {
    const { id } = await resource(route, OWN)
    const expected = OWN_IDS.includes(route.tag.name) ? [404, 'not_found'] : [403, 'organization_mismatch']
    const foreign = await attempt(route, path, { organizationId: OTHER, id })
    expect(outcome(foreign)).toEqual(expected)
    const operator = await attempt(route, path, { id, naming: OTHER })
    expect(outcome(operator)).toEqual(expected)
    expect(outcome(await attempt(route, path, { id }))).toEqual([route.status, undefined])
  })

  it('of something unknown is 404', async () => {
    const { id } = await resource(route, OWN)
    const unknown = `${id.slice(0, id.indexOf('_') + 1)}${'0'.repeat(22)}`
    for (const absent of [unknown, 'x', '%00', '..%2F..', '__proto__']) {
      expect(outcome(await attempt(route, path, { id: absent }))).toEqual([404, route.unknown])
    }
  })
})

const audited = guarded.filter(({ route: { method, audited } }) => method !== 'GET' && audited !== undefined)

/** Such that each operation changes something. */
async function prepare({ operation }: Route, id: string): Promise<void> {
  const { templates, layouts, partials, preferences, suppressions } = host.notifier
  await preferences.replace({ recipient: 'ada' }, {})
  await preferences.replace({ organization: true }, { channels: { email: true } })
  await suppressions.add(suppressed)
  if (operation === 'addSuppression') await suppressions.remove(suppressed)
  if (operation === 'restoreTemplateVersion') await templates.update(id, { body: 'New' })
  if (operation === 'restoreLayoutVersion') await layouts.update(id, { text: 'New {{content}}' })
  if (operation === 'restorePartialVersion') await partials.update(id, { text: 'New' })
}

describe.each(audited)('$route.method $path', ({ route, path }) => {
  const { operation, audited: [action] = [], belongsTo } = route
  const isOperators = belongsTo === 'operator'

  it('makes an entry in the audit log, with the key that did it', async () => {
    const { apiKeys, operatorKeys, allOrganizations } = host.notifier
    const { authorization = '' } = keys.get(`${isOperators ? 'operator' : OWN} Full Access`) ?? {}
    const secret = authorization.slice('Bearer '.length)
    const key = isOperators ? await operatorKeys.verify(secret) : await apiKeys.verify(secret)
    const entries = async () => (await allOrganizations.auditLog.list({ actor: key.id })).items
    const id = path.includes('{') ? (await resource(route, OWN)).id : ''
    await prepare(route, id)
    const before = await entries()
    const answer = await attempt(route, path, { id, ...(isOperators ? { naming: '' } : {}) })
    expect(outcome(answer)).toEqual([route.status, undefined])
    const [entry, ...others] = await entries()
    expect(others.slice(0, 40)).toEqual(before.slice(0, 40))
    expect(entry).toMatchObject({
      action,
      actor: { type: isOperators ? 'operator' : 'key', id: key.id, name: 'test' },
      origin: { ip: '127.0.0.1' },
    })
    // A person is named by a hash.
    const named = answer.json?.target ?? answer.json?.id ?? entry?.target.id
    const target = id === '' || operation === 'putCatalogue' ? named : id
    expect(entry?.target.id).toBe(target)
  })

  it('makes none if it is refused', async () => {
    const { auditLog } = host.notifier.allOrganizations
    const id = path.includes('{') ? (await resource(route, OWN)).id : ''
    await prepare(route, id)
    const before = await auditLog.list({ limit: 1 })
    const refused = await attempt(route, path, { id, permission: 'Read Only', naming: OTHER })
    expect(refused.status).toBe(403)
    expect(await auditLog.list({ limit: 1 })).toEqual(before)
  })
})

describe.each(open)('$route.method $path', ({ route, path }) => {
  it('needs no key, and looks at none', async () => {
    for (const headers of [{}, { authorization: 'Bearer x' }, { 'x-organization-id': 'org_nobody' }]) {
      const answer = await host.call({ method: route.method, path, headers })
      // No provider has the name of a placeholder, and a page asks for its link: not for a key.
      const success = route.page === true ? 404 : route.status
      const expected = route.limit === null ? [404, 'not_found'] : [success, undefined]
      expect(outcome(answer)).toEqual(expected)
    }
  })
})
