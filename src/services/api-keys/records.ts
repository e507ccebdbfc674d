import type { Permission } from '../../domain/api-key.ts'

export interface ApiKeyInput {
  /** 1 to 200 characters. */
  readonly name: string
  readonly permission: Permission
  /** ISO 8601 or a Date, in the future. Default: never expires. */
  readonly expiresAt?: string | Date | null | undefined
  /** Addresses and CIDR blocks, IPv4 or IPv6, that may use the key; at most 100. Default: any. */
  readonly allowedIps?: readonly string[] | undefined
}

export interface ApiKeyRecord {
  readonly id: string
  readonly organizationId: string
  readonly name: string
  readonly permission: Permission
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
