import { createHash, timingSafeEqual } from 'node:crypto'
import type { ApiKey } from '../../domain/api-key.ts'
import { NotifierError } from '../../domain/errors/notifier-error.ts'
import type { IdGenerator } from '../../domain/ids.ts'
import { apiKeyInput } from '../../domain/input/api-key.ts'
import { createGroup } from '../../gather/group.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Storage } from '../../ports/storage/storage.ts'
import { listOf, listReader } from '../list.ts'
import type { Notifier } from '../notifier.ts'
import type { Organizations } from '../organizations/organizations.ts'
import { byId, isoOrNull, owned, parseSubject, wrong } from '../scope.ts'
import { canonicalNetworks } from './ip-list.ts'
import { isWellFormedApiKey, newApiKey } from './key-format.ts'
import type { ApiKeyRecord } from './records.ts'

const readList = listReader('keys', {})

/** The API key use cases of a notifier. */
export function createApiKeys(
  storage: Storage,
  ids: IdGenerator,
  organizations: Organizations,
  clock: Clock,
): Notifier['apiKeys'] {
  const identify = createGroup((secrets: readonly string[]) => identifyAll(storage, secrets))

  return {
    async create(input, scope) {
      const parsed = parseSubject(apiKeyInput, input)
      const expiresAt = parsed.expiresAt ?? null
      if (expiresAt !== null && expiresAt <= clock.now()) throw wrong('expiresAt', 'in the future')
      const organizationId = await organizations.existing(scope)
      const secret = newApiKey()
      const key = await storage.apiKeys.create(
        {
          id: ids.random('key'),
          organizationId,
          name: parsed.name,
          permission: parsed.permission,
          grants: [...new Set(parsed.grants)],
          prefix: secret.slice(0, 8),
          last4: secret.slice(-4),
          expiresAt,
          allowedIps: canonicalNetworks(parsed.allowedIps ?? []),
        },
        hashOf(secret),
      )
      return { ...view(key), secret }
    },
    async list(query) {
      const { organizationId, page } = readList(query)
      await organizations.existing({ organizationId })
      return listOf('keys', await storage.apiKeys.list(organizationId, page), page, view)
    },
    async delete(id, scope) {
      owned(await byId(id, (known) => storage.apiKeys.get(known)), scope, unknownKey)
      if (!(await storage.apiKeys.delete(id))) throw unknownKey()
    },
    async verify(secret) {
      if (!isWellFormedApiKey(secret)) throw new NotifierError('invalid_api_key')
      const identity = await identify(secret)
      if (identity === 'unknown') throw new NotifierError('invalid_api_key')
      if (identity === 'expired') throw new NotifierError('expired_api_key')
      return identity
    },
  }
}

type Identity = ApiKeyRecord | 'unknown' | 'expired'

/** Looks several secrets up in one query; requests of one caller that arrive together share its row. */
async function identifyAll(storage: Storage, secrets: readonly string[]): Promise<Identity[]> {
  const distinct = [...new Set(secrets)]
  const hashes = distinct.map(hashOf)
  const found = await storage.apiKeys.findByHash(hashes)
  const identities = new Map<string, Identity>()
  for (const [index, secret] of distinct.entries()) {
    const row = found[index] ?? null
    const hash = hashes[index] as Buffer
    if (row === null || !timingSafeEqual(row.hash, hash)) identities.set(secret, 'unknown')
    else identities.set(secret, row.expired ? 'expired' : Object.freeze(view(row.key)))
  }
  return secrets.map((secret) => identities.get(secret) ?? 'unknown')
}

/** A key has 190 random bits, so a plain hash cannot be reversed and needs no secret that would have to outlive it. */
function hashOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}

function view(key: ApiKey): ApiKeyRecord {
  const { id, organizationId, name, permission, grants, prefix, last4, expiresAt, allowedIps, createdAt } =
    key
  return {
    id,
    organizationId,
    name,
    permission,
    grants,
    hint: `${prefix}…${last4}`,
    expiresAt: isoOrNull(expiresAt),
    allowedIps,
    createdAt: new Date(createdAt).toISOString(),
  }
}

function unknownKey(): NotifierError {
  return new NotifierError('not_found', { message: 'No API key has this id. Check the id.' })
}
