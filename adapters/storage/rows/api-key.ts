import type { ApiKey, Permission } from '../../../src/domain/api-key.ts'

/** An API key without its hash. */
export interface ApiKeyRow {
  readonly seq: number
  readonly id: string
  readonly organization: string
  readonly name: string
  readonly permission: Permission
  readonly prefix: string
  readonly last4: string
  readonly expires_at: number | null
  readonly allowed_ips: string
  readonly created_at: number
}

export function toApiKey(row: ApiKeyRow): ApiKey {
  return {
    id: row.id,
    organizationId: row.organization,
    name: row.name,
    permission: row.permission,
    prefix: row.prefix,
    last4: row.last4,
    expiresAt: row.expires_at,
    allowedIps: JSON.parse(row.allowed_ips) as string[],
    createdAt: row.created_at,
  }
}
