import type {
  IdempotencyContent,
  IdempotencyKey,
  IdempotencyRecord,
} from '../../../src/core/ports/storage/accept.ts'
import { type Connection, NOW, type Transaction } from './connection.ts'
import { hashOf } from './hash.ts'

const COLUMNS = `
  encode(hash, 'hex') AS hash, fingerprint, result, admitted, created_at AS "createdAt"`

const FIND = `
  SELECT ${COLUMNS} FROM carillon.idempotency
  WHERE hash IN (SELECT decode(wanted, 'hex') FROM unnest($2::text[]) AS wanted) AND expires_at > ${NOW}`

/** Names that callers' transactions are taking. Only these lock names (migrations/0001-initial/accept-in.ts). */
const SELECT_HELD = `
  SELECT hash FROM unnest($1::text[]) AS hash
  WHERE NOT pg_try_advisory_xact_lock_shared(hashtextextended(hash, 0))`

/**
 * Takes free and expired names, and waits for a request that is taking one. `admitted` is corrected later, once the
 * quota has decided.
 */
const TAKE = `
  WITH patience AS MATERIALIZED (SELECT set_config('lock_timeout', $7, true))
  INSERT INTO carillon.idempotency AS i (hash, fingerprint, result, admitted, created_at, expires_at)
  SELECT decode(g.hash, 'hex'), g.fingerprint, g.result, g.admitted, $1::bigint, $1::bigint + g.ttl
  FROM patience, unnest($2::text[], $3::text[], $4::text[], $5::integer[], $6::bigint[])
    AS g (hash, fingerprint, result, admitted, ttl)
  ORDER BY 1
  ON CONFLICT (hash) DO UPDATE SET fingerprint = excluded.fingerprint, result = excluded.result,
    admitted = excluded.admitted, created_at = excluded.created_at, expires_at = excluded.expires_at
  WHERE i.expires_at <= $1::bigint
  RETURNING encode(i.hash, 'hex') AS hash`

const SET_ADMITTED = `
  UPDATE carillon.idempotency AS i SET admitted = g.admitted
  FROM unnest($1::text[], $2::integer[]) AS g (hash, admitted) WHERE i.hash = decode(g.hash, 'hex')`

const GIVE_BACK = `
  DELETE FROM carillon.idempotency
  WHERE hash IN (SELECT decode(given, 'hex') FROM unnest($1::text[]) AS given)`

/** Deletes two expired records per new one: they never pile up, and no accept pays for many. */
const DELETE_EXPIRED = `
  DELETE FROM carillon.idempotency WHERE hash IN (
    SELECT hash FROM carillon.idempotency WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2
    FOR UPDATE SKIP LOCKED)`

interface FoundRow extends IdempotencyRecord {
  readonly hash: string
}

/** A new record, under the hash of its name. */
export interface NewRecord {
  readonly hash: string
  readonly content: IdempotencyContent
  /** Number of notifications in the request. */
  readonly size: number
}

/** Hash of a record's name. */
export function recordHash({ organizationId, operation, key }: IdempotencyKey): string {
  return hashOf(organizationId, operation, key)
}

/** Looks up records, in order. */
export function createFindIdempotent(
  connection: Connection,
): (keys: readonly IdempotencyKey[]) => Promise<(IdempotencyRecord | null)[]> {
  return async function findIdempotent(keys) {
    if (keys.length === 0) return []
    const hashes = keys.map(recordHash)
    const rows = await connection.rows<FoundRow>(FIND, [connection.time(), hashes])
    const found = byHash(rows)
    return hashes.map((hash) => found.get(hash) ?? null)
  }
}

/**
 * @param patienceMs longest wait for any lock, here and in the rest of the transaction
 * @returns the names that were taken
 */
export async function takeRecords(
  tx: Transaction,
  records: readonly NewRecord[],
  patienceMs: number,
): Promise<Set<string>> {
  if (records.length === 0) return new Set()
  const rows = await tx.rows<{ hash: string }>(TAKE, [
    tx.now,
    records.map(({ hash }) => hash),
    records.map(({ content }) => content.fingerprint),
    records.map(({ content }) => content.result),
    records.map(({ size }) => size),
    records.map(({ content }) => Math.ceil(content.ttlMs)),
    String(patienceMs),
  ])
  await tx.rows(DELETE_EXPIRED, [tx.now, 2 * records.length])
  return new Set(rows.map(({ hash }) => hash))
}

/** @returns the names that callers' transactions are taking */
export async function heldNames(tx: Transaction, hashes: readonly string[]): Promise<Set<string>> {
  if (hashes.length === 0) return new Set()
  return new Set((await tx.rows<{ hash: string }>(SELECT_HELD, [hashes])).map(({ hash }) => hash))
}

export async function findRecords(
  tx: Transaction,
  hashes: readonly string[],
): Promise<Map<string, IdempotencyRecord>> {
  if (hashes.length === 0) return new Map()
  return byHash(await tx.rows<FoundRow>(FIND, [tx.now, hashes]))
}

/** Corrects the records of {@link takeRecords}. Null: the record is removed. */
export async function correctRecords(
  tx: Transaction,
  corrections: ReadonlyMap<string, number | null>,
): Promise<void> {
  const given = [...corrections].flatMap(([hash, admitted]) => (admitted === null ? [hash] : []))
  const kept = [...corrections].flatMap(([hash, admitted]) => (admitted === null ? [] : [{ hash, admitted }]))
  if (given.length > 0) await tx.rows(GIVE_BACK, [given])
  if (kept.length > 0) {
    await tx.rows(SET_ADMITTED, [kept.map(({ hash }) => hash), kept.map(({ admitted }) => admitted)])
  }
}

function byHash(rows: readonly FoundRow[]): Map<string, IdempotencyRecord> {
  return new Map(rows.map(({ hash, ...record }) => [hash, record]))
}
