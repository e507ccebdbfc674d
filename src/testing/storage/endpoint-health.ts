import assert from 'node:assert/strict'
import { DISABLED_AFTER_MS, type EndpointEvent } from '../../core/delivery/endpoint-health.ts'
import type { ClaimedJob } from '../../core/ports/storage/claim.ts'
import type { Settlement } from '../../core/ports/storage/settle.ts'
import type { Storage } from '../../core/ports/storage/storage.ts'
import type { WebhookEndpoint } from '../../core/ports/storage/webhook-endpoints.ts'
import {
  accept,
  claim,
  claimOne,
  deliver,
  endpoint,
  note,
  notes,
  organization,
  page,
  start,
  TEN,
} from './fixtures.ts'
import type { Check, StorageHarness } from './harness.ts'

export type Change = {
  readonly succeeded?: true
  readonly last?: true
  readonly gone?: true
  readonly attempt?: number
}

export function settlement({ jobId, token }: ClaimedJob, change: Change): Settlement {
  const { succeeded, last, gone, attempt = 1 } = change
  const status = succeeded === true ? 200 : 500
  const ended = succeeded === true ? 'delivered' : 'failed'
  return {
    kind: 'event',
    jobId,
    token,
    attempt: { attempt, status, response: '', durationMs: 1, succeeded: succeeded ?? false },
    ...(gone === true ? { disable: 'gone' } : {}),
    ...(succeeded === true || last === true || gone === true
      ? { ended, next: { kind: 'end' } }
      : { next: { kind: 'retry', delayMs: 0 } }),
  }
}

/** Ends one attempt at the oldest event of an endpoint; returns the published events about the endpoint. */
export async function attempt(
  storage: Storage,
  hook: WebhookEndpoint,
  change: Change,
): Promise<EndpointEvent[]> {
  const job = await claimOne(storage, hook.id)
  await start(storage, [job], hook.id)
  const [answer] = await storage.settle([settlement(job, change)])
  assert.ok(answer?.kind === 'settled')
  return [...(answer.endpointEvents ?? [])]
}

/** Publishes this many events to the existing endpoints. */
export async function publishEvents(storage: Storage, count: number): Promise<void> {
  await accept(storage, notes(count))
  for (let index = 0; index < count; index += 1) await deliver(storage)
}

export async function stateOf(storage: Storage, { id }: WebhookEndpoint): Promise<unknown[]> {
  const stored = await storage.webhookEndpoints.get(id)
  return [stored?.status, stored?.disabledReason, stored?.failingSince === null ? null : 'failing']
}

/** The events of an endpoint, by type. */
async function told({ storage }: StorageHarness, { id: endpointId }: WebhookEndpoint): Promise<string[]> {
  const { items } = await storage.webhookEndpoints.deliveries({ endpointId }, page())
  return items.map(({ eventType }) => eventType).reverse()
}

