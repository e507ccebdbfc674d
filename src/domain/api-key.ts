/** Permission levels, lowest first. */
export const PERMISSIONS = ['Read Only', 'Write', 'Full Access'] as const

/** `Read Only`: view. `Write`: also send. `Full Access`: everything, including deletion. */
export type Permission = (typeof PERMISSIONS)[number]

const levels: Readonly<Record<Permission, number>> = { 'Read Only': 0, Write: 1, 'Full Access': 2 }

/** True: the level `granted` includes the level `needed`. */
export function permits(granted: Permission, needed: Permission): boolean {
  return levels[granted] >= levels[needed]
}

/** Rights in addition to the permission level; no level includes any. */
export const GRANTS = ['content'] as const

/** `content`: read the text of messages. */
export type Grant = (typeof GRANTS)[number]

/** An API key or operator key without its secret, which only the result of its creation contains. */
export interface ApiKey {
  /** `key_<value>` */
  readonly id: string
  /** Null: an operator key. */
  readonly organizationId: string | null
  readonly name: string
  readonly permission: Permission
  readonly grants: readonly Grant[]
  /** The first characters of the secret, to recognize it. */
  readonly prefix: string
  /** The last four characters of the secret. */
  readonly last4: string
  /** Epoch milliseconds; null: never expires. */
  readonly expiresAt: number | null
  /** Addresses and CIDR blocks that may use the key. Empty: any. */
  readonly allowedIps: readonly string[]
  /** Epoch milliseconds. */
  readonly createdAt: number
  /** Last use, accurate to a few minutes, in epoch milliseconds. Null: never. */
  readonly lastUsedAt: number | null
}
