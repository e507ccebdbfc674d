import assert from 'node:assert/strict'
import type { OwnProviderEvent } from '../../core/notification/provider-event.ts'
import {
  accept,
  claimOne,
  ended,
  endpoint,
  note,
  organization,
  page,
  sent,
  start,
  unique,
} from './fixtures.ts'
import type { Check } from './harness.ts'

export function providerEventChecks(check: Check): void {
  check('an event about a provider is published to its organization with the outcome', async (harness) => {
    const { storage, secondDoor } = harness
    const [own, foreign] = [await organization(storage), await organization(storage)]
    const events = ['provider.paused', 'provider.resumed'] as const
    const hook = await endpoint(storage, { organizationId: own, events })
    const deaf = await endpoint(storage, { organizationId: own, events: ['notification.sent'] })
    const other = await endpoint(storage, { organizationId: foreign, events })
    await accept(storage, [note()], own)
    const job = await claimOne(storage)
    await start(storage, [job])
    const providerEvent: OwnProviderEvent = {
      event: 'provider.paused',
      data: {
        id: `prov_${unique()}`,
        channel: 'email',
        provider: 'smtp',
        organizationId: own,
        timestamp: '2026-01-15T09:30:00.000Z',
        code: 'provider_auth_failed',
        message: '535 \u0000 “no” 🛑',
        forMs: 30_000,
      },
    }
    const settlement = { ...ended(job, [sent({ type: 'attempt_failed' })]), providerEvent }
    const [stale] = await storage.settle([{ ...settlement, token: job.token + 1 }])
    assert.deepEqual(stale, { kind: 'stale' })
    assert.deepEqual(await secondDoor.deliveries(), [])
    const [answer] = await storage.settle([settlement])
    assert.deepEqual(answer, { kind: 'settled', events: [] })
    const delivery = await claimOne(storage, hook.id)
    assert.ok(delivery.kind === 'event')
    assert.equal(delivery.delivery.eventId, `evt_${providerEvent.data.id}`)
    assert.deepEqual(JSON.parse(delivery.delivery.payload), providerEvent)
    for (const { id: endpointId } of [deaf, other])
      assert.deepEqual((await storage.webhookEndpoints.deliveries({ endpointId }, page())).items, [])
  })
}