export function endpointHealthChecks(check: Check): void {
  check('an endpoint fails from its first failure until a success', async (harness) => {
    const { storage } = harness
    const hook = await endpoint(storage)
    assert.equal(hook.failingSince, null)
    await publishEvents(storage, 1)
    await attempt(storage, hook, {})
    const { failingSince } = (await storage.webhookEndpoints.get(hook.id)) ?? {}
    assert.equal(typeof failingSince, 'number')
    await harness.advance(60_000)
    await attempt(storage, hook, { attempt: 2 })
    assert.equal((await storage.webhookEndpoints.get(hook.id))?.failingSince, failingSince)
    assert.equal(
      (await storage.webhookEndpoints.list(hook.organizationId, page())).items[0]?.failingSince,
      failingSince,
    )
    await attempt(storage, hook, { attempt: 3, succeeded: true })
    assert.deepEqual(await stateOf(storage, hook), ['active', null, null])
  })

  check('a fourth failure in a row on one event is announced once, to others that ask', async (harness) => {
    const { storage } = harness
    const organizationId = await organization(storage)
    const events = ['webhook.failing'] as const
    const hook = await endpoint(storage, { events: ['notification.sent', 'webhook.failing'] })
    const [other, deaf] = [
      await endpoint(storage, { events }),
      await endpoint(storage, { events: ['webhook.disabled'] }),
    ]
    const foreign = await endpoint(storage, { organizationId, events })
    await publishEvents(storage, 2)
    for (const number of [1, 2, 3]) assert.deepEqual(await attempt(storage, hook, { attempt: number }), [])
    const [event, ...none] = await attempt(storage, hook, { attempt: 4, last: true })
    assert.deepEqual(none, [])
    assert.equal(event?.event, 'webhook.failing')
    const { failingSince, timestamp, ...data } = event.data
    assert.deepEqual(data, {
      id: hook.id,
      status: 'active',
      reason: null,
      sequence: 1,
      organizationId: hook.organizationId,
    })
    assert.ok(Date.parse(failingSince) <= Date.parse(timestamp))
    const job = await claimOne(storage, other.id)
    assert.ok(job.kind === 'event')
    assert.deepEqual(JSON.parse(job.delivery.payload), event)
    assert.equal(job.delivery.eventId, `evt_${hook.id}_1`)

    for (const number of [1, 2, 3, 4, 5]) {
      assert.deepEqual(await attempt(storage, hook, { attempt: number }), [])
    }
    assert.deepEqual(await told(harness, other), ['webhook.failing'])
    assert.deepEqual(await told(harness, deaf), [])
    assert.deepEqual(await told(harness, foreign), [])
    assert.deepEqual(await told(harness, hook), ['notification.sent', 'notification.sent'])
    await attempt(storage, hook, { attempt: 6, succeeded: true })
    await publishEvents(storage, 1)
    assert.deepEqual(await attempt(storage, hook, { attempt: 3 }), [])
    assert.equal((await attempt(storage, hook, { attempt: 4 })).length, 1)
  })

  check(
    'five days of nothing but failure disable an endpoint when a delivery is given up',
    async (harness) => {
      const { storage, secondDoor } = harness
      const hook = await endpoint(storage, { events: ['notification.sent'] })
      const other = await endpoint(storage, { events: ['webhook.disabled'] })
      await publishEvents(storage, 4)
      await attempt(storage, hook, { last: true })
      await harness.advance(DISABLED_AFTER_MS - 1)
      assert.deepEqual(await attempt(storage, hook, { last: true }), [])
      await harness.advance(1)
      assert.deepEqual(await attempt(storage, hook, {}), [])
      assert.deepEqual(await stateOf(storage, hook), ['active', null, 'failing'])
      const [event] = await attempt(storage, hook, { attempt: 2, last: true })
      assert.deepEqual(
        [event?.event, event?.data.status, event?.data.reason],
        ['webhook.disabled', 'disabled', 'failing'],
      )
      assert.deepEqual(await stateOf(storage, hook), ['disabled', 'failing', 'failing'])
      assert.deepEqual(await told(harness, other), ['webhook.disabled'])
      const states = (await secondDoor.deliveries()).filter(({ endpointId }) => endpointId === hook.id)
      assert.deepEqual(states.map(({ state }) => state).sort(), ['failed', 'failed', 'failed', 'held'])
      assert.deepEqual(await claim(storage, 5, hook.id), [])
      await storage.webhookEndpoints.update(hook.id, { status: 'active' })
      assert.deepEqual(await stateOf(storage, hook), ['active', null, null])
      assert.equal(await storage.webhookEndpoints.redeliver(hook.id, { since: 0, most: 9 }), 4)
    },
  )

  check('attempts that are settled together are applied one after the other', async ({ storage }) => {
    const hook = await endpoint(storage, { events: ['notification.sent'] })
    await publishEvents(storage, 6)
    const [first, second, third, fourth, ...last] = await claim(storage, 6, hook.id)
    assert.ok(first !== undefined && second !== undefined && third !== undefined && fourth !== undefined)
    await start(storage, [first, second, third, fourth, ...last], hook.id)
    const told = async (settlements: readonly Settlement[]): Promise<unknown[]> =>
      (await storage.settle(settlements)).map((answer) => {
        assert.ok(answer.kind === 'settled')
        return answer.endpointEvents?.map(({ event, data }) => [event, data.sequence])
      })
    const none = undefined
    assert.deepEqual(
      await told([
        settlement(first, { attempt: 4, last: true }),
        settlement(second, { attempt: 4, last: true }),
        settlement(third, { succeeded: true }),
        settlement(fourth, { attempt: 4, last: true }),
      ]),
      [[['webhook.failing', 1]], none, none, [['webhook.failing', 2]]],
    )
    assert.deepEqual(await stateOf(storage, hook), ['active', null, 'failing'])
    const gone = last.map((job) => settlement(job, { gone: true }))
    assert.deepEqual(await told(gone), [[['webhook.disabled', 3]], none])
    assert.deepEqual(await stateOf(storage, hook), ['disabled', 'gone', 'failing'])
  })

  check('a success between keeps an endpoint', async (harness) => {
    const { storage } = harness
    const hook = await endpoint(storage)
    await publishEvents(storage, 3)
    await attempt(storage, hook, { last: true })
    await harness.advance(DISABLED_AFTER_MS)
    await attempt(storage, hook, { succeeded: true })
    assert.deepEqual(await attempt(storage, hook, { last: true }), [])
    assert.deepEqual(await stateOf(storage, hook), ['active', null, 'failing'])
  })

  check('an endpoint that is gone is announced', async (harness) => {
    const { storage } = harness
    const hook = await endpoint(storage)
    const [other, closed] = [
      await endpoint(storage, { events: ['webhook.disabled'] }),
      await endpoint(storage, { events: ['webhook.disabled'] }),
    ]
    await storage.webhookEndpoints.update(closed.id, { status: 'disabled' })
    await publishEvents(storage, 1)
    const job = await claimOne(storage, hook.id)
    await start(storage, [job], hook.id)
    const [answer] = await storage.settle([settlement(job, { gone: true })])
    assert.ok(answer?.kind === 'settled')
    assert.deepEqual(
      answer.endpointEvents?.map(({ event, data }) => [event, data.reason]),
      [['webhook.disabled', 'gone']],
    )
    assert.deepEqual(await told(harness, other), ['webhook.disabled'])
    const { items } = await storage.webhookEndpoints.deliveries({ endpointId: closed.id }, page())
    assert.deepEqual(
      items.map(({ state }) => state),
      ['held'],
    )
  })

  check(
    'events about an endpoint are numbered without a gap, whatever becomes of it between',
    async (harness) => {
      const { storage } = harness
      const { update, redeliver, deliveries } = storage.webhookEndpoints
      const [hook, other] = [await endpoint(storage), await endpoint(storage)]
      const watcher = await endpoint(storage, { events: ['webhook.failing', 'webhook.disabled'] })
      const published: EndpointEvent[] = []
      const end = async (change: Change): Promise<void> =>
        void published.push(...(await attempt(storage, hook, change)))
      await publishEvents(storage, 3)
      await end({ attempt: 4 })
      await end({ attempt: 5, succeeded: true })
      await end({ attempt: 4 })
      await update(hook.id, { url: 'https://example.com/new' })
      await end({ attempt: 5 })
      await end({ gone: true })
      await update(hook.id, { status: 'active' })
      assert.equal(await redeliver(hook.id, { since: 0, most: 9 }), 2)
      await end({ attempt: 4 })
      await update(hook.id, { status: 'disabled' })
      await update(hook.id, { status: 'active' })
      await redeliver(hook.id, { since: 0, most: 9 })
      await end({ gone: true })
      assert.deepEqual(
        published.map(({ event, data }) => [event, data.sequence]),
        [
          ['webhook.failing', 1],
          ['webhook.failing', 2],
          ['webhook.failing', 3],
          ['webhook.disabled', 4],
          ['webhook.failing', 5],
          ['webhook.disabled', 6],
        ],
      )
      const { items } = await deliveries({ endpointId: watcher.id }, page())
      assert.deepEqual(
        items.toReversed().map(({ eventId, payload }) => [eventId, JSON.parse(payload)]),
        published.map((event) => [`evt_${hook.id}_${event.data.sequence}`, event]),
      )
      assert.equal((await attempt(storage, other, { attempt: 4 }))[0]?.data.sequence, 1)
    },
  )

  check('events about an endpoint that are announced in a race each have a number', async ({ storage }) => {
    const { update, redeliver } = storage.webhookEndpoints
    const hook = await endpoint(storage)
    await publishEvents(storage, 10)
    const published: EndpointEvent[] = []
    for (let round = 1; round <= 3; round += 1) {
      const jobs = await claim(storage, 10, hook.id)
      await start(storage, jobs, hook.id)
      const ends = jobs.map((job, index) =>
        settlement(job, index > 6 ? { gone: true } : { attempt: 4, last: true }),
      )
      const answers = await Promise.all(ends.map((one) => storage.settle([one])))
      for (const answer of answers.flat()) {
        if (answer.kind === 'settled') published.push(...(answer.endpointEvents ?? []))
      }
      await update(hook.id, { status: 'active' })
      assert.equal(await redeliver(hook.id, { since: 0, most: 20 }), 10)
    }
    assert.equal(published.filter(({ event }) => event === 'webhook.disabled').length, 3)
    assert.deepEqual(
      published.map(({ data }) => data.sequence).sort((a, b) => a - b),
      published.map((_, index) => index + 1),
    )
  })

  check('of ten failures in a race one announces', async ({ storage }) => {
    const hook = await endpoint(storage)
    await publishEvents(storage, 10)
    const jobs = await claim(storage, 10, hook.id)
    await start(storage, jobs, hook.id)
    const answers = await Promise.all(jobs.map((job) => storage.settle([settlement(job, { attempt: 4 })])))
    const events = answers
      .flat()
      .flatMap((answer) => (answer.kind === 'settled' ? (answer.endpointEvents ?? []) : []))
    assert.equal(events.length, 1)
  })

  check('no request, or a fault of our own, does not count', async ({ storage }) => {
    const hook = await endpoint(storage)
    await publishEvents(storage, 2)
    const ours = await claimOne(storage, hook.id)
    await storage.settle([{ ...settlement(ours, { attempt: 4 }), ownFault: true } as Settlement])
    assert.deepEqual(await stateOf(storage, hook), ['active', null, null])
    const { jobId, token } = await claimOne(storage, hook.id)
    await storage.settle([{ kind: 'event', jobId, token, ended: 'failed', next: { kind: 'end' } }])
    assert.deepEqual(await stateOf(storage, hook), ['active', null, null])
  })

  check('more jobs than one commit holds are held by claims', async (harness) => {
    const { storage, secondDoor } = harness
    const hook = await endpoint(storage, { events: ['notification.sent'] })
    await accept(storage, notes(2_300))
    const jobs = await claim(storage, 2_300)
    await storage.settle(
      jobs.map(({ jobId, token }) => ({
        kind: 'notification',
        jobId,
        token,
        facts: [{ type: 'sent', provider: 'smtp', attempt: 1 }],
        next: { kind: 'end' },
      })),
    )
    await storage.webhookEndpoints.update(hook.id, { status: 'disabled' })
    for (let round = 0; round < 3; round += 1) assert.deepEqual(await claim(storage, 5, hook.id), [])
    assert.deepEqual([...new Set((await secondDoor.deliveries()).map(({ state }) => state))], ['held'])
    assert.deepEqual(await secondDoor.jobs(), [])
  })

  check('one delivery is retried at once in any state', async (harness) => {
    const { storage, secondDoor } = harness
    const { redeliver, deliveries, deliveriesOf, update } = storage.webhookEndpoints
    const deliveryOf = async (eventId: string) =>
      (await deliveriesOf([eventId], hook.organizationId, 10)).find(
        ({ endpointId }) => endpointId === hook.id,
      )
    const [hook, other] = [await endpoint(storage), await endpoint(storage)]
    await publishEvents(storage, 4)
    type Four = [ClaimedJob, ClaimedJob, ClaimedJob, ClaimedJob]
    const [waiting, failed, done, held] = (await claim(storage, 4, hook.id)) as Four
    await start(storage, [waiting, failed, done], hook.id)
    const idOf = (job: ClaimedJob): string => (job.kind === 'event' ? job.delivery.eventId : '')
    await storage.settle([
      { ...settlement(waiting, {}), next: { kind: 'retry', delayMs: 3_600_000 } },
      settlement(failed, { last: true }),
      settlement(done, { succeeded: true }),
    ])
    assert.equal(await redeliver(hook.id, { eventId: 'evt_unknown' }), 0)
    assert.equal(await redeliver('wh_unknown', { eventId: idOf(failed) }), 'unknown')
    assert.equal(await redeliver(hook.id, { eventId: idOf(held) }), 1)
    assert.equal((await deliveryOf(idOf(held)))?.state, 'pending')
    await storage.release([held])
    await claim(storage, 1, hook.id)
    assert.deepEqual(await claim(storage, 5, hook.id), [])

    for (const job of [waiting, failed, done]) {
      assert.equal(await redeliver(hook.id, { eventId: idOf(job) }), 1)
      const { state, attempts } = (await deliveryOf(idOf(job))) ?? {}
      assert.deepEqual([state, attempts?.length], ['pending', 1])
    }
    const again = await claim(storage, 5, hook.id)
    assert.deepEqual(
      again.map((job) => [idOf(job), job.attempts]).sort(),
      [
        [idOf(waiting), 1],
        [idOf(failed), 0],
        [idOf(done), 0],
      ].sort(),
    )
    assert.equal((await deliveries({ endpointId: other.id, state: 'pending' }, page())).items.length, 4)
    await update(hook.id, { status: 'disabled' })
    assert.equal(await redeliver(hook.id, { eventId: idOf(failed) }), 'disabled')
    assert.equal((await secondDoor.jobs()).filter(({ lane }) => lane === hook.id).length, 4)
  })

  check('ten retries of one delivery in a race make one job', async ({ storage, secondDoor }) => {
    const hook = await endpoint(storage)
    await accept(storage, [note()])
    await deliver(storage)
    const job = await claimOne(storage, hook.id)
    assert.ok(job.kind === 'event')
    const { eventId } = job.delivery
    await storage.settle([settlement(job, { last: true })])
    await Promise.all(TEN.map(() => storage.webhookEndpoints.redeliver(hook.id, { eventId })))
    assert.equal((await secondDoor.jobs()).length, 1)
    assert.equal((await claimOne(storage, hook.id)).attempts, 0)
  })
}
