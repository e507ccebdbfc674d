import { hash } from 'node:crypto'
import { coalesce } from '../../coalesce/coalesce.ts'
import { NotifierError } from '../../domain/errors/notifier-error.ts'
import type { IdGenerator } from '../../domain/ids.ts'
import { type ApiKeyInput, apiKeyInput } from '../../domain/input/api-key.ts'
import type { Clock } from '../../ports/clock.ts'
import type { StoredRecord } from '../../ports/storage/records.ts'
import { listOf, listReader } from '../list.ts'
import type { MultiTenantNotifier } from '../notifier.ts'
import type { Organizations } from '../organizations/organizations.ts'
import { allOf, type RecordStore, type RecordStores } from '../records/record-stores.ts'
import { byId, isoOrNull, owned, parseSubject, wrong } from '../scope.ts'
import type { SessionParts } from '../sessions/sessions.ts'
import type { Scoped, Tenant } from '../tenant.ts'
import { canonicalNetworks } from './ip-list.ts'
import { beginningOf, isWellFormedApiKey, newApiKey } from './key-format.ts'
import { createKeyUses } from './key-uses.ts'
import { type ApiKeyValue, apiKeyKind, isExpired } from './kind.ts'
import type { ApiKeyRecord, CreatedOperatorKey, KeyRecord, OperatorKeyRecord } from './records.ts'

/** Most API keys of an organization. */
const MOST_KEYS = 1_000

const readList = listReader('keys', {})
const readOperatorList = listReader('operator-keys', {})

type StoredKey = StoredRecord<ApiKeyValue>

/** A key without its secret and what shows it. */
interface Given extends Omit<ApiKeyValue, 'prefix' | 'last4' | 'hash' | 'lastUsedAt'> {
  readonly organizationId: string | null
}

/** The use cases for both kinds of key. They share lookups; neither finds or deletes keys of the other kind. */
export function createApiKeys(
  stores: RecordStores,
  ids: IdGenerator,
  organizations: Organizations,
  clock: Clock,
): {
  readonly apiKeys: Scoped<Tenant['apiKeys']> & MultiTenantNotifier['apiKeys']
  readonly operatorKeys: MultiTenantNotifier['operatorKeys']
  readonly sessionKeys: SessionParts['keys']
} {
  // Always: who has used the budget up must be able to replace a key. Their number has a limit of its own.
  const store = stores.always(apiKeyKind)
  const used = createKeyUses(store, clock)
  const identify = coalesce((secrets: readonly string[]) => identifyAll(store, secrets))

  /** Runs before the lookup of the organization. */
  function check(input: ApiKeyInput): Omit<Given, 'organizationId'> {
    const { name, permission, grants, expiresAt = null, allowedIps = [] } = parseSubject(apiKeyInput, input)
    if (expiresAt !== null && expiresAt <= clock.now()) throw wrong('expiresAt', 'in the future')
    const given = { name, permission, grants: [...new Set(grants)], expiresAt }
    return { ...given, allowedIps: canonicalNetworks(allowedIps) }
  }

  async function issue({ organizationId, ...given }: Given): Promise<CreatedOperatorKey> {
    const secret = newApiKey(organizationId === null ? 'operator' : 'organization')
    const shown = { prefix: beginningOf(secret), last4: secret.slice(-4) }
    const value = { ...given, ...shown, lastUsedAt: null, hash: hashOf(secret) }
    const stored = await store.insert({ id: ids.random('key'), organizationId, value })
    if (stored === 'taken') throw new NotifierError('already_exists')
    if (organizationId !== null) await assertRoom(organizationId, stored)
    return { ...view(stored), secret }
  }

  /** After the insert, because concurrent creations would all find room: the newest above the limit are removed again. */
  async function assertRoom(organizationId: string, { id }: StoredKey): Promise<void> {
    const { items: beyond } = await store.list({ organizationId }, { limit: 1, offset: MOST_KEYS })
    if (beyond.length === 0) return
    const all = await allOf(store, organizationId)
    if (all.length - 1 - all.findIndex((key) => key.id === id) < MOST_KEYS) return
    await store.remove(id)
    throw new NotifierError('key_limit_reached', { details: { limit: MOST_KEYS } })
  }

  async function remove(id: string): Promise<void> {
    if (!(await store.remove(id))) throw unknownKey()
  }

  const find = (id: string): Promise<StoredKey | null> => byId(id, (known) => store.find({ id: known }))

  async function findOwn(organizationId: string, id: string): Promise<StoredKey> {
    const key = await find(id)
    // Operator keys are invisible to organizations.
    const owner = key?.organizationId ?? null
    owned(owner === null ? null : { organizationId: owner }, organizationId, unknownKey)
    return key as StoredKey
  }

  async function verify(secret: string): Promise<KeyRecord> {
    if (!isWellFormedApiKey(secret)) throw new NotifierError('invalid_api_key')
    const identity = await identify(secret)
    if (identity === 'unknown') throw new NotifierError('invalid_api_key')
    if (identity === 'expired') throw new NotifierError('expired_api_key')
    used(identity.id)
    return identity
  }

  return {
    sessionKeys: {
      verify,
      async current(id) {
        const key = await find(id)
        if (key === null || isExpired(key)) return null
        used(key.id)
        return recordOf(key)
      },
    },
    apiKeys: {
      async create(organizationId, input) {
        const key = check(input)
        await organizations.existing(organizationId)
        return { ...(await issue({ ...key, organizationId })), organizationId }
      },
      async list(organizationId, query) {
        const { page } = readList(query)
        await organizations.existing(organizationId)
        const found = await store.list({ organizationId }, page)
        return listOf('keys', found, page, (key) => tenantView(key, organizationId))
      },
      async get(organizationId, id) {
        return tenantView(await findOwn(organizationId, id), organizationId)
      },
      async delete(organizationId, id) {
        await findOwn(organizationId, id)
        await remove(id)
      },
      async verify(secret) {
        const key = await verify(secret)
        if (!('organizationId' in key)) throw new NotifierError('invalid_api_key')
        return key
      },
    },
    operatorKeys: {
      async create(input) {
        return issue({ ...check(input), organizationId: null })
      },
      async list(query) {
        const { page } = readOperatorList(query)
        const found = await store.list({ organizationId: null }, page)
        return listOf('operator-keys', found, page, view)
      },
      async delete(id) {
        const key = await find(id)
        if (key?.organizationId !== null) throw unknownKey()
        await remove(id)
      },
      async verify(secret) {
        const key = await verify(secret)
        if ('organizationId' in key) throw new NotifierError('invalid_api_key')
        return key
      },
    },
  }
}

