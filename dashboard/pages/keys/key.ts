/** An API key, as the REST API shows it. */
export interface Key {
  readonly id: string
  readonly name: string
  readonly permission: Permission
  readonly grants: readonly string[]
  readonly hint: string
  readonly expiresAt: string | null
  readonly allowedIps: readonly string[]
  readonly createdAt: string
  readonly lastUsedAt?: string | null
  /** Id of the key that a rotation made in its place. */
  readonly replacedBy?: string | null
}

export interface CreatedKey extends Key {
  readonly secret: string
}

export const PERMISSIONS = ['Read Only', 'Write', 'Full Access'] as const
export type Permission = (typeof PERMISSIONS)[number]
