import type { ApiKeyRecord, OperatorKeyRecord } from '../../core/access/verify-key.ts'

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
  /** How long the old key keeps working, in milliseconds, at most 30 days; 0: it stops at once. Default: a day. */
  readonly overlapMs?: number | undefined
}