type Identity = KeyRecord | 'unknown' | 'expired'

/** Finds several secrets in one query. Simultaneous requests of one caller share the row. */
async function identifyAll(store: RecordStore<ApiKeyValue>, secrets: readonly string[]): Promise<Identity[]> {
  const distinct = [...new Set(secrets)]
  const found = await store.findAll(distinct.map((secret) => ({ key: hashOf(secret) })))
  const identities = new Map<string, Identity>()
  for (const [index, secret] of distinct.entries()) {
    const record = found[index] ?? null
    if (record === null) identities.set(secret, 'unknown')
    else identities.set(secret, isExpired(record) ? 'expired' : recordOf(record))
  }
  return secrets.map((secret) => identities.get(secret) ?? 'unknown')
}

/** A key has 190 random bits, so a plain hash suffices, without a secret that would have to outlive it. */
function hashOf(secret: string): string {
  return hash('sha256', secret, 'hex')
}

/** Shared by all requests with the key in one tick. */
function recordOf(key: StoredKey): KeyRecord {
  const { organizationId } = key
  return Object.freeze(organizationId === null ? view(key) : tenantView(key, organizationId))
}

function tenantView(key: StoredKey, organizationId: string): ApiKeyRecord {
  return { ...view(key), organizationId }
}

function view({ id, createdAt, value }: StoredKey): OperatorKeyRecord {
  const { name, permission, grants, prefix, last4, expiresAt, allowedIps, lastUsedAt } = value
  return {
    id,
    name,
    permission,
    grants,
    hint: `${prefix}…${last4}`,
    expiresAt: isoOrNull(expiresAt),
    allowedIps,
    createdAt: new Date(createdAt).toISOString(),
    lastUsedAt: isoOrNull(lastUsedAt),
  }
}

function unknownKey(): NotifierError {
  return new NotifierError('not_found', { message: 'No API key has this id. Check the id.' })
}
