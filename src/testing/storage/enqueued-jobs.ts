import assert from 'node:assert/strict'
import type { JobRef } from '../../core/ports/queue.ts'
import type { Storage } from '../../core/ports/storage/storage.ts'
import { DEFAULT_ORGANIZATION } from '../../core/tenancy/organization.ts'
import { Absent } from '../test-api.ts'
import {
  accept,
  claimOne,
  ended,
  endpoint,
  LANE,
  LEASE_MS,
  note,
  notes,
  retried,
  sent,
  start,
  timeOf,
} from './fixtures.ts'
import type { Check, StorageHarness } from './harness.ts'

/** Records enqueued jobs from now on; the result returns those since its last call. */
async function listen(storage: Storage): Promise<() => Promise<readonly JobRef[]>> {
  let heard: JobRef[] = []
  await storage.enqueueJobs?.({ enqueue: (refs) => heard.push(...refs) })
  return async () => {
    await new Promise((resolve) => setImmediate(resolve))
    const refs = heard
    heard = []
    return refs
  }
}

/** For storages that support queue engines. */
export function enqueueChecks(check: Check): void {
  function checkEnqueued(name: string, run: (harness: StorageHarness) => Promise<void>): void {
    check(name, async (harness) => {
      if (harness.storage.enqueueJobs === undefined) throw new Absent('The storage announces no jobs.')
      await run(harness)
    })
  }

  checkEnqueued(
    'every accepted job is announced after its commit, and can be claimed by its ref',
    async (harness) => {
      const { storage } = harness
      const told = await listen(storage)
      await accept(storage, notes(3))
      await accept(storage, [note({ lane: 'sms', sendAt: Date.now() + 86_400_000 })])
      const refs = await told()
      assert.deepEqual(
        refs.map(({ lane, dueInMs }) => [lane, dueInMs > 0]),
        [
          [LANE, false],
          [LANE, false],
          [LANE, false],
          ['sms', true],
        ],
      )
      const stored = await harness.secondDoor.jobs()
      assert.deepEqual(refs.map(({ jobId }) => jobId).sort(), stored.map(({ id }) => id).sort())
      const ids = refs.map(({ jobId }) => jobId)
      assert.equal((await storage.claim({ ids, leaseMs: LEASE_MS })).jobs.length, 3)
    },
  )

  checkEnqueued('what stores nothing announces nothing', async ({ storage }) => {
    const told = await listen(storage)
    const [first] = notes(1)
    const request = { organizationId: DEFAULT_ORGANIZATION, notifications: [first ?? note()] }
    await storage.accept([request])
    assert.equal((await told()).length, 1)
    const [answer] = await storage.accept([request])
    assert.equal(answer?.kind, 'failed')
    assert.deepEqual(await told(), [])
  })

  checkEnqueued(
    'a job that is tried again is announced with its delay; one that ended is not',
    async ({ storage }) => {
      const told = await listen(storage)
      await accept(storage, notes(2))
      await told()
      const [one, other] = [await claimOne(storage), await claimOne(storage)]
      await start(storage, [one, other])
      await storage.settle([retried(one, 5_000), ended(other)])
      assert.deepEqual(await told(), [{ jobId: one.jobId, lane: LANE, dueInMs: 5_000 }])
    },
  )

  checkEnqueued(
    'a rescheduled job is announced for its new time; its old ref claims nothing',
    async ({ storage, advance }) => {
      const hour = 3_600_000
      const now = await timeOf(storage)
      const told = await listen(storage)
      const [id = ''] = await accept(storage, [note({ sendAt: now + hour })])
      const [old] = await told()
      await storage.notifications.reschedule(id, now + 2 * hour)
      const [ref, ...others] = await told()
      assert.deepEqual([ref?.jobId, ref?.lane, others], [old?.jobId, LANE, []])
      assert.ok(ref !== undefined && ref.dueInMs > hour && ref.dueInMs <= 2 * hour, `${ref?.dueInMs}`)
      const claimed = async () => (await storage.claim({ ids: [ref.jobId], leaseMs: LEASE_MS })).jobs.length
      await advance(hour + 1_000)
      assert.equal(await claimed(), 0)
      await storage.notifications.reschedule(id, null)
      assert.deepEqual(await told(), [{ jobId: ref.jobId, lane: LANE, dueInMs: 0 }])
      assert.equal(await claimed(), 1)
    },
  )

  checkEnqueued('a delayed job that is judged again is announced for its new time', async ({ storage }) => {
    const hour = 3_600_000
    const now = await timeOf(storage)
    const told = await listen(storage)
    const delayed = { dueAt: now + 6 * hour, delayedFor: { address: 'email ada', recipient: null } }
    await accept(storage, [note(delayed), note({ ...delayed, sendAt: now + 2 * hour })])
    const [one, other] = await told()
    const organizationId = DEFAULT_ORGANIZATION
    await storage.notifications.judgeAgain({ organizationId, of: { by: 'all' }, most: 10 })
    const refs = await told()
    assert.deepEqual(
      refs.map(({ jobId, lane }) => [jobId, lane]),
      [one, other].map((ref) => [ref?.jobId, LANE]),
    )
    const [soon, later] = refs.map(({ dueInMs }) => dueInMs)
    assert.equal(soon, 0)
    assert.ok(later !== undefined && later > hour && later <= 2 * hour, `${later}`)
    assert.equal((await storage.claim({ ids: [one?.jobId ?? ''], leaseMs: LEASE_MS })).jobs.length, 1)
  })

  checkEnqueued(
    'deliveries that follow from an event are announced, of the disabled none',
    async ({ storage }) => {
      const { id } = await endpoint(storage)
      const off = await endpoint(storage)
      await storage.webhookEndpoints.update(off.id, { status: 'disabled' })
      await accept(storage, [note()])
      const job = await claimOne(storage)
      await start(storage, [job])
      const told = await listen(storage)
      await storage.settle([ended(job)])
      const refs = await told()
      assert.deepEqual(
        refs.map(({ lane, dueInMs }) => [lane, dueInMs]),
        [[id, 0]],
      )
      const delivery = await claimOne(storage, id)
      assert.equal(delivery.jobId, refs[0]?.jobId)

      await storage.recordReceipts([
        {
          organizationId: DEFAULT_ORGANIZATION,
          provider: 'smtp',
          dedupeKey: 'one',
          notificationId: job.kind === 'notification' ? job.notification.id : undefined,
          fact: { type: 'delivered', attempt: 1, provider: 'smtp' },
        },
      ])
      assert.deepEqual(
        (await told()).map(({ lane }) => lane),
        [id],
      )

      await start(storage, [delivery])
      const attempt = { attempt: 1, status: 500, response: '', durationMs: 1, succeeded: false }
      const { jobId, token } = delivery
      await storage.settle([{ kind: 'event', jobId, token, attempt, ended: 'failed', next: { kind: 'end' } }])
      assert.deepEqual(await told(), [])
      await storage.webhookEndpoints.redeliver(id, { since: 0, most: 10 })
      assert.deepEqual(
        (await told()).map(({ lane }) => lane),
        [id],
      )
    },
  )

  checkEnqueued('what is retried or returned is announced', async ({ storage }) => {
    await accept(storage, [note()])
    const dead = await claimOne(storage)
    await start(storage, [dead])
    await storage.settle([ended(dead, [{ ...sent(), type: 'failed', code: 'provider_error' }])])
    const told = await listen(storage)
    const filter = { organizationId: DEFAULT_ORGANIZATION }
    await storage.notifications.retry({ filter, lanes: { email: LANE }, most: 10 })
    const [ref] = await told()
    assert.equal(ref?.lane, LANE)
    const again = await claimOne(storage)
    assert.equal(again.jobId, ref?.jobId)
    await storage.release([again])
    assert.deepEqual(await told(), [{ jobId: again.jobId, lane: LANE, dueInMs: 0 }])
  })
}
