import assert from 'node:assert/strict'
import {
  accept,
  claimOne,
  deliver,
  ended,
  endpoint,
  LANE,
  LEASE_MS,
  note,
  retried,
  sent,
  start,
} from './fixtures.ts'
import type { Check } from './harness.ts'

const TRACE = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'

export function traceChecks(check: Check): void {
  check('every claim of a notification brings the trace that it was accepted with', async ({ storage }) => {
    const longest = `${TRACE} ${'vendor=value,'.repeat(42)}`.slice(0, 600)
    await accept(storage, [note({ trace: longest })])
    const first = await claimOne(storage)
    assert.ok(first.kind === 'notification')
    assert.equal(first.notification.trace, longest)
    await start(storage, [first])
    await storage.settle([retried(first, 0)])
    const second = await claimOne(storage)
    assert.ok(second.kind === 'notification')
    assert.equal(second.notification.trace, longest)
  })

  check('notifications of one commit keep their own traces, and some have none', async ({ storage }) => {
    const traces = [TRACE, undefined, TRACE.replace('4bf9', '0000'), undefined]
    const ids = await accept(
      storage,
      traces.map((trace) => note(trace === undefined ? {} : { trace })),
    )
    const { jobs } = await storage.claim({ lanes: [{ lane: LANE, free: 10 }], leaseMs: LEASE_MS })
    const found = new Map(
      jobs.map((job) =>
        job.kind === 'notification' ? [job.notification.id, job.notification.trace] : ['', null],
      ),
    )
    assert.deepEqual(
      ids.map((id) => found.get(id)),
      traces.map((trace) => trace ?? null),
    )
  })

  check('an event brings the trace of its notification, a later report too', async ({ storage }) => {
    const hook = await endpoint(storage)
    await accept(storage, [note({ trace: TRACE })])
    await deliver(storage, [sent({ providerMessageId: 'p-1' })])
    await storage.recordReceipts([
      {
        provider: 'smtp',
        organizationId: null,
        dedupeKey: 'd-1',
        fact: { type: 'delivered', provider: 'smtp', providerMessageId: 'p-1' },
      },
    ])
    for (const type of ['notification.sent', 'notification.delivered']) {
      const job = await claimOne(storage, hook.id)
      assert.ok(job.kind === 'event')
      assert.deepEqual([job.delivery.eventType, job.delivery.trace], [type, TRACE])
      await storage.settle([{ ...job, kind: 'event', next: { kind: 'end' }, ended: 'delivered' }])
    }
  })

  check('a notification without a trace announces events without one', async ({ storage }) => {
    const hook = await endpoint(storage)
    await accept(storage, [note()])
    const job = await claimOne(storage)
    await start(storage, [job])
    await storage.settle([ended(job)])
    const event = await claimOne(storage, hook.id)
    assert.ok(event.kind === 'event')
    assert.equal(event.delivery.trace, null)
  })
}
