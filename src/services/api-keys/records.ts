import type { Grant, Permission } from '../../domain/api-key.ts'

export interface ApiKeyRecord {
  readonly id: string
  readonly organizationId: string
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
}

export interface CreatedApiKey extends ApiKeyRecord {
  /** The key itself: shown once, stored only as a hash. */
  readonly secret: string
}
