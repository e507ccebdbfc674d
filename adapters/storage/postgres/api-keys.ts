import type { ApiKey } from '../../../src/domain/api-key.ts'
import type { ApiKeyRepository, FoundApiKey, NewApiKey } from '../../../src/ports/storage/api-keys.ts'
import { type ApiKeyRow, grantsColumn, toApiKey } from '../rows/api-key.ts'
import { type Connection, NOW, type Transaction } from './connection.ts'
import { dataError, isDataError } from './errors.ts'
import { requireOrganization } from './organizations.ts'
import { pageBySeq } from './page.ts'

const INSERT = `
  INSERT INTO carillon.api_keys
    (created_at, hash, id, organization, name, permission, prefix, last4, expires_at, allowed_ips, grants)
  VALUES (${NOW}, decode($2, 'hex'), $3, $4, $5, $6, $7, $8, $9, $10, $11) RETURNING created_at`

const PROVE_CREATED = 'SELECT 1 FROM carillon.api_keys WHERE id = $1'

const COLUMNS = `
  seq, id, organization, encode(hash, 'hex') AS hash, name, permission, prefix, last4, expires_at, allowed_ips, created_at,
  grants, last_used_at`

const SELECT = `SELECT ${COLUMNS} FROM carillon.api_keys WHERE id = $1`

const SELECT_BY_HASH = `
  SELECT o_seq AS seq, o_id AS id, o_organization AS organization, o_hash AS hash, o_name AS name,
    o_permission AS permission, o_prefix AS prefix, o_last4 AS last4, o_expires_at AS expires_at,
    o_allowed_ips AS allowed_ips, o_created_at AS created_at, o_expired AS expired, o_grants AS grants,
    o_last_used_at AS last_used_at
  FROM carillon.find_api_keys_1($1::bigint, $2::text[])`

const list = (whose: string): string => `
  SELECT ${COLUMNS} FROM carillon.api_keys WHERE ${whose} AND seq < $1 ORDER BY seq DESC LIMIT $2 OFFSET $3`

const LIST = list('organization = $4')

const LIST_OPERATORS = list('organization IS NULL')

const MARK_USED = `
  UPDATE carillon.api_keys SET last_used_at = ${NOW} WHERE id = ANY ($2::text[])`

const DELETE = 'DELETE FROM carillon.api_keys WHERE id = $1 RETURNING id'

interface HashedRow extends ApiKeyRow {
  /** Hexadecimal. */
  readonly hash: string
}

export function createApiKeys(connection: Connection): ApiKeyRepository {
  async function create(tx: Transaction, key: NewApiKey, hash: Uint8Array): Promise<ApiKey> {
    const { id, organizationId, name, permission, prefix, last4, expiresAt, allowedIps, grants } = key
    if (organizationId !== null) await requireOrganization(tx, organizationId)
    const ips = JSON.stringify(allowedIps)
    const named = [id, organizationId, name, permission, prefix, last4]
    const values = [connection.time(), hexOf(hash), ...named, expiresAt, ips, grantsColumn(grants)]
    const [row] = await tx.rows<{ created_at: number }>(INSERT, values)
    tx.prove(PROVE_CREATED, [id])
    return { ...key, createdAt: row?.created_at ?? 0, lastUsedAt: null }
  }

  return {
    async create(key, hash) {
      try {
        return await connection.transaction((tx) => create(tx, key, hash))
      } catch (error) {
        throw isDataError(error) ? dataError(error) : error
      }
    },
    async findByHash(hashes) {
      if (hashes.length === 0) return []
      const wanted = hashes.map(hexOf)
      const rows = await connection.rows<HashedRow & { readonly expired: boolean | null }>(SELECT_BY_HASH, [
        connection.time(),
        wanted,
      ])
      const found = new Map(rows.map((row) => [row.hash, row]))
      return wanted.map((hash): FoundApiKey | null => {
        const row = found.get(hash)
        if (row === undefined) return null
        return { key: toApiKey(row), hash: Buffer.from(row.hash, 'hex'), expired: row.expired === true }
      })
    },
    list(organizationId, page) {
      return pageBySeq(
        page,
        (...values) =>
          organizationId === null
            ? connection.rows<ApiKeyRow>(LIST_OPERATORS, values)
            : connection.rows<ApiKeyRow>(LIST, [...values, organizationId]),
        toApiKey,
      )
    },
    async get(id) {
      const [row] = await connection.rows<ApiKeyRow>(SELECT, [id])
      return row === undefined ? null : toApiKey(row)
    },
    async markUsed(ids) {
      // In a fixed order, so that two processes cannot deadlock.
      await connection.rows(MARK_USED, [connection.time(), ids.toSorted()])
    },
    async delete(id) {
      return (await connection.rows(DELETE, [id])).length === 1
    },
  }
}

function hexOf(hash: Uint8Array): string {
  return Buffer.from(hash.buffer, hash.byteOffset, hash.byteLength).toString('hex')
}
