import assert from 'node:assert/strict'
import type { PostedTest, WebhookDelivery } from '../../core/ports/storage/webhook-endpoints.ts'
import { DEFAULT_ORGANIZATION } from '../../core/tenancy/organization.ts'
import { accept, claimOne, deliver, endpoint, note, page } from './fixtures.ts'
import type { Check, StorageHarness } from './harness.ts'

const ATTEMPT = { attempt: 1, status: 200, response: 'ok', durationMs: 3, succeeded: true } as const
const FAILED = { ...ATTEMPT, status: null, response: 'timeout', succeeded: false } as const
const WEEK = 7 * 86_400_000

function posted(endpointId: string, name: string, attempt: PostedTest['attempt'] = ATTEMPT): PostedTest {
  const eventId = `evt_${endpointId}_test_${name}`
  return { eventId, organizationId: DEFAULT_ORGANIZATION, payload: `{"event":"${name}"}`, attempt }
}

async function logOf(storage: StorageHarness['storage'], id: string): Promise<readonly WebhookDelivery[]> {
  return (await storage.webhookEndpoints.deliveries({ endpointId: id }, page())).items
}

export function testEventChecks(check: Check): void {
  check('a test event is a delivery with its attempt and without a job', async ({ storage, secondDoor }) => {
    const { id } = await endpoint(storage)
    const { recordTest, deliveriesOf, get } = storage.webhookEndpoints
    const before = await get(id)
    const request = { url: 'https://example.com/hook', timestamp: 1_796_000_000 }
    assert.equal(await recordTest(id, posted(id, 'first', { ...ATTEMPT, request }), 9), true)
    assert.equal(await recordTest(id, posted(id, 'second', FAILED), 9), true)
    assert.equal(await recordTest('wh_unknown', posted('wh_unknown', 'third'), 9), false)
    const log = await logOf(storage, id)
    const shown = { eventType: 'webhook.test', nextAttemptAt: null } as const
    const [second, first] = log
    assert.deepEqual(log, [
      {
        ...shown,
        eventId: posted(id, 'second').eventId,
        payload: '{"event":"second"}',
        state: 'failed',
        createdAt: second?.createdAt,
        attempts: [{ ...FAILED, at: second?.createdAt }],
      },
      {
        ...shown,
        eventId: posted(id, 'first').eventId,
        payload: '{"event":"first"}',
        state: 'delivered',
        createdAt: first?.createdAt,
        attempts: [{ ...ATTEMPT, request, at: first?.createdAt }],
      },
    ])
    assert.deepEqual(await deliveriesOf([first?.eventId ?? ''], DEFAULT_ORGANIZATION, 9), [
      { ...first, endpointId: id },
    ])
    assert.deepEqual(await secondDoor.jobs(), [])
    assert.equal((await secondDoor.deliveries()).length, 2)
    assert.deepEqual(await get(id), before)
  })

  check('the newest test events of each endpoint are kept, and all its other events', async ({ storage }) => {
    const [hook, other] = [await endpoint(storage), await endpoint(storage)]
    const { recordTest } = storage.webhookEndpoints
    await recordTest(hook.id, posted(hook.id, 'oldest'), 2)
    await accept(storage, [note()])
    await deliver(storage)
    await recordTest(other.id, posted(other.id, 'only'), 2)
    await recordTest(hook.id, posted(hook.id, 'b'), 2)
    await recordTest(hook.id, posted(hook.id, 'a', FAILED), 2)
    const shown = async (id: string) =>
      (await logOf(storage, id)).map(({ payload, eventType, attempts }) => [
        eventType === 'webhook.test' ? payload : eventType,
        attempts.length,
      ])
    assert.deepEqual(await shown(hook.id), [
      ['{"event":"a"}', 1],
      ['{"event":"b"}', 1],
      ['notification.sent', 0],
    ])
    assert.deepEqual(await shown(other.id), [
      ['{"event":"only"}', 1],
      ['notification.sent', 0],
    ])
  })

  check('a failed test event is not among those redelivered', async ({ storage }) => {
    const { id } = await endpoint(storage)
    await storage.webhookEndpoints.recordTest(id, posted(id, 'failed', FAILED), 9)
    await accept(storage, [note()])
    await deliver(storage)
    const { jobId, token } = await claimOne(storage, id)
    await storage.settle([{ kind: 'event', jobId, token, ended: 'failed', next: { kind: 'end' } }])
    assert.equal(await storage.webhookEndpoints.redeliver(id, { since: 0, most: 9 }), 1)
    assert.deepEqual(
      (await logOf(storage, id)).map(({ state }) => state),
      ['pending', 'failed'],
    )
  })

  check(
    'test events go when they are old, and with their endpoint',
    async ({ storage, secondDoor, advance }) => {
      const [hook, other] = [await endpoint(storage), await endpoint(storage)]
      for (const { id } of [hook, other]) await storage.webhookEndpoints.recordTest(id, posted(id, 'old'), 9)
      assert.equal(await storage.webhookEndpoints.delete(other.id, 9), 'deleted')
      assert.equal((await secondDoor.deliveries()).length, 1)
      const what = { organizationId: DEFAULT_ORGANIZATION, olderThanMs: WEEK }
      assert.equal((await storage.expire({ what, most: 9 })).removed.deliveries, 0)
      await advance(WEEK)
      assert.equal((await storage.expire({ what, most: 9 })).removed.deliveries, 1)
      assert.deepEqual(await secondDoor.deliveries(), [])
    },
  )
}
