import type { Grant, Permission } from '../../domain/api-key.ts'

/** A key that belongs to no organization: each request names one. Everything but the secret. */
export interface OperatorKeyRecord {
  readonly id: string
  readonly name: string
  readonly permission: Permission
  /** Beside the permission: `content` lets it read the text of messages. */
  readonly grants: readonly Grant[]
  /** How the secret begins and ends, to recognize it. */
  readonly hint: string
  readonly expiresAt: string | null
  /** Empty: any address. */
  readonly allowedIps: readonly string[]
  readonly createdAt: string
  /** When it was last used, to some minutes; null: never. */
  readonly lastUsedAt: string | null
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

/** A key of either kind. */
export type KeyRecord = ApiKeyRecord | OperatorKeyRecord
