import type {
  IdempotencyContent,
  IdempotencyKey,
  IdempotencyRecord,
} from '../../../src/core/ports/storage/accept.ts'
import type { Connection } from './connection.ts'
import { hashOf } from './hash.ts'

const SELECT = `
  SELECT fingerprint, result, admitted, created_at AS createdAt
  FROM carillon_idempotency WHERE hash = ? AND expires_at > ?`

const REPLACE = `
  INSERT OR REPLACE INTO carillon_idempotency (hash, fingerprint, admitted, created_at, expires_at, result)
  VALUES (?, ?, ?, ?, ?, ?)`

/** Deletes two expired records per new one: they never pile up, and no accept pays for many. */
const DELETE_EXPIRED = `
  DELETE FROM carillon_idempotency WHERE hash IN
    (SELECT hash FROM carillon_idempotency WHERE expires_at <= ? ORDER BY expires_at LIMIT 2)`

export interface IdempotencyRecords {
  /** The unexpired record under a key. */
  find(name: IdempotencyKey, now: number): IdempotencyRecord | null
  /** Stores a record, or replaces an expired one. */
  insert(
    organizationId: string,
    record: Omit<IdempotencyKey, 'organizationId'> & IdempotencyContent,
    admitted: number,
    now: number,
  ): void
}

export function createIdempotencyRecords(connection: Connection): IdempotencyRecords {
  const select = connection.statement<IdempotencyRecord>(SELECT)
  const replace = connection.statement(REPLACE)
  const deleteExpired = connection.statement(DELETE_EXPIRED)
  return {
    find({ organizationId, operation, key }, now) {
      const row = select().get(hashOf(organizationId, operation, key), now)
      return row === undefined ? null : { ...row }
    },
    insert(organizationId, { operation, key, fingerprint, result, ttlMs }, admitted, now) {
      const expiresAt = Math.ceil(now + ttlMs)
      replace().run(hashOf(organizationId, operation, key), fingerprint, admitted, now, expiresAt, result)
      deleteExpired().run(now)
    },
  }
}
