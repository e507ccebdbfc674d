import type { ApiKey } from '../../domain/api-key.ts'
import type { Page, PageRequest } from './page.ts'

export interface ApiKeyRepository {
  /**
   * Stores a key under the SHA-256 of its secret; the secret itself never reaches the storage.
   *
   * @throws NotifierError `not_found` when its organization does not exist; an operator key has none.
   */
  create(key: NewApiKey, hash: Uint8Array): Promise<ApiKey>
  /**
   * Looks keys up by hash; null where there is none. One query for the set. `expired` is judged by the storage's
   * clock. Never answers from a cache: a deleted key is gone at once, on every machine.
   */
  findByHash(hashes: readonly Uint8Array[]): Promise<(FoundApiKey | null)[]>
  /** Newest first; null lists the operator keys. */
  list(organizationId: string | null, page: PageRequest): Promise<Page<ApiKey>>
  /** Any organization's, or an operator key; null: unknown. */
  get(id: string): Promise<ApiKey | null>
  /** Sets `lastUsedAt` to the storage's time. Unknown ids are ignored. */
  markUsed(ids: readonly string[]): Promise<void>
  /** False: unknown, or deleted before. */
  delete(id: string): Promise<boolean>
}

export type NewApiKey = Omit<ApiKey, 'createdAt' | 'lastUsedAt'>

export interface FoundApiKey {
  readonly key: ApiKey
  readonly hash: Uint8Array
  readonly expired: boolean
}
