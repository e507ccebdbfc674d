import assert from 'node:assert/strict'
import { type UploadValue, uploadKind } from '../../core/accept/upload.ts'
import { ERASED_ADDRESS, erasedFact } from '../../core/notification/erased-fact.ts'
import { erasedContent, erasedPayload } from '../../core/notification/erasure.ts'
import type { Fact } from '../../core/notification/facts.ts'
import type { ReceiptRecord } from '../../core/ports/storage/receipts.ts'
import type { Settlement } from '../../core/ports/storage/settle.ts'
import { DEFAULT_ORGANIZATION } from '../../core/tenancy/organization.ts'
import { Absent } from '../test-api.ts'
import {
  allReports,
  COPY,
  erase,
  eraseAll,
  idsOf,
  MARKER,
  MINUTE,
  marked,
  markedFact,
  messageOf,
  NOTHING,
  names,
  postOne,
  reportUnknown,
  told,
  withoutCopies,
} from './custody-fixtures.ts'
import {
  accept,
  claim,
  claimOne,
  deliver,
  ended,
  endpoint,
  jobOf,
  LANE,
  note,
  notes,
  organization,
  page,
  retried,
  start,
  TEN,
  timeOf,
  unique,
} from './fixtures.ts'
import type { Check } from './harness.ts'
import { outcome, write } from './record-fixtures.ts'

const value: UploadValue = { filename: 'a.pdf', contentType: 'application/pdf', size: 1, complete: true }

