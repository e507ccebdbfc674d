import assert from 'node:assert/strict'
import { DEFAULT_ORGANIZATION } from '../../domain/organization.ts'
import type { NewApiKey } from '../../ports/storage/api-keys.ts'
import { organization, page, readAll, TEN, unique } from './fixtures.ts'
import type { Check } from './harness.ts'

function key(change: Partial<NewApiKey> = {}): NewApiKey {
  return {
    id: `key_${unique()}`,
    organizationId: DEFAULT_ORGANIZATION,
    name: 'Server',
    permission: 'Write',
    prefix: 'ck_live_abcd',
    last4: 'wxyz',
    expiresAt: null,
    allowedIps: [],
    grants: [],
    ...change,
  }
}

/** A stand-in for SHA-256: 32 bytes, equal for equal texts. */
function hashOf(text: string): Uint8Array {
  const bytes = new Uint8Array(32).fill(0xff)
  bytes.set(new TextEncoder().encode(text))
  return bytes
}

export function apiKeyChecks(check: Check): void {
  check('a key is found by the hash of its secret', async ({ storage }) => {
    const given = key({
      allowedIps: ['10.0.0.0/8', '::1'],
      permission: 'Full Access',
      grants: ['content'],
      expiresAt: 4e12,
    })
    const created = await storage.apiKeys.create(given, hashOf('one'))
    assert.deepEqual(created, { ...given, createdAt: created.createdAt, lastUsedAt: null })
    const [found] = await storage.apiKeys.findByHash([hashOf('one')])
    assert.ok(found !== undefined && found !== null)
    assert.deepEqual(found.key, created)
    assert.deepEqual([...found.hash], [...hashOf('one')])
    assert.equal(found.expired, false)
    assert.deepEqual(await storage.apiKeys.get(given.id), created)
  })

  check('a set of hashes is answered in order', async ({ storage }) => {
    const [a, b] = [
      await storage.apiKeys.create(key(), hashOf('a')),
      await storage.apiKeys.create(key(), hashOf('b')),
    ]
    const found = await storage.apiKeys.findByHash(['b', 'x', 'a', 'b'].map(hashOf))
    assert.deepEqual(
      found.map((one) => one?.key.id ?? null),
      [b.id, null, a.id, b.id],
    )
    assert.deepEqual(await storage.apiKeys.findByHash([]), [])
  })

  check("a key expires by the storage's clock", async (harness) => {
    const { storage } = harness
    const probe = await storage.apiKeys.create(key(), hashOf('probe'))
    await storage.apiKeys.create(key({ expiresAt: probe.createdAt + 10_000 }), hashOf('one'))
    const expired = async (): Promise<boolean | undefined> =>
      (await storage.apiKeys.findByHash([hashOf('one')]))[0]?.expired
    assert.equal(await expired(), false)
    await harness.advance(10_000)
    assert.equal(await expired(), true)
  })

  check('the last use of keys is recorded by the clock of the storage', async (harness) => {
    const { apiKeys } = harness.storage
    const [a, b, unused] = [
      await apiKeys.create(key(), hashOf('a')),
      await apiKeys.create(key({ organizationId: null }), hashOf('b')),
      await apiKeys.create(key(), hashOf('c')),
    ]
    await harness.advance(10_000)
    await apiKeys.markUsed([b.id, 'key_unknown', a.id])
    const used = { ...a, lastUsedAt: a.createdAt + 10_000 }
    assert.deepEqual(await apiKeys.get(a.id), used)
    assert.deepEqual((await apiKeys.findByHash([hashOf('a')]))[0]?.key, used)
    assert.equal((await apiKeys.list(null, page())).items[0]?.lastUsedAt, b.createdAt + 10_000)
    assert.deepEqual((await apiKeys.list(DEFAULT_ORGANIZATION, page())).items, [unused, used])
    await harness.advance(10_000)
    await Promise.all(TEN.map(() => apiKeys.markUsed([a.id, b.id])))
    assert.equal((await apiKeys.get(a.id))?.lastUsedAt, a.createdAt + 20_000)
    await apiKeys.markUsed([])
  })

  check('a deleted key is gone at once', async ({ storage }) => {
    const { id } = await storage.apiKeys.create(key(), hashOf('one'))
    assert.equal(await storage.apiKeys.delete(id), true)
    assert.deepEqual(await storage.apiKeys.findByHash([hashOf('one')]), [null])
    assert.equal(await storage.apiKeys.get(id), null)
    assert.equal(await storage.apiKeys.delete(id), false)
    assert.equal(await storage.apiKeys.delete('key_unknown'), false)
  })

  check('of ten deletes in a race one deletes', async ({ storage }) => {
    const { id } = await storage.apiKeys.create(key(), hashOf('one'))
    const answers = await Promise.all(TEN.map(() => storage.apiKeys.delete(id)))
    assert.equal(answers.filter(Boolean).length, 1)
  })

  check('a key of an unknown organization is refused', async ({ storage }) => {
    await assert.rejects(storage.apiKeys.create(key({ organizationId: 'org_unknown' }), hashOf('one')), {
      code: 'not_found',
    })
    assert.deepEqual(await storage.apiKeys.findByHash([hashOf('one')]), [null])
  })

  check('a secret belongs to one key', async ({ storage }) => {
    const first = await storage.apiKeys.create(key(), hashOf('one'))
    await assert.rejects(storage.apiKeys.create(key(), hashOf('one')), { code: 'already_exists' })
    await assert.rejects(storage.apiKeys.create(key({ id: first.id }), hashOf('two')), {
      code: 'already_exists',
    })
    assert.deepEqual((await storage.apiKeys.findByHash([hashOf('one')]))[0]?.key, first)
  })

  check('keys are listed newest first, in pages, each organization its own', async ({ storage }) => {
    const other = await organization(storage)
    const ids: string[] = []
    for (let index = 0; index < 5; index += 1) {
      ids.unshift((await storage.apiKeys.create(key(), hashOf(unique()))).id)
    }
    await storage.apiKeys.create(key({ organizationId: other }), hashOf(unique()))
    const read = await readAll(
      (request) => storage.apiKeys.list(DEFAULT_ORGANIZATION, request),
      2,
      async () => void (await storage.apiKeys.create(key(), hashOf(unique()))),
    )
    assert.deepEqual(
      read.map(({ id }) => id),
      ids,
    )
    assert.equal((await storage.apiKeys.list(other, page())).items.length, 1)
  })

  check('an operator key belongs to no organization', async ({ storage }) => {
    const given = key({ organizationId: null, grants: ['content'] })
    const created = await storage.apiKeys.create(given, hashOf('operator'))
    assert.deepEqual(created, { ...given, createdAt: created.createdAt, lastUsedAt: null })
    await storage.apiKeys.create(key(), hashOf('tenant'))
    const [found] = await storage.apiKeys.findByHash([hashOf('operator')])
    assert.deepEqual([found?.key, found?.expired], [created, false])
    assert.deepEqual(await storage.apiKeys.get(given.id), created)
    assert.deepEqual((await storage.apiKeys.list(null, page())).items, [created])
    const own = (await storage.apiKeys.list(DEFAULT_ORGANIZATION, page())).items
    assert.deepEqual([own.length, own.some(({ id }) => id === given.id)], [1, false])
    assert.equal(await storage.apiKeys.delete(given.id), true)
    assert.deepEqual(await storage.apiKeys.findByHash([hashOf('operator')]), [null])
  })

  check('operator keys are listed newest first, in pages', async ({ storage }) => {
    const ids: string[] = []
    for (let index = 0; index < 5; index += 1) {
      ids.unshift((await storage.apiKeys.create(key({ organizationId: null }), hashOf(unique()))).id)
      await storage.apiKeys.create(key(), hashOf(unique()))
    }
    const read = await readAll(
      (request) => storage.apiKeys.list(null, request),
      2,
      async () => void (await storage.apiKeys.create(key({ organizationId: null }), hashOf(unique()))),
    )
    assert.deepEqual(
      read.map(({ id }) => id),
      ids,
    )
  })
}
