import type { Grant, Permission } from '../../core/access/api-key.ts'

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

export interface CreatedOperatorKey extends OperatorKeyRecord {
  /** The key itself: shown once, stored only as a hash. */
  readonly secret: string
}

export interface CreatedApiKey extends ApiKeyRecord {
  /** The key itself: shown once, stored only as a hash. */
  readonly secret: string
}

/** How to rotate a key. */
export interface KeyRotation {
  /** How long the old key works on, in milliseconds, at most 30 days; 0: it stops at once. Default: a day. */
  readonly overlapMs?: number | undefined
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
