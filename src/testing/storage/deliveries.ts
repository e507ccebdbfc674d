import assert from 'node:assert/strict'
import type { Settlement } from '../../core/ports/storage/settle.ts'
import type { DeliveryAttempt } from '../../core/ports/storage/webhook-endpoints.ts'
import { DEFAULT_ORGANIZATION } from '../../core/tenancy/organization.ts'
import {
  accept,
  claim,
  claimOne,
  deliver,
  endpoint,
  LEASE_MS,
  note,
  notes,
  organization,
  page,
  sent,
  start,
} from './fixtures.ts'
import type { Check } from './harness.ts'

type EventSettlement = Extract<Settlement, { readonly kind: 'event' }>

const ANSWERED: DeliveryAttempt = {
  attempt: 1,
  status: 200,
  response: 'ok',
  durationMs: 3.25,
  succeeded: true,
}

function settled(
  { jobId, token }: { readonly jobId: string; readonly token: number },
  change: Partial<EventSettlement> = {},
): EventSettlement {
  return { kind: 'event', jobId, token, attempt: ANSWERED, next: { kind: 'end' }, ...change }
}

export function deliveryChecks(check: Check): void {
  check(
    'the deliveries of events are read for all endpoints of an owner, newest first',
    async ({ storage }) => {
      const { deliveries, deliveriesOf } = storage.webhookEndpoints
      const read = (ids: readonly string[], most: number) => deliveriesOf(ids, DEFAULT_ORGANIZATION, most)
      const hooks = [await endpoint(storage), await endpoint(storage)]
      const [id = ''] = await accept(storage, [note()])
      await deliver(storage, [sent(), sent({ type: 'delivered' })])
      await accept(storage, [note()])
      await deliver(storage)
      for (const hook of hooks) {
        const [job] = await claim(storage, 1, hook.id)
        assert.ok(job !== undefined)
        await start(storage, [job])
        await storage.settle([settled(job, { ended: 'delivered' })])
      }
      const events = [1, 2, 3, 4].map((n) => `evt_${id.slice('notif_'.length)}_${n}`)
      const found = await read(events, 100)
      const own = async ({ id: endpointId }: { readonly id: string }) =>
        (await deliveries({ endpointId }, page())).items.map((each) => ({ ...each, endpointId }))
      const all = (await Promise.all(hooks.map(own))).flat().filter(({ eventId }) => events.includes(eventId))
      const byKey = (
        a: { endpointId: string; eventId: string },
        b: { endpointId: string; eventId: string },
      ) => (`${a.endpointId} ${a.eventId}` < `${b.endpointId} ${b.eventId}` ? -1 : 1)
      assert.deepEqual([...found].sort(byKey), all.sort(byKey))
      assert.equal(found.length, 4)
      assert.deepEqual(
        found.slice(0, 2).map(({ eventId }) => eventId),
        [events[2], events[2]],
      )
      assert.equal(found.filter(({ attempts }) => attempts.length === 1).length, 2)
      assert.deepEqual(await read(events, 3), found.slice(0, 3))
      assert.deepEqual(await read(['evt_1_2'], 100), [])
      assert.deepEqual(await read([], 100), [])
    },
  )

  check(
    'every endpoint that chose an event gets it, with a job of its own',
    async ({ storage, secondDoor }) => {
      const [a, b, c] = [
        await endpoint(storage),
        await endpoint(storage, { events: ['notification.delivered', 'notification.sent'] }),
        await endpoint(storage, { events: ['notification.opened'] }),
      ]
      const [id = ''] = await accept(storage, [note()])
      await deliver(storage, [sent(), sent({ type: 'delivered' })])
      const deliveries = await secondDoor.deliveries()
      const eventId = (sequence: number): string => `evt_${id.slice('notif_'.length)}_${sequence}`
      assert.deepEqual(
        deliveries.map((row) => `${row.endpointId} ${row.eventId} ${row.state}`).sort(),
        [a, b].flatMap((hook) => [2, 3].map((n) => `${hook.id} ${eventId(n)} pending`)).sort(),
      )
      assert.deepEqual(
        (await secondDoor.jobs()).map(({ lane, state }) => `${lane} ${state}`).sort(),
        [a, a, b, b].map((hook) => `${hook.id} ready`).sort(),
      )
      assert.deepEqual(await claim(storage, 5, c.id), [])
    },
  )

  check("no endpoint gets another organization's events", async ({ storage, secondDoor }) => {
    const other = await organization(storage)
    await endpoint(storage, { organizationId: other })
    await accept(storage, [note()])
    await deliver(storage)
    assert.deepEqual(await secondDoor.deliveries(), [])
  })

  check('an endpoint gets what is announced after it was created', async ({ storage, secondDoor }) => {
    await accept(storage, notes(2))
    await deliver(storage)
    const hook = await endpoint(storage)
    await deliver(storage)
    assert.deepEqual(
      (await secondDoor.deliveries()).map(({ endpointId }) => endpointId),
      [hook.id],
    )
  })

  check('the payload is what the settlement announced', async ({ storage }) => {
    const hook = await endpoint(storage)
    await accept(storage, [note()])
    const notification = await claimOne(storage)
    const [answer] = await storage.settle([
      {
        kind: 'notification',
        jobId: notification.jobId,
        token: notification.token,
        facts: [sent()],
        next: { kind: 'end' },
      },
    ])
    assert.ok(answer?.kind === 'settled')
    const job = await claimOne(storage, hook.id)
    assert.ok(job.kind === 'event')
    assert.deepEqual(JSON.parse(job.delivery.payload), answer.events[0])
  })

  check('a delivery that succeeds is logged and ends', async ({ storage, secondDoor }) => {
    const hook = await endpoint(storage)
    await accept(storage, [note()])
    await deliver(storage)
    const job = await claimOne(storage, hook.id)
    await start(storage, [job], hook.id)
    assert.deepEqual(await storage.settle([settled(job, { ended: 'delivered' })]), [
      { kind: 'settled', events: [] },
    ])
    assert.deepEqual(
      (await secondDoor.deliveries()).map(({ state, attempts }) => [state, attempts]),
      [['delivered', 1]],
    )
    assert.deepEqual(await secondDoor.jobs(), [])
  })

  check('a delivery that is given up is failed', async ({ storage, secondDoor }) => {
    const hook = await endpoint(storage)
    await accept(storage, notes(2))
    await deliver(storage)
    await deliver(storage)
    const [first, second] = await claim(storage, 2, hook.id)
    assert.ok(first !== undefined && second !== undefined)
    await storage.settle([settled(first, { ended: 'failed' }), settled(second)])
    assert.deepEqual(
      (await secondDoor.deliveries()).map(({ state }) => state),
      ['failed', 'failed'],
    )
  })

  check('deliveries are listed by their state', async ({ storage }) => {
    const hook = await endpoint(storage)
    await accept(storage, notes(4))
    for (let left = 4; left > 0; left -= 1) await deliver(storage)
    const [delivered, failed, underWay] = await claim(storage, 3, hook.id)
    assert.ok(delivered !== undefined && failed !== undefined && underWay !== undefined)
    await storage.settle([settled(delivered, { ended: 'delivered' }), settled(failed)])
    const listed = async (state: 'delivered' | 'failed' | 'pending' | 'held'): Promise<string[]> => {
      const { items } = await storage.webhookEndpoints.deliveries({ endpointId: hook.id, state }, page())
      assert.ok(items.every((item) => item.state === state))
      return items.map(({ eventId }) => eventId)
    }
    const idOf = (job: typeof delivered): string => (job.kind === 'event' ? job.delivery.eventId : '')
    assert.deepEqual(await listed('delivered'), [idOf(delivered)])
    assert.deepEqual(await listed('failed'), [idOf(failed)])
    assert.equal((await listed('pending')).length, 2)
    await storage.webhookEndpoints.update(hook.id, { status: 'disabled' })
    assert.deepEqual(await listed('pending'), [idOf(underWay)])
    assert.equal((await listed('held')).length, 1)
  })

  check('a delivery that is tried again keeps its event id and its log', async (harness) => {
    const { storage, secondDoor } = harness
    const hook = await endpoint(storage)
    await accept(storage, [note()])
    await deliver(storage)
    const first = await claimOne(storage, hook.id)
    await start(storage, [first], hook.id)
    const failed = { ...ANSWERED, status: null, response: 'timeout', succeeded: false }
    await storage.settle([settled(first, { attempt: failed, next: { kind: 'retry', delayMs: 5_000 } })])
    assert.deepEqual(await claim(storage, 5, hook.id), [])
    const next = async () => {
      const { items } = await storage.webhookEndpoints.deliveries({ endpointId: hook.id }, page())
      return items[0]
    }
    const waiting = await next()
    assert.equal(waiting?.nextAttemptAt, (waiting?.attempts[0]?.at ?? 0) + 5_000)
    await harness.advance(5_001)
    const second = await claimOne(storage, hook.id)
    assert.ok(first.kind === 'event' && second.kind === 'event')
    const { failingSince } = second.delivery.endpoint
    assert.notEqual(failingSince, null)
    const { endpoint: before, ...delivery } = first.delivery
    assert.deepEqual(second.delivery, { ...delivery, endpoint: { ...before, failingSince } })
    assert.equal(second.attempts, 1)
    assert.equal((await next())?.nextAttemptAt, null)
    assert.deepEqual(
      (await secondDoor.deliveries()).map(({ state, attempts }) => [state, attempts]),
      [['pending', 1]],
    )
  })

  check('the log holds what was sent, where something was', async ({ storage }) => {
    const hook = await endpoint(storage)
    await accept(storage, [note()])
    await deliver(storage)
    const request = { url: 'https://example.com/hook?a=1#ü', timestamp: 1_796_000_000 }
    const nothing = { ...ANSWERED, status: null, response: 'refused', succeeded: false }
    for (const attempt of [nothing, { ...ANSWERED, attempt: 2, request }]) {
      const job = await claimOne(storage, hook.id)
      await start(storage, [job], hook.id)
      await storage.settle([settled(job, { attempt, next: { kind: 'retry', delayMs: 0 } })])
    }
    const { items } = await storage.webhookEndpoints.deliveries({ endpointId: hook.id }, page())
    assert.deepEqual(
      items[0]?.attempts.map(({ at, ...attempt }) => attempt),
      [nothing, { ...ANSWERED, attempt: 2, request }],
    )
  })

  check('no request, no line in the log', async ({ storage, secondDoor }) => {
    const hook = await endpoint(storage)
    await accept(storage, [note()])
    await deliver(storage)
    const job = await claimOne(storage, hook.id)
    await storage.settle([settled(job, { attempt: undefined, next: { kind: 'retry', delayMs: 0 } })])
    assert.deepEqual(
      (await secondDoor.deliveries()).map(({ attempts }) => attempts),
      [0],
    )
  })

  check('an endpoint that is gone is disabled, and nothing of its is lost', async (harness) => {
    const { storage, secondDoor } = harness
    const [gone, other] = [await endpoint(storage), await endpoint(storage)]
    await accept(storage, notes(6))
    for (let index = 0; index < 5; index += 1) await deliver(storage)
    const [waiting, elsewhere, last] = await claim(storage, 3, gone.id)
    assert.ok(waiting !== undefined && elsewhere !== undefined && last !== undefined)
    await storage.settle([settled(waiting, { next: { kind: 'retry', delayMs: 60_000 } })])
    await storage.settle([settled(last, { ended: 'failed', disable: 'gone' })])

    const disabled = await storage.webhookEndpoints.get(gone.id)
    assert.deepEqual([disabled?.status, disabled?.disabledReason], ['disabled', 'gone'])
    const states = async (): Promise<string[]> =>
      (await secondDoor.deliveries())
        .filter((row) => row.endpointId === gone.id)
        .map(({ state }) => state)
        .sort()
    assert.deepEqual(await states(), ['failed', 'held', 'held', 'held', 'pending'])
    assert.deepEqual(
      (await secondDoor.jobs()).filter(({ lane }) => lane === gone.id).map(({ state }) => state),
      ['leased'],
    )

    await storage.settle([settled(elsewhere, { next: { kind: 'retry', delayMs: 0 } })])
    assert.deepEqual(await claim(storage, 5, gone.id), [])
    assert.deepEqual(await states(), ['failed', 'held', 'held', 'held', 'held'])

    await deliver(storage)
    assert.deepEqual(await states(), ['failed', 'held', 'held', 'held', 'held', 'held'])
    assert.deepEqual(await claim(storage, 9, gone.id), [])
    assert.equal((await claim(storage, 9, other.id)).length, 6)
  })

  check('a delivery that was under way when its endpoint was disabled may still succeed', async (harness) => {
    const { storage, secondDoor } = harness
    const hook = await endpoint(storage)
    await accept(storage, notes(2))
    await deliver(storage)
    await deliver(storage)
    const [first, second] = await claim(storage, 2, hook.id)
    assert.ok(first !== undefined && second !== undefined)
    await storage.settle([settled(first, { ended: 'failed', disable: 'gone' })])
    await storage.settle([settled(second, { ended: 'delivered' })])
    assert.deepEqual((await secondDoor.deliveries()).map(({ state }) => state).sort(), [
      'delivered',
      'failed',
    ])
  })

  check('an endpoint is deleted with its jobs', async ({ storage, secondDoor }) => {
    const [gone, kept] = [await endpoint(storage), await endpoint(storage)]
    await accept(storage, notes(2))
    await deliver(storage)
    await deliver(storage)
    const leased = await claimOne(storage, gone.id)
    assert.equal(await storage.webhookEndpoints.delete(gone.id, 100), 'deleted')
    assert.equal(await storage.webhookEndpoints.delete(gone.id, 100), 'unknown')
    assert.equal(await storage.webhookEndpoints.get(gone.id), null)
    assert.deepEqual(
      (await secondDoor.jobs()).map(({ lane }) => lane),
      [kept.id, kept.id],
    )
    assert.deepEqual(
      (await secondDoor.deliveries()).map(({ endpointId }) => endpointId),
      [kept.id, kept.id],
    )
    assert.deepEqual(await storage.settle([settled(leased)]), [{ kind: 'stale' }])
    const { lanes } = await storage.claim({ lanes: [], leaseMs: LEASE_MS })
    assert.deepEqual(lanes, [kept.id])
  })

  check('an endpoint with a long log is deleted in steps', async ({ storage, secondDoor }) => {
    const [gone, kept] = [await endpoint(storage), await endpoint(storage)]
    await accept(storage, notes(5))
    for (let left = 5; left > 0; left -= 1) await deliver(storage)
    const countOf = async (id: string): Promise<number> =>
      (await secondDoor.deliveries()).filter(({ endpointId }) => endpointId === id).length
    assert.equal(await storage.webhookEndpoints.delete(gone.id, 2), 'more')
    assert.deepEqual([await countOf(gone.id), await countOf(kept.id)], [3, 5])
    assert.equal((await storage.webhookEndpoints.get(gone.id))?.id, gone.id)
    assert.equal(await storage.webhookEndpoints.delete(gone.id, 2), 'more')
    assert.equal(await storage.webhookEndpoints.delete(gone.id, 2), 'deleted')
    assert.deepEqual([await countOf(gone.id), await countOf(kept.id)], [0, 5])
    const lanes = (await secondDoor.jobs()).map(({ lane }) => lane)
    assert.deepEqual(lanes, [kept.id, kept.id, kept.id, kept.id, kept.id])
    assert.equal(await storage.webhookEndpoints.get(gone.id), null)
  })
}
