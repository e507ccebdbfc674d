import { hash } from 'node:crypto'
import * as z from 'zod'
import { canonicalNetworks } from '../../core/access/ip-list.ts'
import { beginningOf, isWellFormedApiKey, newApiKey } from '../../core/access/key-format.ts'
import { type ApiKeyValue, apiKeyKind, isExpired } from '../../core/access/key-kind.ts'
import { createKeyUses } from '../../core/access/key-uses.ts'
import { NotifierError } from '../../core/errors/notifier-error.ts'
import { coalesce } from '../../core/loop/coalesce.ts'
import type { Clock } from '../../core/ports/clock.ts'
import type { StoredRecord } from '../../core/ports/storage/records.ts'
import type { IdGenerator } from '../../core/records/ids.ts'
import {
  hasMore,
  insertWithin,
  type NewRecord,
  type RecordStore,
  type RecordStores,
} from '../../core/records/record-stores.ts'
import { createResource } from '../../core/records/resource.ts'
import type { PerTenant } from '../../core/tenancy/per-tenant.ts'
import type { OrganizationFinder } from '../../core/tenancy/plan-of.ts'
import { isoOrNull, parseOptions, parseSubject, wrong } from '../../core/tenancy/scope.ts'
import type { ApiKeys, KeyVerification, OperatorKeys } from './api.ts'
import { type ApiKeyInput, apiKeyInput, keyRotation } from './input.ts'
import type { ApiKeyRecord, CreatedOperatorKey, KeyLookups, KeyRecord, OperatorKeyRecord } from './model.ts'

/** Most API keys of an organization. */
const MOST_KEYS = 1_000

const rotation = z.strictObject({ overlapMs: keyRotation.shape.overlapMs })

type StoredKey = StoredRecord<ApiKeyValue>

/** A key without its secret and what shows it. */
interface Given
  extends Omit<ApiKeyValue, 'prefix' | 'last4' | 'hash' | 'lastUsedAt' | 'replacedBy' | 'givenExpiresAt'> {
  readonly organizationId: string | null
}

/** The use cases for both kinds of key. They share lookups; neither finds or deletes keys of the other kind. */
export function createApiKeys(
  stores: RecordStores,
  ids: IdGenerator,
  organizations: OrganizationFinder,
  clock: Clock,
): {
  readonly apiKeys: PerTenant<ApiKeys> & KeyVerification
  readonly operatorKeys: OperatorKeys
  readonly sessionKeys: KeyLookups
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

  function newKey({ organizationId, ...given }: Given): {
    readonly key: NewRecord<ApiKeyValue>
    readonly secret: string
  } {
    const secret = newApiKey(organizationId === null ? 'operator' : 'organization')
    const shown = { prefix: beginningOf(secret), last4: secret.slice(-4) }
    const value = { ...given, ...shown, lastUsedAt: null, hash: hashOf(secret) }
    return { key: { id: ids.random('key'), organizationId, value }, secret }
  }

  async function issue(given: Given): Promise<CreatedOperatorKey> {
    const { key, secret } = newKey(given)
    const { organizationId } = key
    const stored = await (organizationId === null
      ? store.insert(key)
      : insertWithin(store, { ...key, organizationId }, MOST_KEYS))
    if (stored === 'taken') throw new NotifierError('already_exists')
    if (stored === 'full') throw limitReached()
    return { ...view(stored), secret }
  }

  /**
   * Makes a key with the rights and the expiry of an old one, which works on for a while. A second successor would leave
   * a first one that nothing names.
   */
  async function rotate(old: StoredKey, overlapMs: number): Promise<CreatedOperatorKey> {
    const { organizationId, value, readAt } = old
    const { name, permission, grants, allowedIps } = value
    const expiresAt = givenExpiry(value)
    // A key that only a rotation has stopped names its successor, or gets another one.
    if (expiresAt !== null && expiresAt <= readAt)
      throw wrong('id', 'that of a key that has not expired: create a new one')
    if (organizationId !== null && (await hasMore(store, organizationId, MOST_KEYS - 1))) throw limitReached()
    const { key, secret } = newKey({ organizationId, name, permission, grants, expiresAt, allowedIps })
    const changed = await store.change(
      old.id,
      async ({ value: now, readAt }) => {
        const { replacedBy } = now
        if (replacedBy !== undefined && (await store.find({ id: replacedBy })) !== null)
          throw alreadyRotated(replacedBy)
        return {
          ...now,
          replacedBy: key.id,
          givenExpiresAt: givenExpiry(now),
          expiresAt: Math.min(now.expiresAt ?? Number.POSITIVE_INFINITY, readAt + overlapMs),
        }
      },
      () => [{ kind: apiKeyKind, do: 'insert', ...key }],
    )
    const stored = typeof changed === 'string' ? null : await store.find({ id: key.id })
    // Deleted meanwhile.
    if (stored === null) throw unknownKey()
    return { ...view(stored), secret }
  }

  const common = { rows: store, absent: unknownKey }
  const keys = createResource(organizations, { ...common, name: 'keys', view: tenantView })
  const operatorKeys = createResource(organizations, { ...common, name: 'operator-keys', view })

  async function remove({ id }: StoredKey): Promise<void> {
    if (!(await store.remove(id))) throw unknownKey()
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
        const key = await store.find({ id })
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
      list: keys.list,
      get: keys.get,
      async rotate(organizationId, id, options) {
        const { overlapMs } = parseOptions(rotation, options)
        return { ...(await rotate(await keys.find(organizationId, id), overlapMs)), organizationId }
      },
      async delete(organizationId, id) {
        await remove(await keys.find(organizationId, id))
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
      list: (query) => operatorKeys.list(null, query),
      async rotate(id, options) {
        const { overlapMs } = parseOptions(rotation, options)
        return rotate(await operatorKeys.find(null, id), overlapMs)
      },
      async delete(id) {
        await remove(await operatorKeys.find(null, id))
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
  return Object.freeze(key.organizationId === null ? view(key) : tenantView(key))
}

function tenantView(key: StoredKey): ApiKeyRecord {
  return { ...view(key), organizationId: key.organizationId ?? '' }
}

function view({ id, createdAt, value }: StoredKey): OperatorKeyRecord {
  const { name, permission, grants, prefix, last4, expiresAt, allowedIps, lastUsedAt, replacedBy } = value
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
    replacedBy: replacedBy ?? null,
  }
}

function givenExpiry({ givenExpiresAt, expiresAt }: ApiKeyValue): number | null {
  return givenExpiresAt === undefined ? expiresAt : givenExpiresAt
}

function alreadyRotated(replacedBy: string): NotifierError {
  return new NotifierError('key_already_rotated', {
    message: `The key was rotated before: "${replacedBy}" replaces it. Rotate that key, or delete it and repeat the rotation.`,
    details: { replacedBy },
  })
}

function limitReached(): NotifierError {
  return new NotifierError('key_limit_reached', { details: { limit: MOST_KEYS } })
}

function unknownKey(): NotifierError {
  return new NotifierError('not_found', { message: 'No API key has this id. Check the id.' })
}
