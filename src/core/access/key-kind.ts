import type { StoredRecord } from '../ports/storage/records.ts'
import type { RecordKind } from '../records/record-kind.ts'
import type { Grant, Permission } from './permissions.ts'

/** The stored value of an API key or, without an organization, an operator key. */
export interface ApiKeyValue {
  readonly name: string
  readonly permission: Permission
  readonly grants: readonly Grant[]
  /** The first characters of the secret, to recognize it. */
  readonly prefix: string
  /** The last four characters of the secret. */
  readonly last4: string
  /** SHA-256 of the secret, in hexadecimal. The secret never reaches the storage. */
  readonly hash: string
  /** Epoch milliseconds; null: never expires. */
  readonly expiresAt: number | null
  /** Addresses and CIDR blocks that may use the key. Empty: any. */
  readonly allowedIps: readonly string[]
  /** Last use, accurate to a few minutes, in epoch milliseconds. Null: never. */
  readonly lastUsedAt: number | null
  /** Id of the key that replaces it. Absent: it is not being rotated. */
  readonly replacedBy?: string
  /** Its expiry before a rotation cut it, which each successor gets. Absent: `expiresAt`. */
  readonly givenExpiresAt?: number | null
}

/** Found by the hash. Never cached: a deleted key stops working at once, on every machine. */
export const apiKeyKind: RecordKind<ApiKeyValue> = {
  name: 'api_keys',
  version: 1,
  notPersonal: 'belongs to an application',
  key: ({ hash }) => hash,
}

/** Expiry by the storage's clock. */
export function isExpired({ value: { expiresAt }, readAt }: StoredRecord<ApiKeyValue>): boolean {
  return expiresAt !== null && expiresAt <= readAt
}
