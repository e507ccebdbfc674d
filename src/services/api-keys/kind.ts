import type { ApiKey } from '../../domain/api-key.ts'
import type { RecordKind } from '../../domain/record-kind.ts'
import type { StoredRecord } from '../../ports/storage/records.ts'

/** The stored value of an API key or operator key. */
export interface ApiKeyValue extends Omit<ApiKey, 'id' | 'organizationId' | 'createdAt'> {
  /** SHA-256 of the secret, in hexadecimal. The secret never reaches the storage. */
  readonly hash: string
}

/** Found by the hash. Never cached: a deleted key stops working at once, on every machine. */
export const apiKeyKind: RecordKind<ApiKeyValue> = {
  name: 'api_keys',
  version: 1,
  key: ({ hash }) => hash,
}

export function toApiKey({ id, organizationId, createdAt, value }: StoredRecord<ApiKeyValue>): ApiKey {
  const { hash: _hash, ...key } = value
  return { ...key, id, organizationId, createdAt }
}

/** Expiry by the storage's clock. */
export function isExpired({ value: { expiresAt }, readAt }: StoredRecord<ApiKeyValue>): boolean {
  return expiresAt !== null && expiresAt <= readAt
}
