import { isNotifierError, type Notifier, type TemplateRecord, type Tenant } from 'carillon'
import type { CredentialsFile } from './credentials.ts'
import { say } from './print.ts'
import type { Receiver } from './receiver.ts'

export const ORGANIZATION = 'org_example'
const KEY = { name: 'Example server', permission: 'Full Access' } as const

export interface SetUp {
  /** Of the organization. */
  readonly apiKey: string
  /** Of all organizations. */
  readonly operatorKey: string
  /** True: this is the first start on its database. */
  readonly isFirst: boolean
}

/** Creates the example's resources or finds those of an earlier start. */
export async function setUp(notifier: Notifier, file: CredentialsFile, receiver: Receiver): Promise<SetUp> {
  const isFirst = await setUpOrganization(notifier)
  const tenant = notifier.organization(ORGANIZATION)
  await tellWhatWaits(tenant)
  const { apiKeys, operatorKeys } = notifier
  const apiKey = await setUpKey('API key', 'apiKey', file, {
    verify: async (secret) => (await apiKeys.verify(secret)).organizationId === ORGANIZATION,
    create: () => tenant.apiKeys.create({ ...KEY, grants: ['content'] }),
  })
  const operatorKey = await setUpKey('Operator key', 'operatorKey', file, {
    verify: (secret) => operatorKeys.verify(secret).then(() => true),
    create: () => operatorKeys.create({ ...KEY, grants: ['content'] }),
  })
  await setUpEndpoint(tenant, file, receiver)
  await setUpTemplate(tenant)
  return { apiKey, operatorKey, isFirst }
}

/** @returns whether it is new */
async function setUpOrganization({ organizations }: Notifier): Promise<boolean> {
  const { created, value } = await createOr(
    'already_exists',
    () => organizations.create({ id: ORGANIZATION, name: 'Example', plan: 'pro' }),
    () => organizations.get(ORGANIZATION),
  )
  say(
    'Organization',
    `${value.id} (plan ${value.plan}), ${created ? 'created' : `here since ${value.createdAt}`}`,
  )
  return created
}

async function tellWhatWaits({ notifications }: Tenant): Promise<void> {
  const { items, hasMore } = await notifications.list({ status: 'queued', limit: 100 })
  if (items.length === 0) return
  say('Waiting', `${hasMore ? 'more than ' : ''}${items.length} accepted by an earlier start, delivered now`)
}

interface KeyCalls {
  /** False, or throws: it is another one's, or gone. */
  verify(secret: string): Promise<boolean>
  create(): Promise<{ readonly secret: string; readonly permission: string }>
}

async function setUpKey(
  label: string,
  field: 'apiKey' | 'operatorKey',
  file: CredentialsFile,
  calls: KeyCalls,
): Promise<string> {
  const credentials = await file.read()
  const known = credentials[field]
  if (known !== undefined && (await isValid(calls, known))) {
    say(label, `from an earlier start, read from ${file.path}; Carillon stores only its hash`)
    return known
  }
  const { secret, permission } = await calls.create()
  await file.write({ ...credentials, [field]: secret })
  say(label, `${secret} (${permission})`)
  say('', `shown only once: Carillon stores its hash, and the example stores it in ${file.path}`)
  return secret
}

async function isValid({ verify }: KeyCalls, secret: string): Promise<boolean> {
  try {
    return await verify(secret)
  } catch (error) {
    if (isNotifierError(error) && (error.code === 'invalid_api_key' || error.code === 'expired_api_key')) {
      return false
    }
    throw error
  }
}

async function setUpEndpoint({ webhooks }: Tenant, file: CredentialsFile, receiver: Receiver): Promise<void> {
  const credentials = await file.read()
  const { items } = await webhooks.list({ limit: 100 })
  const known = items.find(({ url, status }) => url === receiver.url && status === 'active')
  if (known !== undefined && credentials.webhook?.url === receiver.url) {
    say('Webhook', `${known.id} to ${known.url}, registered by an earlier start`)
    return
  }
  // The receiver's old port is taken, or its secret is lost. Waiting events of the old endpoint are removed with it.
  const old = items.filter(({ url }) => url.startsWith('http://127.0.0.1:'))
  for (const { id } of old) await webhooks.delete(id)
  const { id, url, secret } = await webhooks.create({ url: receiver.url })
  receiver.secret = secret
  await file.write({ ...credentials, webhook: { url, secret } })
  say('Webhook', `${id} to ${url}, registered${old.length > 0 ? ' in place of an earlier one' : ''}`)
}

async function setUpTemplate({ templates }: Tenant): Promise<void> {
  const { created, value } = await createOr<TemplateRecord>(
    'template_already_exists',
    () =>
      templates.create({
        name: 'welcome',
        channel: 'email',
        subject: 'Welcome, {{name}}',
        body: 'Hello {{name}},\n\nyour account is ready.\n',
      }),
    () => templates.get('welcome'),
  )
  say('Template', `"${value.name}" (${value.id}), ${created ? 'created' : 'here already'}`)
}

/** Creates a resource, or reads it if it exists. */
async function createOr<Resource>(
  exists: 'already_exists' | 'template_already_exists',
  create: () => Promise<Resource>,
  get: () => Promise<Resource>,
): Promise<{ readonly created: boolean; readonly value: Resource }> {
  try {
    return { created: true, value: await create() }
  } catch (error) {
    if (!isNotifierError(error) || error.code !== exists) throw error
    return { created: false, value: await get() }
  }
}
