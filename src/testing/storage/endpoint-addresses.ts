import assert from 'node:assert/strict'
import type { ClaimedJob } from '../../core/ports/storage/claim.ts'
import type { WebhookEndpoint } from '../../core/ports/storage/webhook-endpoints.ts'
import { attempt, type Change, publishEvents, settlement, stateOf } from './endpoint-health.ts'
import { claim, claimOne, endpoint, page, start } from './fixtures.ts'
import type { Check } from './harness.ts'

/** An endpoint and its deliveries under way after a new address or a 410. */
export function endpointAddressChecks(check: Check): void {
  check('what failed at another address no longer counts', async (harness) => {
    const { storage } = harness
    const hook = await endpoint(storage)
    await publishEvents(storage, 2)
    await attempt(storage, hook, { last: true })
    await storage.webhookEndpoints.update(hook.id, { successStatus: '2xx', url: hook.url })
    assert.deepEqual(await stateOf(storage, hook), ['active', null, 'failing'])
    const moved = await storage.webhookEndpoints.update(hook.id, { url: 'https://example.com/new' })
    assert.equal(moved?.failingSince, null)
  })

  check(
    'what was under way to another address when it changed says nothing of the new one',
    async (harness) => {
      const { storage } = harness
      const hook = await endpoint(storage, { events: ['notification.sent'] })
      const moved = { ...hook, url: 'https://example.com/new' }
      await publishEvents(storage, 6)
      const jobs = [...(await claim(storage, 4, hook.id))]
      await start(storage, jobs, hook.id)
      await storage.webhookEndpoints.update(hook.id, { url: moved.url })
      const settle = async (change: Change, { url }: WebhookEndpoint): Promise<void> => {
        const ended = settlement(jobs.pop() as ClaimedJob, change)
        assert.ok(ended.kind === 'event')
        const [answer] = await storage.settle([{ ...ended, url }])
        assert.ok(answer?.kind === 'settled')
        assert.equal(answer.endpointEvents, undefined)
      }
      await settle({ gone: true }, hook)
      await settle({ attempt: 4, last: true }, hook)
      assert.deepEqual(await stateOf(storage, hook), ['active', null, null])
      await settle({ last: true }, moved)
      await settle({ succeeded: true }, hook)
      assert.deepEqual(await stateOf(storage, hook), ['active', null, 'failing'])
      await attempt(storage, hook, { succeeded: true })
      assert.deepEqual(await stateOf(storage, hook), ['active', null, null])
    },
  )

  check(
    'what is to be tried again when it disables its endpoint is held with the others',
    async ({ storage }) => {
      const hook = await endpoint(storage)
      await publishEvents(storage, 2)
      const job = await claimOne(storage, hook.id)
      await start(storage, [job], hook.id)
      const { jobId, token } = job
      await storage.settle([
        { kind: 'event', jobId, token, disable: 'gone', next: { kind: 'retry', delayMs: 5_000 } },
      ])
      const { items } = await storage.webhookEndpoints.deliveries({ endpointId: hook.id }, page())
      assert.deepEqual(
        items.map(({ state }) => state),
        ['held', 'held'],
      )
    },
  )
}
