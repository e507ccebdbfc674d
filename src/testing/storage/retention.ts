import assert from 'node:assert/strict'
import type { ExpireAnswer, ExpiringRest } from '../../core/ports/storage/expire.ts'
import type { Storage } from '../../core/ports/storage/storage.ts'
import type { WebhookEndpoint } from '../../core/ports/storage/webhook-endpoints.ts'
import { DEFAULT_ORGANIZATION } from '../../core/tenancy/organization.ts'
import {
  accept,
  claim,
  claimOne,
  deliver,
  ended,
  endpoint,
  note,
  notes,
  organization,
  page,
  sent,
  start,
  TEN,
  timeOf,
  unique,
} from './fixtures.ts'
import type { Check } from './harness.ts'

const DAY = 86_400_000
const WEEK = 7 * DAY

interface Swept {
  readonly notifications: number
  readonly deliveries: number
  readonly next: string | null
}

async function sweepAll(
  storage: Storage,
  change: { readonly organizationId?: string; readonly olderThanMs?: number; readonly most?: number } = {},
): Promise<Swept[]> {
  const { organizationId = DEFAULT_ORGANIZATION, olderThanMs = WEEK, most = 100 } = change
  const answers: Swept[] = []
  for (let after: string | undefined; ; ) {
    const { removed, next } = await storage.expire({ what: { organizationId, olderThanMs }, most, after })
    const answer = { notifications: removed.notifications ?? 0, deliveries: removed.deliveries ?? 0, next }
    assert.ok(answer.notifications <= most)
    answers.push(answer)
    assert.ok(answers.length < 200, 'the sweep does not end')
    if (answer.next === null) return answers
    after = answer.next
  }
}

/** One step. */
async function expireRest(
  storage: Storage,
  what: ExpiringRest,
  most = 100,
): Promise<Pick<ExpireAnswer, 'unmatched' | 'next'> & { idempotency: number; receipts: number }> {
  const { removed, unmatched, next } = await storage.expire({ what, most })
  return { idempotency: removed.idempotency ?? 0, receipts: removed.receipts ?? 0, unmatched, next }
}

const total = (answers: readonly Swept[]): number =>
  answers.reduce((sum, { notifications }) => sum + notifications, 0)

/** Sends a notification and delivers its event to the endpoint. */
async function sendOne(storage: Storage, hook: WebhookEndpoint, organizationId?: string): Promise<string> {
  const [id = ''] = await accept(storage, [note()], organizationId)
  await deliver(storage, [sent({ providerMessageId: `m-${unique()}` })])
  await deliverEvent(storage, hook)
  return id
}

async function deliverEvent(storage: Storage, hook: WebhookEndpoint): Promise<void> {
  const { jobId, token } = await claimOne(storage, hook.id)
  await start(storage, [{ jobId, token }], hook.id)
  const attempt = { attempt: 1, status: 200, response: '', durationMs: 1, succeeded: true }
  const next = { kind: 'end' } as const
  await storage.settle([{ kind: 'event', jobId, token, attempt, ended: 'delivered', next }])
}

