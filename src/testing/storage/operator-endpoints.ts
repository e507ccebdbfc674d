import assert from 'node:assert/strict'
import { LISTENER_IDS } from '../../core/delivery/listeners.ts'
import type { ClaimedJob } from '../../core/ports/storage/claim.ts'
import type { Storage } from '../../core/ports/storage/storage.ts'
import { ALL_ORGANIZATIONS } from '../../core/tenancy/all-organizations.ts'
import { DEFAULT_ORGANIZATION } from '../../core/tenancy/organization.ts'
import { settlement } from './endpoint-health.ts'
import {
  accept,
  claim,
  claimOne,
  countOf,
  deliver,
  endpoint,
  newEndpoint,
  note,
  organization,
  page,
  start,
  TEN,
  unique,
} from './fixtures.ts'
import type { Check } from './harness.ts'

const OPERATORS = { organizationId: ALL_ORGANIZATIONS }
const WEEK = 7 * 86_400_000

/** Publishes `notification.sent` of an organization. Returns the event's id. */
async function publish(storage: Storage, organizationId: string): Promise<string> {
  const [id = ''] = await accept(storage, [note()], organizationId)
  await deliver(storage)
  return `evt_${id.slice('notif_'.length)}_2`
}

/** Publishes `message.received` of an organization. Returns the event's id. */
async function receive(storage: Storage, organizationId: string): Promise<string> {
  const id = `in_${unique()}`
  const about = { id, organizationId, channel: 'sms', provider: 'twilio', from: '+14155550123', to: null }
  const received = { ...about, text: 'Stop.', consent: null }
  await storage.recordReceipts([{ provider: 'twilio', organizationId, dedupeKey: id, consent: [], received }])
  return `evt_${id}`
}

function eventOf(job: ClaimedJob): readonly [eventId: string, organizationId: string, named: string] {
  assert.ok(job.kind === 'event')
  const { eventId, payload } = job.delivery
  return [eventId, job.organizationId, JSON.parse(payload).data.organizationId]
}

async function eventsAt(storage: Storage, endpointId: string): Promise<string[]> {
  const { items } = await storage.webhookEndpoints.deliveries({ endpointId }, page())
  return items.map(({ eventId }) => eventId).reverse()
}

/** Removes an organization with its jobs. */
async function remove(storage: Storage, id: string): Promise<void> {
  assert.equal(await storage.deletions.begin(id, { force: true, kinds: [] }), 0)
  for (let steps = 0; steps < 50; steps += 1)
    if ((await storage.deletions.purge(id, 2)).left === 'nothing') return
  assert.fail('the purge does not end')
}

