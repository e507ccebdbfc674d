import assert from 'node:assert/strict'
import { DEFAULT_ORGANIZATION } from '../../core/tenancy/organization.ts'
import { endpoint, newEndpoint, organization, page, readAll, TEN } from './fixtures.ts'
import type { Check } from './harness.ts'

export function webhookEndpointChecks(check: Check): void {
  check('an endpoint is stored as it was given, active', async ({ storage }) => {
    const created = await endpoint(storage, {
      id: 'wh_1',
      url: 'https://example.com/a?b=c',
      events: ['notification.opened'],
      successStatus: '2xx',
      secrets: ['newest', 'older'],
    })
    assert.deepEqual(created, {
      id: 'wh_1',
      organizationId: DEFAULT_ORGANIZATION,
      url: 'https://example.com/a?b=c',
      events: ['notification.opened'],
      successStatus: '2xx',
      secrets: ['newest', 'older'],
      status: 'active',
      disabledReason: null,
      failingSince: null,
      createdAt: created.createdAt,
    })
    assert.deepEqual(await storage.webhookEndpoints.get('wh_1'), created)
    assert.equal(await storage.webhookEndpoints.get('wh_unknown'), null)
    await assert.rejects(endpoint(storage, { id: 'wh_1' }), { code: 'already_exists' })
    assert.equal(await storage.webhookEndpoints.delete('wh_unknown', 100), 'unknown')
  })

  check('an endpoint of an unknown organization is refused', async ({ storage }) => {
    await assert.rejects(endpoint(storage, { organizationId: 'org_unknown' }), { code: 'not_found' })
  })

  check('an organization has at most so many endpoints, also of twenty at once', async ({ storage }) => {
    const { create, list } = storage.webhookEndpoints
    const organizationId = await organization(storage)
    const wanted = [...TEN, ...TEN].map(() => newEndpoint({ organizationId }))
    // Before the race, to open the storage's connections.
    assert.ok((await Promise.all(wanted.map((one) => create(one, 0)))).every((answer) => answer === null))
    const answers = await Promise.all(wanted.map((one) => create(one, 3)))
    const created = answers.filter((answer) => answer !== null)
    assert.equal(created.length, 3)
    const kept = await list(organizationId, page())
    assert.deepEqual(kept.items.map(({ id }) => id).sort(), created.map(({ id }) => id).sort())
    assert.equal(await create(newEndpoint({ organizationId }), 2), null)
    assert.notEqual(await create(newEndpoint(), 3), null)
    await storage.webhookEndpoints.delete(created[0]?.id ?? '', 100)
    assert.notEqual(await create(newEndpoint({ organizationId }), 3), null)
    assert.equal(await create(newEndpoint({ organizationId }), 3), null)
  })

  check('endpoints are listed newest first, in pages, each organization its own', async ({ storage }) => {
    const other = await organization(storage)
    const ids: string[] = []
    for (let index = 0; index < 5; index += 1) ids.unshift((await endpoint(storage)).id)
    await endpoint(storage, { organizationId: other })
    const read = await readAll(
      (request) => storage.webhookEndpoints.list(DEFAULT_ORGANIZATION, request),
      2,
      async () => void (await endpoint(storage)),
    )
    assert.deepEqual(
      read.map(({ id }) => id),
      ids,
    )
    assert.equal((await storage.webhookEndpoints.list(other, page())).items.length, 1)
  })
}
