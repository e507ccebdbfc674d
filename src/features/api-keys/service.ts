import * as z from 'zod'
import { canonicalNetworks } from '../../core/access/ip-list.ts'
import { beginningOf, newApiKey } from '../../core/access/key-format.ts'
import { type ApiKeyValue, apiKeyKind } from '../../core/access/key-kind.ts'
import { apiKeyRecord, hashOf, operatorKeyRecord, type StoredKey } from '../../core/access/verify-key.ts'
import { NotifierError } from '../../core/errors/notifier-error.ts'
import type { FeatureCore } from '../../core/feature.ts'
import type { RecordInsert } from '../../core/ports/storage/records.ts'
import { hasMore, insertWithin, type NewRecord } from '../../core/records/record-stores.ts'
import { createResource } from '../../core/records/resource.ts'
import type { PerTenant } from '../../core/tenancy/per-tenant.ts'
import { isoOrNull, parseOptions, parseSubject, wrong } from '../../core/tenancy/scope.ts'
import type { ApiKeys, KeyVerification, OperatorKeys } from './api.ts'
import { type ApiKeyInput, apiKeyInput, keyRotation } from './input.ts'
import type { CreatedOperatorKey } from './model.ts'

/** Most API keys of an organization. */
const MOST_KEYS = 1_000

const rotation = z.strictObject({ overlapMs: keyRotation.shape.overlapMs })

/** A key without its secret and without what is derived from the secret. */
interface RequestedKey
  extends Omit<ApiKeyValue, 'prefix' | 'last4' | 'hash' | 'lastUsedAt' | 'replacedBy' | 'givenExpiresAt'> {
  readonly organizationId: string | null
}

/** The use cases for both kinds of key. They share lookups; neither finds or deletes keys of the other kind. */
export function createApiKeys({ stores, audit, ids, organizations, clock, keys: { verify } }: FeatureCore): {
  readonly tenants: { readonly apiKeys: PerTenant<ApiKeys> }
  readonly apiKeys: KeyVerification
  readonly operatorKeys: OperatorKeys
} {
  // Without the budget: an organization that has used it up must still be able to replace a key. Their number has its
  // own limit.
  const store = stores.always(apiKeyKind)

  /** Runs before the lookup of the organization. */
  function check(input: ApiKeyInput): Omit<RequestedKey, 'organizationId'> {
    const { name, permission, grants, expiresAt = null, allowedIps = [] } = parseSubject(apiKeyInput, input)
    if (expiresAt !== null && expiresAt <= clock.now()) throw wrong('expiresAt', 'in the future')
    const given = { name, permission, grants: [...new Set(grants)], expiresAt }
    return { ...given, allowedIps: canonicalNetworks(allowedIps) }
  }

  function newKey({ organizationId, ...given }: RequestedKey): {
    readonly key: NewRecord<ApiKeyValue>
    readonly secret: string
  } {
    const secret = newApiKey(organizationId === null ? 'operator' : 'organization')
    const shown = { prefix: beginningOf(secret), last4: secret.slice(-4) }
    const value = { ...given, ...shown, lastUsedAt: null, hash: hashOf(secret) }
    return { key: { id: ids.random('key'), organizationId, value }, secret }
  }

  function entry(
    what: 'created' | 'rotated' | 'deleted',
    { id, organizationId, value }: NewRecord<ApiKeyValue>,
    change: { readonly before?: ApiKeyValue; readonly after?: ApiKeyValue } = {},
  ): RecordInsert {
    const action = `${organizationId === null ? 'operator_key' : 'api_key'}.${what}` as const
    const shown = Object.entries(change).map(([when, key]) => [when, shownOf(key)])
    return audit.entry({
      organizationId,
      action,
      target: id,
      name: value.name,
      ...Object.fromEntries(shown),
    })
  }

  async function issue(given: RequestedKey): Promise<CreatedOperatorKey> {
    const { key, secret } = newKey(given)
    const { organizationId } = key
    const also = [entry('created', key, { after: key.value })]
    const stored = await (organizationId === null
      ? store.insert(key, also)
      : insertWithin(store, { ...key, organizationId }, MOST_KEYS, also))
    if (stored === 'taken') throw new NotifierError('already_exists')
    if (stored === 'full') throw limitReached()
    return { ...operatorKeyRecord(stored), secret }
  }

  /**
   * Makes a key with the rights and the expiry of an old one, which keeps working for a while. A second successor would
   * leave the first one unreferenced.
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
      (after, before) => [
        { kind: apiKeyKind, do: 'insert', ...key },
        entry('rotated', before, { before: before.value, after }),
      ],
    )
    const stored = typeof changed === 'string' ? null : await store.find({ id: key.id })
    // Deleted meanwhile.
    if (stored === null) throw unknownKey()
    return { ...operatorKeyRecord(stored), secret }
  }

  const common = { rows: store, absent: unknownKey }
  const keys = createResource(organizations, { ...common, name: 'keys', view: apiKeyRecord })
  const operatorKeys = createResource(organizations, {
    ...common,
    name: 'operator-keys',
    view: operatorKeyRecord,
  })

  async function remove({ id }: StoredKey): Promise<void> {
    if (!(await store.remove(id, (key) => [entry('deleted', key)]))) throw unknownKey()
  }

  return {
    tenants: {
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
      },
    },
    apiKeys: {
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

/** With a readable time, for the audit log. */
function shownOf({ expiresAt, ...key }: ApiKeyValue): object {
  return { ...key, expiresAt: isoOrNull(expiresAt) }
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
