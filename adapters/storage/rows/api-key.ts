import type { ApiKey, Grant, Permission } from '../../../src/domain/api-key.ts'

/** An API key without its hash. */
export interface ApiKeyRow {
  readonly seq: number
  readonly id: string
  /** Null: an operator key. */
  readonly organization: string | null
  readonly name: string
  readonly permission: Permission
  readonly prefix: string
  readonly last4: string
  readonly expires_at: number | null
  readonly allowed_ips: string
  readonly created_at: number
  /** JSON. Null: none. */
  readonly grants: string | null
  readonly last_used_at: number | null
}

export function toApiKey(row: ApiKeyRow): ApiKey {
  return {
    id: row.id,
    organizationId: row.organization,
    name: row.name,
    permission: row.permission,
    grants: row.grants === null ? [] : (JSON.parse(row.grants) as Grant[]),
    prefix: row.prefix,
    last4: row.last4,
    expiresAt: row.expires_at,
    allowedIps: JSON.parse(row.allowed_ips) as string[],
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
  }
}

/** Value of the column `grants`. */
export function grantsColumn(grants: readonly Grant[]): string | null {
  return grants.length === 0 ? null : JSON.stringify(grants)
}
