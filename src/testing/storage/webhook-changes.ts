import assert from 'node:assert/strict'
import type { Storage } from '../../core/ports/storage/storage.ts'
import type { WebhookEndpoint } from '../../core/ports/storage/webhook-endpoints.ts'
import { publishEvents } from './endpoint-health.ts'
import {
  accept,
  claim,
  claimOne,
  deliver,
  endpoint,
  LEASE_MS,
  newEndpoint,
  note,
  page,
  readAll,
  start,
  TEN,
  unique,
} from './fixtures.ts'
import type { Check, StorageHarness } from './harness.ts'
import { find, keeping, otherKind } from './record-fixtures.ts'

const FAILED = { attempt: 1, status: 500, response: 'no', durationMs: 2.5, succeeded: false }

/** Ends this many deliveries to an endpoint as failed. */
async function fail(storage: Storage, hook: WebhookEndpoint, count: number): Promise<void> {
  const jobs = await claim(storage, count, hook.id)
  assert.equal(jobs.length, count)
  await start(storage, jobs, hook.id)
  const next = { kind: 'end' } as const
  await storage.settle(
    jobs.map(({ jobId, token }) => ({ kind: 'event', jobId, token, attempt: FAILED, ended: 'failed', next })),
  )
}

async function states({ secondDoor }: StorageHarness): Promise<string[]> {
  return (await secondDoor.deliveries()).map(({ state }) => state).sort()
}

/** What a change of an endpoint stores besides, and how to see whether it is stored. */
function beside(storage: Storage) {
  const id = unique()
  return {
    also: [keeping(id, null, { reason: 'manual', source: null })],
    isStored: async () => (await find(storage, otherKind, id)) !== null,
  }
}