export function retentionChecks(check: Check): void {
  check('what is old enough is removed with all that belongs to it, and nothing else', async (harness) => {
    const { storage, secondDoor } = harness
    const other = await organization(storage)
    const hook = await endpoint(storage)
    const foreignHook = await endpoint(storage, { organizationId: other })
    const old = [await sendOne(storage, hook), await sendOne(storage, hook)]
    const foreign = await sendOne(storage, foreignHook, other)
    await harness.advance(WEEK + 1)
    const fresh = await sendOne(storage, hook)
    assert.deepEqual(await sweepAll(storage), [{ notifications: 2, deliveries: 2, next: null }])
    for (const id of old) {
      assert.equal(await storage.notifications.get(id), null)
      assert.deepEqual(await storage.notifications.timeline(id), [])
    }
    const stored = (await secondDoor.notifications()).map(({ id }) => id)
    assert.deepEqual(stored.sort(), [foreign, fresh].sort())
    assert.deepEqual(
      (await secondDoor.events()).map(({ notificationId }) => notificationId).sort(),
      [foreign, fresh].sort(),
    )
    assert.equal((await secondDoor.deliveries()).length, 2)
    const { handovers, deliveryAttempts } = await secondDoor.dependents()
    assert.deepEqual([handovers, deliveryAttempts], [2, 2])
    const log = await storage.logs.list({ organizationId: DEFAULT_ORGANIZATION }, page())
    assert.deepEqual([...new Set(log.items.map(({ notificationId }) => notificationId))], [fresh])
    const listed = await storage.notifications.list({ organizationId: DEFAULT_ORGANIZATION }, page())
    assert.deepEqual(
      listed.items.map(({ id }) => id),
      [fresh],
    )
    assert.deepEqual(await sweepAll(storage), [{ notifications: 0, deliveries: 0, next: null }])
  })

  check('what is removed stays counted', async ({ storage, advance }) => {
    const [organizationId, quota] = [DEFAULT_ORGANIZATION, { period: '2026-01', limit: 10 }]
    await storage.accept([{ organizationId, notifications: [note()], quota }])
    await deliver(storage)
    await advance(WEEK + 1)
    assert.equal(total(await sweepAll(storage)), 1)
    assert.equal(await storage.quotaUsed(organizationId, quota.period), 1)
  })

  check('what providers wrote is removed, and be it no text', async ({ storage, secondDoor, advance }) => {
    await accept(storage, [note()])
    const facts = [sent({ providerMessageId: 'm-\u001b\u0000', message: '\u0000\ud83d' })]
    await deliver(storage, facts)
    assert.equal((await secondDoor.dependents()).handovers, 1)
    await advance(WEEK + 1)
    assert.equal(total(await sweepAll(storage)), 1)
    assert.equal((await secondDoor.dependents()).handovers, 0)
  })

  check('what has a job, a pending delivery or a younger event stays', async (harness) => {
    const { storage, secondDoor } = harness
    const hook = await endpoint(storage, { events: ['notification.delivered'] })
    const now = await timeOf(storage)
    const [queued, scheduled] = await accept(storage, [note(), note({ sendAt: now + 30 * DAY })])
    await accept(storage, [note()])
    const [, pendingJob] = await claim(storage, 2)
    assert.ok(pendingJob !== undefined)
    const facts = [sent({ providerMessageId: 'm-p' }), { ...sent(), type: 'delivered' as const }]
    await storage.settle([ended(pendingJob, facts)])
    const [opened = ''] = await accept(storage, [note()])
    await deliver(storage, [sent({ providerMessageId: 'm-o' })])
    const [over = ''] = await accept(storage, [note()])
    await deliver(storage, [sent({ providerMessageId: 'm-x' })])
    await harness.advance(WEEK)
    const fact = { type: 'opened', provider: 'smtp', providerMessageId: 'm-o' } as const
    await storage.recordReceipts([{ provider: 'smtp', organizationId: null, dedupeKey: 'r-1', fact }])
    await harness.advance(1)
    assert.equal(total(await sweepAll(storage, { most: 2 })), 1)
    assert.equal(await storage.notifications.get(over), null)
    for (const id of [queued, scheduled, opened]) {
      assert.notEqual(await storage.notifications.get(id ?? ''), null)
    }
    assert.equal((await secondDoor.deliveries()).length, 1)
    await deliverEvent(storage, hook)
    assert.equal(total(await sweepAll(storage)), 1)
    assert.deepEqual(await secondDoor.deliveries(), [])
    await harness.advance(WEEK)
    assert.equal(total(await sweepAll(storage)), 1)
    assert.equal(await storage.notifications.get(opened), null)
    assert.equal((await secondDoor.jobs()).length, 2)
  })

  check('what a cancelled or failed one leaves is removed, and a held delivery with it', async (harness) => {
    const { storage, secondDoor } = harness
    const hook = await endpoint(storage)
    const [cancelled = ''] = await accept(storage, [note()])
    await storage.notifications.cancel(cancelled)
    await accept(storage, [note()])
    const job = await claimOne(storage)
    await storage.webhookEndpoints.update(hook.id, { status: 'disabled' })
    await storage.settle([ended(job, [{ type: 'failed', code: 'expired' }])])
    assert.deepEqual(
      (await secondDoor.deliveries()).map(({ state }) => state),
      ['held'],
    )
    await harness.advance(WEEK)
    assert.deepEqual(await sweepAll(storage), [{ notifications: 2, deliveries: 1, next: null }])
    assert.deepEqual(await secondDoor.notifications(), [])
    assert.deepEqual(await secondDoor.deliveries(), [])
    assert.deepEqual(await secondDoor.events(), [])
  })

  check('a sweep goes on where the step before ended, past what stays', async (harness) => {
    const { storage, secondDoor } = harness
    await accept(storage, notes(7))
    const jobs = await claim(storage, 7)
    await storage.settle(jobs.filter((_, index) => index % 2 === 1).map((job) => ended(job)))
    await harness.advance(WEEK)
    const answers = await sweepAll(storage, { most: 2 })
    assert.equal(total(answers), 3)
    assert.ok(answers.length >= 3)
    assert.equal((await secondDoor.notifications()).length, 4)
  })

  check('ten sweeps in a race remove each once', async (harness) => {
    const { storage, secondDoor } = harness
    const hook = await endpoint(storage)
    for (let index = 0; index < 12; index += 1) await sendOne(storage, hook)
    await harness.advance(WEEK)
    const answers = await Promise.all(TEN.map(() => sweepAll(storage, { most: 5 })))
    assert.equal(total(answers.flat()), 12)
    assert.equal(
      answers.flat().reduce((sum, { deliveries }) => sum + deliveries, 0),
      12,
    )
    assert.deepEqual(await secondDoor.notifications(), [])
    assert.deepEqual((await secondDoor.dependents()).deliveryAttempts, 0)
  })

  check('a sweep and a retry in a race agree on each', async (harness) => {
    const { storage, secondDoor } = harness
    await accept(storage, notes(30))
    const jobs = await claim(storage, 30)
    await storage.settle(jobs.map((job) => ended(job, [{ type: 'failed', code: 'provider_error' }])))
    await harness.advance(WEEK)
    const filter = { organizationId: DEFAULT_ORGANIZATION }
    const retry = (): Promise<{ retried: number }> =>
      storage.notifications.retry({ filter, lanes: { email: 'email/smtp' }, most: 10 })
    const [swept, ...retries] = await Promise.all([sweepAll(storage, { most: 10 }), retry(), retry()])
    const retried = retries.reduce((sum, answer) => sum + answer.retried, 0)
    assert.equal(total(swept) + retried, 30)
    assert.equal((await secondDoor.notifications()).length, retried)
    assert.equal((await secondDoor.jobs()).length, retried)
  })

  check('events about endpoints go when they are old', async (harness) => {
    const { storage, secondDoor } = harness
    const [hook] = [await endpoint(storage), await endpoint(storage, { events: ['webhook.disabled'] })]
    await accept(storage, [note()])
    await deliver(storage)
    const { jobId, token } = await claimOne(storage, hook.id)
    const next = { kind: 'end' } as const
    await storage.settle([{ kind: 'event', jobId, token, ended: 'failed', disable: 'gone', next }])
    await harness.advance(WEEK)
    assert.equal(total(await sweepAll(storage)), 1)
    assert.equal((await secondDoor.deliveries()).length, 1)
    const [told] = await secondDoor.deliveries()
    assert.equal(told?.state, 'pending')
    const job = await claimOne(storage, told?.endpointId)
    await storage.settle([{ kind: 'event', jobId: job.jobId, token: job.token, ended: 'delivered', next }])
    await sweepAll(storage)
    assert.deepEqual(await secondDoor.deliveries(), [])
  })

  check(
    'what has expired besides notifications is removed, and what was never matched is reported',
    async (h) => {
      const { storage, secondDoor } = h
      const organizationId = DEFAULT_ORGANIZATION
      const about = { fingerprint: 'f', result: '{}', ttlMs: DAY }
      const idempotency = { organizationId, operation: 'send', key: 'k', ...about } as const
      await storage.accept([{ organizationId, notifications: [note()], idempotency }])
      await deliver(storage, [sent({ providerMessageId: 'm-1' })])
      const receipt = (type: 'opened' | 'delivered', providerMessageId: string) =>
        ({
          provider: 'smtp',
          organizationId: null,
          dedupeKey: `${type}-${providerMessageId}`,
          fact: { type, provider: 'smtp', providerMessageId },
        }) as const
      await storage.recordReceipts([receipt('opened', 'm-1'), receipt('delivered', 'm-9')])
      const asked = { receiptsOlderThanMs: WEEK, unmatchedOlderThanMs: DAY, longestMs: null }
      const nothing = { idempotency: 0, receipts: 0, unmatched: [], next: null }
      assert.deepEqual(await expireRest(storage, asked), nothing)
      await h.advance(DAY)
      const { unmatched, ...counted } = await expireRest(storage, asked)
      assert.deepEqual(counted, { idempotency: 1, receipts: 0, next: null })
      assert.deepEqual(
        unmatched.map(({ provider, organizationId, type }) => [provider, organizationId, type]),
        [['smtp', null, 'delivered']],
      )
      const { receipts, unmatchedReceipts } = await secondDoor.dependents()
      assert.deepEqual([receipts, unmatchedReceipts], [1, 0])
      assert.deepEqual(await secondDoor.idempotency(), [])
      // A repetition of a removed receipt is new, one of a recorded receipt is not.
      const kinds = async (): Promise<string[]> =>
        (await storage.recordReceipts([receipt('delivered', 'm-9'), receipt('opened', 'm-1')])).map(
          ({ kind }) => kind,
        )
      assert.deepEqual(await kinds(), ['unmatched', 'duplicate'])
      await h.advance(WEEK)
      assert.equal((await expireRest(storage, { ...asked, receiptsOlderThanMs: null })).receipts, 0)
      assert.equal((await expireRest(storage, asked)).receipts, 1)
      assert.deepEqual(await expireRest(storage, asked), nothing)
    },
  )

  check('what has expired goes in steps, and ten in a race count each once', async (harness) => {
    const { storage, secondDoor } = harness
    await storage.recordReceipts(
      Array.from({ length: 25 }, (_, index) => ({
        provider: 'smtp',
        organizationId: null,
        dedupeKey: `r-${index}`,
        fact: { type: 'opened', provider: 'smtp', providerMessageId: `m-${index}` } as const,
      })),
    )
    await harness.advance(DAY)
    const asked = { receiptsOlderThanMs: null, unmatchedOlderThanMs: DAY, longestMs: null }
    const first = await expireRest(storage, asked, 4)
    assert.equal(first.unmatched.length, 4)
    assert.ok(first.next !== null)
    const answers = await Promise.all(TEN.map(() => expireRest(storage, asked, 4)))
    const told = answers.flatMap(({ unmatched }) => unmatched).length
    // A storage may skip rows that another step holds.
    const rest = (await expireRest(storage, asked)).unmatched.length
    assert.equal(told + rest, 21)
    const { receipts, unmatchedReceipts } = await secondDoor.dependents()
    assert.deepEqual([receipts, unmatchedReceipts], [0, 0])
  })
}
