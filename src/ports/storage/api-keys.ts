import type { ApiKey } from '../../domain/api-key.ts'
import type { Page, PageRequest } from './page.ts'

export interface ApiKeyRepository {
  /**
   * Stores a key under the SHA-256 of its secret. The secret never reaches the storage.
   *
   * @throws NotifierError `not_found` if the organization does not exist. An operator key has none.
   */
  create(key: NewApiKey, hash: Uint8Array): Promise<ApiKey>
  /**
   * Finds keys by hash; null: unknown. One query for the set. The storage's clock decides `expired`. Never cached: a
   * deleted key stops working at once, on every machine.
   */
  findByHash(hashes: readonly Uint8Array[]): Promise<(FoundApiKey | null)[]>
  /** Newest first. Null lists the operator keys. */
  list(organizationId: string | null, page: PageRequest): Promise<Page<ApiKey>>
  /** A key of any organization, or an operator key. Null: unknown. */
  get(id: string): Promise<ApiKey | null>
  /** Sets `lastUsedAt` to the storage's time. Ignores unknown ids. */
  markUsed(ids: readonly string[]): Promise<void>
  /** False: unknown or already deleted. */
  delete(id: string): Promise<boolean>
}

export type NewApiKey = Omit<ApiKey, 'createdAt' | 'lastUsedAt'>

export interface FoundApiKey {
  readonly key: ApiKey
  readonly hash: Uint8Array
  readonly expired: boolean
}