/** Endpoints of operators. */
export function operatorEndpointChecks(check: Check): void {
  check("an operator's endpoint gets the events of every organization, once", async (harness) => {
    const { storage } = harness
    const [a, b] = [await organization(storage), await organization(storage)]
    const operators = await endpoint(storage, OPERATORS)
    const deaf = await endpoint(storage, { ...OPERATORS, events: ['notification.opened'] })
    const own = await endpoint(storage, { organizationId: a })
    const published = [
      [await publish(storage, a), a, a],
      [await publish(storage, b), b, b],
      [await publish(storage, DEFAULT_ORGANIZATION), DEFAULT_ORGANIZATION, DEFAULT_ORGANIZATION],
    ]
    const jobs = await claim(storage, 10, operators.id)
    assert.deepEqual(jobs.map(eventOf).sort(), [...published].sort())
    for (const job of jobs) assert.deepEqual(job.kind === 'event' && job.delivery.endpoint, operators)
    assert.deepEqual((await claim(storage, 10, own.id)).map(eventOf), published.slice(0, 1))
    assert.deepEqual(await eventsAt(storage, deaf.id), [])
  })

  check('organizations and operators each see endpoints and deliveries of their own', async (harness) => {
    const { storage } = harness
    const { list, deliveriesOf } = storage.webhookEndpoints
    const own = await endpoint(storage)
    const operators = [await endpoint(storage, OPERATORS), await endpoint(storage, OPERATORS)]
    const eventId = await publish(storage, DEFAULT_ORGANIZATION)
    const listed = async (owner: string): Promise<string[]> =>
      (await list(owner, page())).items.map(({ id }) => id).sort()
    const read = async (owner: string, most = 10): Promise<string[]> =>
      (await deliveriesOf([eventId], owner, most)).map(({ endpointId }) => endpointId).sort()
    for (const seen of [listed, read]) {
      assert.deepEqual(await seen(DEFAULT_ORGANIZATION), [own.id])
      assert.deepEqual(await seen(ALL_ORGANIZATIONS), operators.map(({ id }) => id).sort())
      assert.deepEqual(await seen(await organization(storage)), [])
    }
    // Those of others do not use the page up.
    assert.deepEqual(await read(DEFAULT_ORGANIZATION, 1), [own.id])
  })

  check('operators have at most so many endpoints, also of twenty at once', async ({ storage }) => {
    const { create } = storage.webhookEndpoints
    await endpoint(storage)
    const wanted = [...TEN, ...TEN].map(() => newEndpoint(OPERATORS))
    // Before the race, to open the storage's connections.
    assert.ok((await Promise.all(wanted.map((one) => create(one, 0)))).every((answer) => answer === null))
    const answers = await Promise.all(wanted.map((one) => create(one, 3)))
    assert.equal(
      countOf(answers, (answer) => answer !== null),
      3,
    )
    assert.notEqual(await create(newEndpoint(), 2), null)
  })

  check("an operator's endpoint gets the events about no notification", async ({ storage }) => {
    const events = ['message.received', 'webhook.disabled'] as const
    const [failing, other] = [
      await endpoint(storage, OPERATORS),
      await endpoint(storage, { ...OPERATORS, events }),
    ]
    const organizationId = await organization(storage)
    const deaf = await endpoint(storage, { organizationId, events: ['webhook.disabled'] })
    const received = await receive(storage, organizationId)
    assert.deepEqual(await eventsAt(storage, other.id), [received])
    await publish(storage, organizationId)
    const job = await claimOne(storage, failing.id)
    await start(storage, [job], failing.id)
    const [answer] = await storage.settle([settlement(job, { gone: true })])
    assert.ok(answer?.kind === 'settled')
    const [told] = answer.endpointEvents ?? []
    assert.deepEqual([told?.data.id, told?.data.organizationId], [failing.id, ALL_ORGANIZATIONS])
    assert.deepEqual(await eventsAt(storage, other.id), [received, `evt_${failing.id}_1`])
    assert.deepEqual(await eventsAt(storage, deaf.id), [])
  })

  check("an operator's endpoint gets the events about endpoints of organizations", async ({ storage }) => {
    const operators = await endpoint(storage, { ...OPERATORS, events: ['webhook.disabled'] })
    const hook = await endpoint(storage, { organizationId: await organization(storage) })
    await publish(storage, hook.organizationId)
    const job = await claimOne(storage, hook.id)
    await start(storage, [job], hook.id)
    await storage.settle([settlement(job, { gone: true })])
    const told = `evt_${hook.id}_1`
    const due = await claim(storage, 10, operators.id)
    assert.deepEqual(due.map(eventOf), [[told, hook.organizationId, hook.organizationId]])
  })

  check("the organizations take turns at an operator's endpoint", async ({ storage }) => {
    const operators = await endpoint(storage, OPERATORS)
    const [loud, quiet] = [await organization(storage), await organization(storage)]
    for (const organizationId of [loud, loud, loud, loud, quiet]) await publish(storage, organizationId)
    const jobs = await claim(storage, 2, operators.id)
    assert.deepEqual(jobs.map(({ organizationId }) => organizationId).sort(), [loud, quiet].sort())
  })

  check("held events of an operator's endpoint come back with their organization", async ({ storage }) => {
    const operators = await endpoint(storage, OPERATORS)
    const organizationId = await organization(storage)
    await storage.webhookEndpoints.update(operators.id, { status: 'disabled' })
    const eventId = await publish(storage, organizationId)
    assert.deepEqual(await claim(storage, 1, operators.id), [])
    await storage.webhookEndpoints.update(operators.id, { status: 'active' })
    assert.equal(await storage.webhookEndpoints.redeliver(operators.id, { since: 0, most: 10 }), 1)
    assert.deepEqual(eventOf(await claimOne(storage, operators.id)), [
      eventId,
      organizationId,
      organizationId,
    ])
  })

  check(
    "of a deleted organization nothing is left at an operator's endpoint, which stays",
    async (harness) => {
      const { storage, secondDoor } = harness
      const [gone, other] = [await organization(storage), await organization(storage)]
      const events = ['notification.sent', 'message.received'] as const
      const operators = await endpoint(storage, { ...OPERATORS, events })
      for (const _ of [1, 2, 3]) {
        await publish(storage, gone)
        await receive(storage, gone)
      }
      const kept = [await publish(storage, other), await receive(storage, other)]
      await remove(storage, gone)
      assert.deepEqual(await secondDoor.owned(gone), {})
      assert.deepEqual(await storage.webhookEndpoints.get(operators.id), operators)
      assert.deepEqual(await eventsAt(storage, operators.id), kept)
      assert.equal((await claim(storage, 10, operators.id)).length, 2)
    },
  )

  check('events that wait for a listener go when their notification is old', async (harness) => {
    const { storage, secondDoor } = harness
    const events = ['notification.sent', 'message.received'] as const
    const listener = await endpoint(storage, { ...OPERATORS, events, id: `${LISTENER_IDS.from}mirror` })
    const organizationId = await organization(storage)
    const what = { organizationId, olderThanMs: WEEK }
    const old = [await publish(storage, organizationId), await receive(storage, organizationId)]
    await harness.advance(WEEK - 60_000)
    const young = [await publish(storage, organizationId), await receive(storage, organizationId)]
    await storage.expire({ what, most: 10 })
    assert.deepEqual(await eventsAt(storage, listener.id), [...old, ...young])
    await harness.advance(60_000)
    const { removed } = await storage.expire({ what, most: 10 })
    assert.deepEqual([removed.notifications, removed.deliveries], [1, 2])
    assert.deepEqual(await eventsAt(storage, listener.id), young)
    assert.equal((await secondDoor.jobs()).length, 2)
    assert.deepEqual(
      (await claim(storage, 10, listener.id)).map((job) => eventOf(job)[0]).sort(),
      [...young].sort(),
    )
  })

  check('a deletion without force waits for the events of listeners', async ({ storage }) => {
    const listener = await endpoint(storage, { ...OPERATORS, id: `${LISTENER_IDS.from}mirror` })
    const organizationId = await organization(storage)
    await publish(storage, organizationId)
    const begin = () => storage.deletions.begin(organizationId, { force: false, kinds: [] })
    assert.equal(await begin(), 1)
    const job = await claimOne(storage, listener.id)
    await start(storage, [job], listener.id)
    await storage.settle([settlement(job, { succeeded: true, last: true })])
    assert.equal(await begin(), 0)
  })
}
