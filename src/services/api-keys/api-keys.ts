import { createHash, timingSafeEqual } from 'node:crypto'
import type { ApiKey } from '../../domain/api-key.ts'
import { NotifierError } from '../../domain/errors/notifier-error.ts'
import type { IdGenerator } from '../../domain/ids.ts'
import { apiKeyInput } from '../../domain/input/api-key.ts'
import { parseInput } from '../../domain/input/parse.ts'
import type { Storage } from '../../ports/storage/storage.ts'
import { createGroup } from '../group.ts'
import type { Notifier } from '../notifier.ts'
import type { Organizations } from '../organizations/organizations.ts'
import type { ApiKeyRecord } from '../records.ts'
import { isoOrNull, listOf, organizationOf, owned, pageRequest } from '../scope.ts'
import { canonicalNetworks } from './ip-list.ts'
import { isWellFormedApiKey, newApiKey } from './key-format.ts'

/** The API key use cases of a notifier (SPEC.md "Authentication", DESIGN.md §8). */
export function createApiKeys(
  storage: Storage,
  ids: IdGenerator,
  organizations: Organizations,
): Notifier['apiKeys'] {
  const lookUp = createGroup((hashes: readonly Uint8Array[]) => storage.apiKeys.findByHash(hashes))

  return {
    async create(input, scope) {
      const parsed = parseInput(apiKeyInput, input)
      const organizationId = await organizations.existing(scope)
      const secret = newApiKey()
      const key = await storage.apiKeys.create(
        {
          id: ids.random('key'),
          organizationId,
          name: parsed.name,
          permission: parsed.permission,
          prefix: secret.slice(0, 8),
          last4: secret.slice(-4),
          expiresAt: parsed.expiresAt ?? null,
          allowedIps: canonicalNetworks(parsed.allowedIps ?? []),
        },
        hashOf(secret),
      )
      return { ...view(key), secret }
    },
    async list(query) {
      const request = pageRequest(query)
      return listOf(await storage.apiKeys.list(organizationOf(query), request), request, view)
    },
    async delete(id, scope) {
      owned(await storage.apiKeys.get(id), scope, 'not_found')
      if (!(await storage.apiKeys.delete(id))) throw new NotifierError('not_found')
    },
    async verify(secret) {
      if (!isWellFormedApiKey(secret)) throw new NotifierError('invalid_api_key')
      const hash = hashOf(secret)
      const found = await lookUp(hash)
      if (found === null || !timingSafeEqual(found.hash, hash)) throw new NotifierError('invalid_api_key')
      if (found.expired) throw new NotifierError('expired_api_key')
      return view(found.key)
    },
  }
}

/** A key has 190 random bits, so a plain hash cannot be reversed and needs no secret that would have to outlive it. */
function hashOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}

function view(key: ApiKey): ApiKeyRecord {
  const { id, organizationId, name, permission, prefix, last4, expiresAt, allowedIps, createdAt } = key
  return {
    id,
    organizationId,
    name,
    permission,
    hint: `${prefix}…${last4}`,
    expiresAt: isoOrNull(expiresAt),
    allowedIps,
    createdAt: new Date(createdAt).toISOString(),
  }
}
