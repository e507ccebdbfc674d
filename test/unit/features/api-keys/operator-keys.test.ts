import { expect, it, onTestFinished } from 'vitest'
import { API_KEY_PATTERN } from '../../../../src/core/access/key-format.ts'
import { apiKeyKind } from '../../../../src/core/access/key-kind.ts'
import { createNotifier } from '../../../../src/create-notifier.ts'
import { fakeClock } from '../../../../src/testing/fake-clock.ts'
import { inMemory } from '../../../support/in-memory.ts'
import { watchReads } from '../../../support/record-reads.ts'

const given = { name: 'Console', permission: 'Full Access' } as const

async function start() {
  const clock = fakeClock()
  const storage = inMemory(clock)
  const notifier = createNotifier({ channels: {}, storage, clock })
  await notifier.start()
  onTestFinished(() => notifier.stop())
  return { clock, notifier, storage }
}

it('an operator key has a prefix of its own, is shown once and stored nowhere', async () => {
  const { notifier, storage } = await start()
  const { secret, ...record } = await notifier.operatorKeys.create({ ...given, grants: ['content'] })
  expect(secret).toMatch(/^crlop_/)
  expect(secret).toMatch(API_KEY_PATTERN)
  expect(record).toEqual({
    ...given,
    id: record.id,
    lastUsedAt: null,
    replacedBy: null,
    grants: ['content'],
    hint: `${secret.slice(0, 10)}…${secret.slice(-4)}`,
    expiresAt: null,
    allowedIps: [],
    createdAt: record.createdAt,
  })
  expect(await notifier.operatorKeys.verify(secret)).toEqual(record)
  const listed = await notifier.operatorKeys.list()
  expect(listed.items).toEqual([record])
  expect(JSON.stringify([listed, await storage.records.get(apiKeyKind, [{ id: record.id }])])).not.toContain(
    secret.slice(10, -4),
  )
})

it('operator keys and API keys are found, listed and deleted apart', async () => {
  const { notifier } = await start()
  const { apiKeys, operatorKeys } = notifier
  const operator = await operatorKeys.create(given)
  const tenant = await apiKeys.create(given)
  await expect(apiKeys.verify(operator.secret)).rejects.toMatchObject({ code: 'invalid_api_key' })
  await expect(operatorKeys.verify(tenant.secret)).rejects.toMatchObject({ code: 'invalid_api_key' })
  await expect(apiKeys.delete(operator.id)).rejects.toMatchObject({ code: 'not_found' })
  for (const id of [tenant.id, 'key_unknown'])
    await expect(operatorKeys.delete(id)).rejects.toMatchObject({ code: 'not_found' })
  expect((await apiKeys.list()).items.map(({ id }) => id)).toEqual([tenant.id])
  expect((await operatorKeys.list()).items.map(({ id }) => id)).toEqual([operator.id])
})

it('a key whose prefix and owner disagree is none', async () => {
  const { notifier, storage } = await start()
  const { secret, id } = await notifier.operatorKeys.create(given)
  let owner: string | null = 'org_default'
  watchReads(storage, apiKeyKind, async (inner) =>
    (await inner()).map((record) => record && { ...record, organizationId: owner }),
  )
  await expect(notifier.operatorKeys.verify(secret)).rejects.toMatchObject({ code: 'invalid_api_key' })
  owner = null
  expect((await notifier.operatorKeys.verify(secret)).id).toBe(id)
})

it('a deleted or expired operator key stops working at once', async () => {
  const { notifier, clock } = await start()
  const expiresAt = new Date(clock.now() + 1_000)
  const short = await notifier.operatorKeys.create({ ...given, expiresAt })
  await clock.advance(999)
  await notifier.operatorKeys.verify(short.secret)
  await clock.advance(1)
  await expect(notifier.operatorKeys.verify(short.secret)).rejects.toMatchObject({ code: 'expired_api_key' })
  const { id, secret } = await notifier.operatorKeys.create(given)
  await notifier.operatorKeys.delete(id)
  await expect(notifier.operatorKeys.verify(secret)).rejects.toMatchObject({ code: 'invalid_api_key' })
  await expect(notifier.operatorKeys.delete(id)).rejects.toMatchObject({ code: 'not_found' })
})

it('the deletion of an organization leaves operator keys', async () => {
  const { notifier } = await start()
  const { id: organizationId } = await notifier.organizations.create({ name: 'Acme' })
  const tenant = await notifier.organization(organizationId).apiKeys.create(given)
  const operator = await notifier.operatorKeys.create(given)
  await notifier.organizations.delete(organizationId)
  await expect(notifier.apiKeys.verify(tenant.secret)).rejects.toMatchObject({ code: 'invalid_api_key' })
  expect((await notifier.operatorKeys.verify(operator.secret)).id).toBe(operator.id)
})

it('what is wrong with an operator key is refused, and lists take no cursor of the other kind', async () => {
  const { notifier, clock } = await start()
  for (const [field, wrong] of [
    ['expiresAt', { expiresAt: new Date(clock.now()) }],
    ['permission', { permission: 'Root' }],
    ['allowedIps.0', { allowedIps: ['0.0.0.0/0'] }],
    ['organizationId', { organizationId: 'org_default' }],
  ] as const) {
    await expect(notifier.operatorKeys.create({ ...given, ...wrong } as never)).rejects.toMatchObject({
      code: 'invalid_parameter',
      details: { field },
    })
  }
  for (let n = 0; n < 2; n += 1) await notifier.apiKeys.create(given)
  const { nextCursor } = await notifier.apiKeys.list({ limit: 1 })
  await expect(notifier.operatorKeys.list({ cursor: nextCursor ?? '' })).rejects.toMatchObject({
    code: 'invalid_parameter',
  })
})
