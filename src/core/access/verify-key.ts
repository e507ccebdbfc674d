import { hash } from 'node:crypto'
import { NotifierError } from '../errors/notifier-error.ts'
import { coalesce } from '../loop/coalesce.ts'
import type { Clock } from '../ports/clock.ts'
import type { StoredRecord } from '../ports/storage/records.ts'
import type { RecordStore, RecordStores } from '../records/record-stores.ts'
import { isoOrNull } from '../tenancy/scope.ts'
import { isWellFormedApiKey } from './key-format.ts'
import { type ApiKeyValue, apiKeyKind, isExpired } from './key-kind.ts'
import { createKeyUses } from './key-uses.ts'
import type { Grant, Permission } from './permissions.ts'

/** A key without an organization: each request names one. Without the secret. */
export interface OperatorKeyRecord {
  readonly id: string
  readonly name: string
  readonly permission: Permission
  /** In addition to the permission: `content` allows reading the text of messages. */
  readonly grants: readonly Grant[]
  /** The start and end of the secret, to recognize it. */
  readonly hint: string
  readonly expiresAt: string | null
  /** Empty: any address. */
  readonly allowedIps: readonly string[]
  readonly createdAt: string
  /** Last use, accurate to a few minutes. Null: never. */
  readonly lastUsedAt: string | null
  /** Id of the key that a rotation made in its place. Null: it is not being rotated. */
  readonly replacedBy: string | null
}

export interface ApiKeyRecord extends OperatorKeyRecord {
  readonly organizationId: string
}

/** A key of either kind. */
export type KeyRecord = ApiKeyRecord | OperatorKeyRecord

/** Finds keys of both kinds. */
export interface KeyLookups {
  /** @throws NotifierError `invalid_api_key`, `expired_api_key` */
  verify(secret: string): Promise<KeyRecord>
  /** Null: unknown or expired. */
  current(id: string): Promise<KeyRecord | null>
}

export type StoredKey = StoredRecord<ApiKeyValue>

/** Look-ups of one turn share a query. */
export function createKeyLookups(stores: RecordStores, clock: Clock): KeyLookups {
  const store = stores.always(apiKeyKind)
  const used = createKeyUses(store, clock)
  const identify = coalesce((secrets: readonly string[]) => identifyAll(store, secrets))

  return {
    async verify(secret) {
      if (!isWellFormedApiKey(secret)) throw new NotifierError('invalid_api_key')
      const identity = await identify(secret)
      if (identity === 'unknown') throw new NotifierError('invalid_api_key')
      if (identity === 'expired') throw new NotifierError('expired_api_key')
      used(identity.id)
      return identity
    },
    async current(id) {
      const key = await store.find({ id })
      if (key === null || isExpired(key)) return null
      used(key.id)
      return recordOf(key)
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
export function hashOf(secret: string): string {
  return hash('sha256', secret, 'hex')
}

/** Shared by all requests with the key in one tick. */
function recordOf(key: StoredKey): KeyRecord {
  return Object.freeze(key.organizationId === null ? operatorKeyRecord(key) : apiKeyRecord(key))
}

export function apiKeyRecord(key: StoredKey): ApiKeyRecord {
  return { ...operatorKeyRecord(key), organizationId: key.organizationId ?? '' }
}

export function operatorKeyRecord({ id, createdAt, value }: StoredKey): OperatorKeyRecord {
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
