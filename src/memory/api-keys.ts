import type { ApiKey } from '../domain/api-key.ts'
import { NotifierError } from '../domain/errors/notifier-error.ts'
import type { ApiKeyRepository, FoundApiKey } from '../ports/storage/api-keys.ts'
import { requireOrganization } from './organizations.ts'
import { pageOf } from './page.ts'
import { type MemoryState, nextNumber } from './state.ts'

export function memoryApiKeys(state: MemoryState): ApiKeyRepository {
  return {
    async create(key, hash) {
      if (key.organizationId !== null) requireOrganization(state, key.organizationId)
      if (state.apiKeys.has(key.id) || state.apiKeyHashes.has(hex(hash))) {
        throw new NotifierError('already_exists', { message: 'An API key with this id or secret exists.' })
      }
      const created = { ...key, createdAt: state.now(), lastUsedAt: null }
      state.apiKeys.set(key.id, { ...created, number: nextNumber(state) })
      state.apiKeyHashes.set(hex(hash), key.id)
      return created
    },
    async findByHash(hashes) {
      return hashes.map((hash): FoundApiKey | null => {
        const stored = state.apiKeys.get(state.apiKeyHashes.get(hex(hash)) ?? '')
        if (stored === undefined) return null
        const expired = stored.expiresAt !== null && stored.expiresAt <= state.now()
        return { key: toApiKey(stored), hash: Uint8Array.from(hash), expired }
      })
    },
    async list(organizationId, page) {
      const keys = [...state.apiKeys.values()].filter((key) => key.organizationId === organizationId)
      return pageOf(keys, page, toApiKey)
    },
    async get(id) {
      const stored = state.apiKeys.get(id)
      return stored === undefined ? null : toApiKey(stored)
    },
    async markUsed(ids) {
      for (const id of ids) {
        const stored = state.apiKeys.get(id)
        if (stored !== undefined) state.apiKeys.set(id, { ...stored, lastUsedAt: state.now() })
      }
    },
    async delete(id) {
      for (const [hash, keyId] of state.apiKeyHashes) {
        if (keyId === id) state.apiKeyHashes.delete(hash)
      }
      return state.apiKeys.delete(id)
    },
  }
}

function toApiKey({ number, ...key }: ApiKey & { number: number }): ApiKey {
  return key
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
