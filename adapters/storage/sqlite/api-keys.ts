import type { ApiKey } from '../../../src/domain/api-key.ts'
import type { ApiKeyRepository, FoundApiKey, NewApiKey } from '../../../src/ports/storage/api-keys.ts'
import { type ApiKeyRow, grantsColumn, toApiKey } from '../rows/api-key.ts'
import type { Connection } from './connection.ts'
import { dataError, isDataError } from './errors.ts'
import { createRequireOrganization } from './organizations.ts'
import { pageBySeq } from './page.ts'

const INSERT = `
  INSERT INTO carillon_api_keys
    (id, organization, hash, name, permission, prefix, last4, expires_at, allowed_ips, created_at, grants)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

const SELECT = 'SELECT * FROM carillon_api_keys WHERE id = ?'

const SELECT_BY_HASH = 'SELECT * FROM carillon_api_keys WHERE hash = ?'

const LIST = `
  SELECT * FROM carillon_api_keys WHERE organization IS ? AND seq < ? ORDER BY seq DESC LIMIT ? OFFSET ?`

const MARK_USED = 'UPDATE carillon_api_keys SET last_used_at = ? WHERE id = ?'

const DELETE = 'DELETE FROM carillon_api_keys WHERE id = ?'

interface HashedRow extends ApiKeyRow {
  readonly hash: Uint8Array
}

export function createApiKeys(connection: Connection): ApiKeyRepository {
  const requireOrganization = createRequireOrganization(connection)
  const insert = connection.statement(INSERT)
  const select = connection.statement<ApiKeyRow>(SELECT)
  const selectByHash = connection.statement<HashedRow>(SELECT_BY_HASH)
  const list = connection.statement<ApiKeyRow>(LIST)
  const markUsed = connection.statement(MARK_USED)
  const remove = connection.statement(DELETE)

  function create(key: NewApiKey, hash: Uint8Array): ApiKey {
    if (key.organizationId !== null) requireOrganization(key.organizationId)
    const { id, organizationId, name, permission, prefix, last4, expiresAt, allowedIps, grants } = key
    const createdAt = connection.now()
    const ips = JSON.stringify(allowedIps)
    const named = [name, permission, prefix, last4]
    insert().run(id, organizationId, hash, ...named, expiresAt, ips, createdAt, grantsColumn(grants))
    return { ...key, createdAt, lastUsedAt: null }
  }

  return {
    async create(key, hash) {
      try {
        return await connection.durably(() => create(key, hash))
      } catch (error) {
        throw isDataError(error) ? dataError(error) : error
      }
    },
    async findByHash(hashes) {
      return connection.read(() => {
        const now = connection.now()
        return hashes.map((hash): FoundApiKey | null => {
          const row = selectByHash().get(hash)
          if (row === undefined) return null
          return {
            key: toApiKey(row),
            hash: row.hash,
            expired: row.expires_at !== null && row.expires_at <= now,
          }
        })
      })
    },
    async list(organizationId, page) {
      return connection.read(() =>
        pageBySeq(
          page,
          (before, limit, offset) => list().all(organizationId, before, limit, offset),
          toApiKey,
        ),
      )
    },
    async get(id) {
      const row = connection.read(() => select().get(id))
      return row === undefined ? null : toApiKey(row)
    },
    async markUsed(ids) {
      await connection.durably(() => {
        for (const id of ids) markUsed().run(connection.now(), id)
      })
    },
    async delete(id) {
      return connection.durably(() => remove().changes(id) === 1)
    },
  }
}