export function webhookChangeChecks(check: Check): void {
  check('what is stored with a change of an endpoint is stored', async ({ storage }) => {
    const { create, update, rotateSecret } = storage.webhookEndpoints
    const [created, updated, rotated, deleted] = [1, 2, 3, 4].map(() => beside(storage))
    const hook = await create(newEndpoint(), 1_000, created?.also)
    const id = hook?.id ?? ''
    await update(id, { successStatus: '2xx' }, updated?.also)
    await rotateSecret(id, { secret: 'b', overlapMs: 0, most: 2 }, rotated?.also)
    await publishEvents(storage, 2)
    assert.equal(await storage.webhookEndpoints.delete(id, 1, deleted?.also), 'more')
    assert.equal(await deleted?.isStored(), false)
    assert.equal(await storage.webhookEndpoints.delete(id, 1, deleted?.also), 'deleted')
    for (const one of [created, updated, rotated, deleted]) assert.equal(await one?.isStored(), true)
  })

  check('what is to be stored with a change that does not happen is not stored', async ({ storage }) => {
    const { create, update, rotateSecret } = storage.webhookEndpoints
    await endpoint(storage)
    const { also, isStored } = beside(storage)
    assert.equal(await create(newEndpoint(), 1, also), null)
    assert.equal(await update('wh_unknown', { successStatus: '2xx' }, also), null)
    assert.equal(await rotateSecret('wh_unknown', { secret: 'b', overlapMs: 0, most: 2 }, also), null)
    assert.equal(await storage.webhookEndpoints.delete('wh_unknown', 1, also), 'unknown')
    assert.equal(await isStored(), false)
  })

  check('an endpoint changes in what is given, and in nothing else', async ({ storage }) => {
    const before = await endpoint(storage)
    const { update } = storage.webhookEndpoints
    assert.deepEqual(await update(before.id, {}), before)
    const moved = { url: 'https://example.com/b', events: ['notification.opened'] } as const
    assert.deepEqual(await update(before.id, moved), { ...before, ...moved })
    assert.deepEqual(await update(before.id, { successStatus: '2xx' }), {
      ...before,
      ...moved,
      successStatus: '2xx',
    })
    assert.equal((await storage.webhookEndpoints.get(before.id))?.url, moved.url)
    assert.equal(await update('wh_unknown', { url: 'https://example.com' }), null)
  })

  check(
    'an endpoint that is disabled by hand holds its jobs, and enabled leaves them held',
    async (harness) => {
      const { storage } = harness
      const hook = await endpoint(storage)
      const other = await endpoint(storage)
      const { update } = storage.webhookEndpoints
      await publishEvents(storage, 2)
      const disabled = await update(hook.id, { status: 'disabled' })
      assert.deepEqual([disabled?.status, disabled?.disabledReason], ['disabled', 'manual'])
      assert.deepEqual(await states(harness), ['held', 'held', 'pending', 'pending'])
      await publishEvents(storage, 1)
      assert.deepEqual(await claim(storage, 5, hook.id), [])
      assert.deepEqual(await update(hook.id, { status: 'active' }), hook)
      assert.deepEqual(await claim(storage, 5, hook.id), [])
      assert.equal((await claim(storage, 5, other.id)).length, 3)
      await publishEvents(storage, 1)
      assert.equal((await claim(storage, 5, hook.id)).length, 1)
    },
  )

  check('disabled by hand, an endpoint that is gone stays gone', async ({ storage }) => {
    const hook = await endpoint(storage)
    await publishEvents(storage, 1)
    const { jobId, token } = await claimOne(storage, hook.id)
    const next = { kind: 'end' } as const
    await storage.settle([{ kind: 'event', jobId, token, ended: 'failed', disable: 'gone', next }])
    const again = await storage.webhookEndpoints.update(hook.id, { status: 'disabled' })
    assert.equal(again?.disabledReason, 'gone')
  })

  check('a rotated secret also signs until it ends', async (harness) => {
    const { storage } = harness
    const hook = await endpoint(storage, { secrets: ['a'] })
    const { rotateSecret, get, list } = storage.webhookEndpoints
    const secrets = async (): Promise<unknown> => {
      const one = (await get(hook.id))?.secrets
      assert.deepEqual((await list(hook.organizationId, page())).items[0]?.secrets, one)
      return one
    }
    const rotated = await rotateSecret(hook.id, { secret: 'b', overlapMs: 10_000, most: 3 })
    assert.deepEqual(rotated, { ...hook, secrets: ['b', 'a'] })
    await harness.advance(6_000)
    await rotateSecret(hook.id, { secret: 'c', overlapMs: 60_000, most: 3 })
    assert.deepEqual(await secrets(), ['c', 'b', 'a'])
    await publishEvents(storage, 1)
    await harness.advance(4_001)
    assert.deepEqual(await secrets(), ['c', 'b'])
    const job = await claimOne(storage, hook.id)
    assert.deepEqual(job.kind === 'event' && job.delivery.endpoint.secrets, ['c', 'b'])
    for (const secret of ['d', 'e']) await rotateSecret(hook.id, { secret, overlapMs: 60_000, most: 3 })
    assert.deepEqual(await secrets(), ['e', 'd', 'c'])
    await rotateSecret(hook.id, { secret: 'f', overlapMs: 0, most: 3 })
    assert.deepEqual(await secrets(), ['f'])
    assert.equal(await rotateSecret('wh_unknown', { secret: 'x', overlapMs: 0, most: 3 }), null)
  })

  check('the overlap of a rotation is counted from now by the clock of the storage', async (harness) => {
    const hook = await endpoint(harness.storage, { secrets: ['a'] })
    await harness.advance(60_000)
    await harness.storage.webhookEndpoints.rotateSecret(hook.id, { secret: 'b', overlapMs: 10_000, most: 3 })
    assert.deepEqual((await harness.storage.webhookEndpoints.get(hook.id))?.secrets, ['b', 'a'])
  })

  check('of ten rotations in a race none is lost', async ({ storage }) => {
    const hook = await endpoint(storage, { secrets: ['first'] })
    const { rotateSecret } = storage.webhookEndpoints
    await Promise.all(TEN.map((n) => rotateSecret(hook.id, { secret: `s${n}`, overlapMs: 60_000, most: 20 })))
    const stored = (await storage.webhookEndpoints.get(hook.id))?.secrets ?? []
    assert.deepEqual([...stored].sort(), ['first', ...TEN.map((n) => `s${n}`)])
  })

  check('the delivery log has every delivery with its attempts, newest first, in pages', async (harness) => {
    const { storage } = harness
    const hook = await endpoint(storage)
    await endpoint(storage)
    await publishEvents(storage, 3)
    await fail(storage, hook, 1)
    const jobs = await claim(storage, 1, hook.id)
    await start(storage, jobs, hook.id)
    await harness.advance(LEASE_MS + 1)
    await storage.claim({ lanes: [], leaseMs: LEASE_MS })
    const all = await readAll(
      (request) => storage.webhookEndpoints.deliveries({ endpointId: hook.id }, request),
      2,
      () => publishEvents(storage, 1),
    )
    assert.deepEqual(
      all.map(({ state, attempts }) => [state, attempts.length]),
      [
        ['pending', 0],
        ['pending', 1],
        ['failed', 1],
      ],
    )
    const [newest, , oldest] = all
    assert.equal(newest?.eventType, 'notification.sent')
    assert.equal(JSON.parse(newest?.payload ?? '').event, 'notification.sent')
    const { at, ...attempt } = oldest?.attempts[0] ?? {}
    assert.deepEqual(attempt, FAILED)
    assert.ok(at !== undefined && oldest !== undefined && at >= oldest.createdAt)
    const failed = await storage.webhookEndpoints.deliveries({ endpointId: hook.id, state: 'failed' }, page())
    assert.deepEqual(failed.items, [oldest])
    const none = await storage.webhookEndpoints.deliveries({ endpointId: 'wh_unknown' }, page())
    assert.deepEqual(none, { items: [], nextCursor: null })
  })

  check('a redelivery makes held and failed deliveries due, oldest first, in steps', async (harness) => {
    const { storage } = harness
    const [hook, other] = [await endpoint(storage), await endpoint(storage)]
    const { update, redeliver, deliveries } = storage.webhookEndpoints
    await publishEvents(storage, 1)
    await fail(storage, hook, 1)
    await fail(storage, other, 1)
    await harness.advance(60_000)
    await publishEvents(storage, 2)
    const since = (await deliveries({ endpointId: hook.id }, page())).items[0]?.createdAt ?? 0
    const delivered = await claimOne(storage, hook.id)
    const ref = { jobId: delivered.jobId, token: delivered.token, kind: 'event' } as const
    await storage.settle([{ ...ref, ended: 'delivered', next: { kind: 'end' } }])
    await fail(storage, hook, 1)
    await update(hook.id, { status: 'disabled' })
    await publishEvents(storage, 2)
    assert.equal(await redeliver(hook.id, { since: 0, most: 9 }), 'disabled')
    assert.equal(await redeliver('wh_unknown', { since: 0, most: 9 }), 'unknown')
    await update(hook.id, { status: 'active' })
    assert.equal(await redeliver(hook.id, { since: since + 86_400_000, most: 9 }), 0)
    assert.deepEqual(await claim(storage, 9, hook.id), [])

    assert.equal(await redeliver(hook.id, { since, most: 2 }), 2)
    assert.equal(await redeliver(hook.id, { since, most: 2 }), 1)
    assert.equal(await redeliver(hook.id, { since, most: 2 }), 0)
    const jobs = await claim(storage, 9, hook.id)
    const log = (await deliveries({ endpointId: hook.id }, page())).items
    assert.deepEqual(
      jobs.map((job) => job.kind === 'event' && [job.delivery.eventId, job.attempts]),
      [log[2], log[1], log[0]].map((delivery) => [delivery?.eventId, 0]),
    )
    assert.deepEqual(
      log.map(({ state, attempts }) => [state, attempts.length]),
      [
        ['pending', 0],
        ['pending', 0],
        ['pending', 1],
        ['delivered', 0],
        ['failed', 1],
      ],
    )
    assert.equal(await redeliver(hook.id, { since: 0, most: 9 }), 1)
  })

  check('ten redeliveries in a race make each delivery due once', async (harness) => {
    const { storage, secondDoor } = harness
    const hook = await endpoint(storage)
    await publishEvents(storage, 3)
    await fail(storage, hook, 3)
    const made = await Promise.all(
      TEN.map(() => storage.webhookEndpoints.redeliver(hook.id, { since: 0, most: 2 })),
    )
    assert.deepEqual(made.sort(), [0, 0, 0, 0, 0, 0, 0, 0, 1, 2])
    assert.equal((await secondDoor.jobs()).length, 3)
  })

  check('a job of a redelivery is fenced like any other', async ({ storage }) => {
    const hook = await endpoint(storage)
    await accept(storage, [note()])
    await deliver(storage)
    const old = await claimOne(storage, hook.id)
    const ref = { jobId: old.jobId, token: old.token, kind: 'event' } as const
    await storage.settle([{ ...ref, ended: 'failed', next: { kind: 'end' } }])
    await storage.webhookEndpoints.redeliver(hook.id, { since: 0, most: 9 })
    await claimOne(storage, hook.id)
    const [late] = await storage.settle([{ ...ref, ended: 'delivered', next: { kind: 'end' } }])
    assert.equal(late?.kind, 'stale')
  })
}