/** Checks the erasure of people to whom notifications went. */
export function custodyChecks(check: Check): void {
  check('an erased notification keeps what names no person, and nothing else', async ({ storage }) => {
    const hook = await endpoint(storage)
    const uploadId = `att_${unique()}`
    const organizationId = DEFAULT_ORGANIZATION
    await write(storage, { kind: uploadKind, do: 'insert', id: uploadId, organizationId, value })
    const given = marked({ to: `${unique()}@example.com`, uploads: [uploadId] })
    const [id = ''] = await accept(storage, [given])
    const [other = ''] = await accept(storage, [note({ to: given.to })])
    const handedOver = markedFact('sent')
    await deliver(storage, [handedOver])
    const { providerMessageId } = handedOver
    const failed = markedFact('bounced', {
      providerMessageId,
      code: 'invalid_recipient',
      suppress: 'hard_bounce',
    })
    const report = { provider: 'smtp', organizationId: null, dedupeKey: unique(), notificationId: id }
    await storage.recordReceipts([{ ...report, fact: failed }])
    await postOne(storage, hook)
    const before = await storage.notifications.get(id)
    const timeline = await storage.notifications.timeline(id)
    const logged = await storage.webhookEndpoints.deliveries({ endpointId: hook.id }, page())
    assert.ok(before !== null && names(JSON.stringify(timeline)) && logged.items.length === 2)
    const since = await timeOf(storage)
    const answer = await erase(storage, [id])
    assert.deepEqual(answer, { ...NOTHING, erased: [id], cancelled: 0, deliveries: 2, events: [] })
    const after = await storage.notifications.get(id)
    const at = after?.content.erasedAt ?? 0
    assert.ok(at >= since && at <= (await timeOf(storage)))
    assert.deepEqual(after, {
      ...before,
      to: ERASED_ADDRESS,
      recipient: null,
      metadata: null,
      content: erasedContent(before.content, at),
      providerMessageId: null,
      error: { code: 'invalid_recipient', message: after?.error?.message },
    })
    assert.deepEqual(
      await storage.notifications.timeline(id),
      timeline.map((entry) => ({ ...entry, fact: entry.fact && erasedFact(entry.fact) })),
    )
    const left = await storage.webhookEndpoints.deliveries({ endpointId: hook.id }, page())
    assert.deepEqual(
      left.items,
      logged.items.map((delivery) => ({
        ...delivery,
        payload: erasedPayload(delivery.payload),
        attempts: delivery.attempts.map((attempt) => ({ ...attempt, response: '' })),
      })),
    )
    assert.ok(!names(await told(storage, [id], [hook])))
    assert.deepEqual(await idsOf(storage, { recipient: MARKER }), [])
    assert.deepEqual(await idsOf(storage, { metadata: given.metadata as Record<string, string> }), [])
    assert.deepEqual(await idsOf(storage, { copyTo: COPY }), [])
    assert.deepEqual(await idsOf(storage, { to: given.to }), [other])
    assert.deepEqual(await idsOf(storage, { category: 'news' }), [id])
    assert.deepEqual(await idsOf(storage, { groupId: 'group_1' }), [id])
    assert.deepEqual(await idsOf(storage, { status: 'failed' }), [id])
    const removal = { kind: uploadKind, do: 'remove', id: uploadId, unlessNamed: true } as const
    assert.equal(await outcome(storage, removal), 'written')
  })

  check('a content of a template keeps the template alone', async ({ storage }) => {
    const template = { id: 'tpl_1', name: 'welcome', version: 3 }
    const [id = ''] = await accept(storage, [marked({ content: { template, variables: { name: MARKER } } })])
    await deliver(storage)
    await erase(storage, [id])
    const found = await storage.notifications.get(id)
    const erasedAt = found?.content.erasedAt
    assert.deepEqual(found?.content, { removed: true, template, variables: {}, erasedAt })
    assert.deepEqual(await idsOf(storage, { templateId: 'tpl_1' }), [id])
  })

  check('an erasure that is repeated changes nothing', async ({ storage }) => {
    const hook = await endpoint(storage, { events: ['notification.cancelled'] })
    const [id = ''] = await accept(storage, [marked()])
    const first = await erase(storage, [id, id])
    assert.deepEqual([first.erased, first.cancelled], [[id], 1])
    const before = await told(storage, [id], [hook])
    const again = await erase(storage, [id])
    assert.deepEqual(again, { ...NOTHING, cancelled: 0, deliveries: 0, events: [] })
    assert.equal(await told(storage, [id], [hook]), before)
  })

  check('an erasure ignores unknown ids, and those of other organizations', async ({ storage }) => {
    const acme = await organization(storage)
    const [foreign = ''] = await accept(storage, [marked()], acme)
    const before = await storage.notifications.get(foreign)
    const none = note().id
    const answer = await erase(storage, [foreign, none, 'notif_', 'x'])
    assert.deepEqual(answer, { ...NOTHING, cancelled: 0, deliveries: 0, events: [] })
    const request = { organizationId: DEFAULT_ORGANIZATION, ids: [foreign, none], addresses: [COPY] }
    assert.deepEqual(await storage.custody.eraseCopies({ ...request, without: withoutCopies }), NOTHING)
    assert.deepEqual(await storage.notifications.get(foreign), before)
    assert.deepEqual((await erase(storage, [foreign], acme)).erased, [foreign])
  })

  check('what waits is cancelled by its erasure, and its event names no person', async ({ storage }) => {
    const hook = await endpoint(storage, { events: ['notification.cancelled'] })
    const now = await timeOf(storage)
    const delayedFor = { address: MARKER, recipient: MARKER }
    const waiting = [
      marked(),
      marked({ sendAt: now + MINUTE }),
      marked({ dueAt: now + MINUTE, delayedFor }),
      marked({ lane: 'email/other' }),
    ]
    const ids = await accept(storage, waiting)
    const tried = await claimOne(storage, 'email/other')
    assert.deepEqual(await start(storage, [tried]), [true])
    await storage.settle([
      { ...retried(tried, MINUTE), facts: [markedFact('attempt_ambiguous')] } as Settlement,
    ])
    const answer = await eraseAll(storage, ids)
    assert.deepEqual([answer.cancelled, answer.events.length], [4, 4])
    for (const { event, data } of answer.events) {
      assert.deepEqual([event, data.to, data.status], ['notification.cancelled', ERASED_ADDRESS, 'cancelled'])
      assert.ok(ids.includes(data.id) && data.recipient === undefined && data.metadata === undefined)
      assert.equal(data.error?.code, data.id === ids.at(-1) ? 'delivery_unknown' : undefined)
    }
    for (const id of ids) {
      assert.equal((await storage.notifications.get(id))?.status, 'cancelled')
      assert.equal(await jobOf(storage, id), undefined)
      assert.deepEqual(await storage.notifications.cancel(id), { kind: 'ended' })
    }
    const { items } = await storage.webhookEndpoints.deliveries({ endpointId: hook.id }, page())
    assert.deepEqual(
      items.map(({ payload }) => payload).sort(),
      answer.events.map((event) => JSON.stringify(event)).sort(),
    )
    assert.ok(!names(await told(storage, ids, [hook])))
    assert.deepEqual(await claim(storage), [])
  })

  check('what runs is busy, and erased once it has ended', async ({ storage }) => {
    const [id = '', free = ''] = await accept(storage, [marked(), marked()])
    const job = await claimOne(storage)
    assert.deepEqual(await start(storage, [job]), [true])
    const first = await erase(storage, [id, free])
    const running = job.kind === 'notification' ? job.notification.id : ''
    assert.deepEqual([first.busy, first.erased.length, first.cancelled], [[running], 1, 1])
    assert.ok(names(JSON.stringify(await storage.notifications.get(running))))
    const [settled] = await storage.settle([ended(job, [markedFact('sent')])])
    assert.equal(settled?.kind, 'settled')
    assert.deepEqual((await erase(storage, [id, free])).erased, [running])
    assert.equal((await storage.notifications.get(running))?.status, 'sent')
    assert.ok(!names(await told(storage, [id, free])))
  })

  check('a delivery that runs makes its notification busy', async ({ storage }) => {
    const hook = await endpoint(storage)
    const [id = ''] = await accept(storage, [marked()])
    await deliver(storage, [markedFact('sent')])
    const { jobId, token } = await claimOne(storage, hook.id)
    const none = { cancelled: 0, deliveries: 0, events: [] }
    assert.deepEqual(await erase(storage, [id]), { ...NOTHING, busy: [id], ...none })
    const attempt = { attempt: 1, status: 500, response: MARKER, durationMs: 1, succeeded: false }
    const next = { kind: 'retry', delayMs: 0 } as const
    await storage.settle([{ kind: 'event', jobId, token, attempt, next }])
    assert.deepEqual(await erase(storage, [id]), { ...NOTHING, ...none, erased: [id], deliveries: 1 })
    const job = await claimOne(storage, hook.id)
    assert.ok(job.kind === 'event' && !names(JSON.stringify(job)))
    assert.equal(JSON.parse(job.delivery.payload).data.to, ERASED_ADDRESS)
  })

  check('no later report brings an erased person back', async ({ storage }) => {
    const hook = await endpoint(storage, { events: ['notification.delivered', 'notification.failed'] })
    const [id = ''] = await accept(storage, [marked()])
    const handedOver = markedFact('sent')
    await deliver(storage, [handedOver])
    await erase(storage, [id])
    const { providerMessageId } = handedOver
    const report = (fact: Fact, notificationId?: string): ReceiptRecord => ({
      provider: 'smtp',
      organizationId: null,
      dedupeKey: unique(),
      fact,
      ...(notificationId === undefined ? {} : { notificationId }),
    })
    const clicked = markedFact('clicked', { providerMessageId: undefined, address: COPY })
    const answers = await storage.recordReceipts([
      report(markedFact('delivered', { providerMessageId }), id),
      report(markedFact('bounced', { suppress: 'hard_bounce' }), id),
      report(clicked, id),
      // The hand-over is forgotten.
      report(markedFact('opened', { providerMessageId })),
    ])
    assert.deepEqual(
      answers.map(({ kind }) => kind),
      ['recorded', 'recorded', 'recorded', 'unmatched'],
    )
    assert.ok(!names(JSON.stringify(answers)))
    assert.equal((await storage.notifications.timeline(id)).length, 5)
    assert.ok(!names(await told(storage, [id], [hook])))
  })

  check('an erased dead letter is not retried', async ({ storage }) => {
    const [id = ''] = await accept(storage, [marked()])
    await deliver(storage, [markedFact('failed', { code: 'provider_error' })])
    await erase(storage, [id])
    const filter = { organizationId: DEFAULT_ORGANIZATION }
    const answer = await storage.notifications.retry({ filter, lanes: { email: LANE }, most: 2 })
    assert.deepEqual([answer.retried, answer.contentRemoved], [0, 1])
  })

  check('a step is short, and another call goes on', async ({ storage }) => {
    const content = { body: `${MARKER} `.repeat(30_000) }
    const ids = await accept(storage, notes(20, { content, to: `${MARKER}@example.com` }))
    const answer = await eraseAll(storage, ids)
    assert.deepEqual([...answer.erased].sort(), [...ids].sort())
    assert.ok(!names(await told(storage, ids)))
  })

  check('erasures, claims, settlements, reports and cancellations in a race agree', async (harness) => {
    const { storage, another } = harness
    const hook = await endpoint(storage, { events: ['notification.sent', 'notification.cancelled'] })
    const other = (await another?.()) ?? storage
    if (other !== storage) await other.start()
    try {
      const ids = await accept(
        storage,
        Array.from({ length: 40 }, () => marked()),
      )
      const work = async (): Promise<void> => {
        const jobs = await claim(other, 5)
        const begun = await start(other, jobs)
        const facts = [markedFact('sent')]
        await other.settle(jobs.flatMap((job, index) => (begun[index] ? [ended(job, facts)] : [])))
      }
      const report = (notificationId: string): ReceiptRecord => ({
        provider: 'smtp',
        organizationId: null,
        dedupeKey: unique(),
        notificationId,
        fact: markedFact('delivered'),
      })
      await Promise.all([
        ...TEN.map(work),
        ...TEN.map((index) => other.recordReceipts(ids.slice(index * 4, index * 4 + 4).map(report))),
        ...TEN.map((index) => other.notifications.cancel(ids[index * 3] ?? '')),
        ...TEN.map((index) => erase(index % 2 === 0 ? storage : other, ids.slice(index, index + 30))),
      ])
      for (let calls = 0; ; calls += 1) {
        assert.ok(calls < 20, 'the erasure does not end')
        const { busy, left } = await erase(storage, ids)
        if (busy.length + left.length === 0) break
        await work()
      }
      assert.ok(!names(await told(storage, ids, [hook])))
      assert.deepEqual(await claim(storage), [])
      for (const id of ids) {
        const { status } = (await storage.notifications.get(id)) ?? {}
        assert.ok(status === 'cancelled' || status === 'sent' || status === 'delivered', status)
      }
    } finally {
      if (other !== storage) await other.stop()
    }
  })

  check('a mark has passed once the transactions that were open have ended', async (harness) => {
    const { storage, transactions } = harness
    const mark = await storage.custody.mark()
    assert.ok(mark.length <= 250)
    if (transactions?.begin === undefined) {
      assert.equal(await storage.custody.passed(mark), true)
      return
    }
    const open = await transactions.begin('a row')
    await open.joined.accept({ organizationId: DEFAULT_ORGANIZATION, notifications: [marked()] })
    const during = await storage.custody.mark()
    assert.equal(await storage.custody.passed(during), false)
    await open.commit()
    const late = await transactions.begin('another row')
    assert.equal(await storage.custody.passed(during), true)
    await late.rollBack()
  })

  check('nothing that is stored names an erased person', async (harness) => {
    const { storage, dump } = harness
    if (dump === undefined) throw new Absent('The harness dumps nothing.')
    const hooks = [await endpoint(storage), await endpoint(storage, { events: ['message.received'] })]
    const [hook] = hooks
    assert.ok(hook !== undefined)
    const now = await timeOf(storage)
    const ids = await accept(storage, [
      marked(),
      marked(),
      marked({ sendAt: now + MINUTE }),
      marked({ dueAt: now + MINUTE, delayedFor: { address: MARKER, recipient: MARKER } }),
    ])
    await deliver(storage, [
      markedFact('attempt_failed', { code: 'provider_error' }),
      markedFact('sent', { attempt: 2 }),
      markedFact('failed', { code: 'provider_error', attempt: 3 }),
    ])
    await postOne(storage, hook)
    const tried = await claimOne(storage)
    await start(storage, [tried])
    const next = { kind: 'retry', delayMs: MINUTE } as const
    const facts = [markedFact('attempt_failed', { code: 'provider_error' })]
    await storage.settle([{ kind: 'notification', jobId: tried.jobId, token: tried.token, facts, next }])
    const copied = await accept(storage, [
      note({ copies: [COPY], content: { body: 'Hi', parts: { cc: [COPY] } } }),
    ])
    await deliver(storage, [
      markedFact('failed', { code: 'provider_error', message: COPY, providerCode: COPY }),
    ])
    const [removed = ''] = await accept(storage, [note({ copies: [COPY], to: 'bob@example.com' })])
    await messageOf(storage)
    await reportUnknown(storage, null)
    assert.ok(names(await dump()), 'the dump shows nothing')
    await eraseAll(storage, ids)
    await eraseAll(storage, [removed])
    const request = { organizationId: DEFAULT_ORGANIZATION, ids: copied, addresses: [COPY] }
    await storage.custody.eraseCopies({ ...request, without: withoutCopies })
    const reports = await allReports(storage, DEFAULT_ORGANIZATION, 100)
    await storage.custody.removeReports(
      DEFAULT_ORGANIZATION,
      reports.map(({ id }) => id),
    )
    const stored = await dump()
    const at = stored.indexOf(MARKER)
    assert.equal(at, -1, `it is still stored: ${stored.slice(Math.max(0, at - 200), at + 50)}`)
  })
}
