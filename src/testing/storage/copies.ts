import assert from 'node:assert/strict'
import { entryOf } from '../../core/errors/catalogue.ts'
import { erasedFact } from '../../core/notification/erased-fact.ts'
import type { Fact } from '../../core/notification/facts.ts'
import type { ErasedStep } from '../../core/ports/storage/custody.ts'
import { ALL_ORGANIZATIONS } from '../../core/tenancy/all-organizations.ts'
import { DEFAULT_ORGANIZATION } from '../../core/tenancy/organization.ts'
import {
  allReports,
  COPY,
  idsOf,
  MARKER,
  markedFact,
  messageOf,
  NOTHING,
  names,
  postOne,
  reportUnknown,
  withoutCopies,
} from './custody-fixtures.ts'
import {
  accept,
  claim,
  claimOne,
  deliver,
  ended,
  endpoint,
  note,
  organization,
  page,
  sent,
  start,
  unique,
} from './fixtures.ts'
import type { Check } from './harness.ts'
import { otherKind, recipientId, reversed } from './record-fixtures.ts'

/** Checks the copies of notifications, and what people wrote. */
export function copyChecks(check: Check): void {
  check('a list finds notifications by the addresses of their copies', async ({ storage }) => {
    const acme = await organization(storage)
    const copies = ['ada@example.com', 'bob@example.com']
    const [both = '', one = ''] = await accept(storage, [note({ copies }), note({ copies: copies.slice(1) })])
    await accept(storage, [note({ to: 'bob@example.com' })])
    const [foreign = ''] = await accept(storage, [note({ copies })], acme)
    assert.deepEqual((await idsOf(storage, { copyTo: 'Bob@Example.com' })).sort(), [both, one].sort())
    assert.deepEqual(await idsOf(storage, { copyTo: 'ada@example.com' }), [both])
    assert.deepEqual(await idsOf(storage, { copyTo: 'ada@example' }), [])
    assert.deepEqual(await idsOf(storage, { copyTo: 'bob@example.com', channel: 'sms' }), [])
    assert.deepEqual(await idsOf(storage, { copyTo: 'bob@example.com', ids: [one] }), [one])
    const all = await idsOf(storage, { organizationId: ALL_ORGANIZATIONS, copyTo: 'ada@example.com' })
    assert.deepEqual(all.sort(), [both, foreign].sort())
    const listed = []
    for (let cursor: string | undefined; ; ) {
      const filter = { organizationId: DEFAULT_ORGANIZATION, copyTo: 'bob@example.com' }
      const found = await storage.notifications.list(filter, {
        limit: 1,
        offset: 0,
        ...(cursor && { cursor }),
      })
      listed.push(...found.items.map(({ id }) => id))
      if (found.nextCursor === null) break
      cursor = found.nextCursor
    }
    assert.deepEqual(listed, await idsOf(storage, { copyTo: 'bob@example.com' }))
  })

  check('the copies of a notification that is removed are found no more', async ({ storage, advance }) => {
    await accept(storage, [note({ copies: [COPY] })])
    await deliver(storage)
    await advance(2)
    const what = { organizationId: DEFAULT_ORGANIZATION, olderThanMs: 1 }
    assert.equal((await storage.expire({ what, most: 10 })).removed.notifications, 1)
    assert.deepEqual(await idsOf(storage, { copyTo: COPY }), [])
  })

  check('a person is taken out of the copies of messages to others', async ({ storage }) => {
    const cc = [COPY, 'bob@example.com']
    const attachments = [{ filename: 'a.txt', contentType: 'text/plain', content: 'SGk=' }]
    const content = { subject: 'Hi', body: 'Hi', parts: { cc, attachments } }
    const [id = '', running = ''] = await accept(storage, [
      note({ content, copies: cc }),
      note({ content, copies: cc, lane: 'email/other' }),
    ])
    await deliver(storage, [sent({ message: `Refused: ${COPY}`, providerMessageId: 'm-copies' })])
    const report = { provider: 'smtp', organizationId: null, notificationId: id }
    await storage.recordReceipts([
      { ...report, dedupeKey: unique(), fact: markedFact('bounced', { address: COPY.toUpperCase() }) },
      { ...report, dedupeKey: unique(), fact: sent({ type: 'delivered', message: 'Fine' }) },
    ])
    const job = await claimOne(storage, 'email/other')
    const before = await storage.notifications.get(id)
    const timeline = await storage.notifications.timeline(id)
    const request = { organizationId: DEFAULT_ORGANIZATION, ids: [id, running], addresses: [COPY] }
    const call = (): Promise<ErasedStep> =>
      storage.custody.eraseCopies({ ...request, without: withoutCopies })
    assert.deepEqual(await call(), { ...NOTHING, erased: [id], busy: [running] })
    const parts = { cc: [], attachments }
    assert.deepEqual(await storage.notifications.get(id), { ...before, content: { ...content, parts } })
    assert.deepEqual(
      await storage.notifications.timeline(id),
      timeline.map((entry) => ({
        ...entry,
        fact: entry.fact && (names(JSON.stringify(entry.fact)) ? erasedFact(entry.fact) : entry.fact),
      })),
    )
    assert.deepEqual(await idsOf(storage, { copyTo: COPY }), [running])
    assert.deepEqual((await idsOf(storage, { copyTo: 'bob@example.com' })).length, 2)
    await storage.settle([ended(job)])
    assert.deepEqual(await call(), { ...NOTHING, erased: [running] })
    assert.deepEqual(await call(), NOTHING)
  })

  check('a person is taken out of the deliveries about messages to others', async ({ storage }) => {
    const hook = await endpoint(storage, { events: ['notification.failed'] })
    const to = 'bob@example.com'
    const metadata = { order: '7' }
    const [id = '', other = ''] = await accept(storage, [
      note({ to, metadata, copies: [COPY] }),
      note({ to, copies: [COPY], lane: 'email/other' }),
    ])
    const fact = (message: string) =>
      sent({ type: 'failed', code: 'provider_error', message, providerCode: '550' })
    await deliver(storage, [fact(`<${COPY.toUpperCase()}> refused`)])
    await postOne(storage, hook)
    const job = await claimOne(storage, 'email/other')
    await start(storage, [job])
    await storage.settle([ended(job, [fact('Refused')])])
    const log = async () => (await storage.webhookEndpoints.deliveries({ endpointId: hook.id }, page())).items
    const before = await log()
    const [, answered] = before
    assert.ok(before.length === 2 && answered !== undefined && names(JSON.stringify(answered.attempts)))
    const request = { organizationId: DEFAULT_ORGANIZATION, ids: [id, other], addresses: [COPY] }
    const call = (): Promise<ErasedStep> =>
      storage.custody.eraseCopies({ ...request, without: withoutCopies })
    const leased = await claim(storage, 2, hook.id)
    assert.deepEqual([...(await call()).busy].sort(), [id, other].sort())
    assert.deepEqual(
      (await log()).map(({ payload }) => payload),
      before.map(({ payload }) => payload),
    )
    for (const run of leased) {
      await start(storage, [run], hook.id)
      const response = run.kind === 'event' && run.delivery.payload.includes(other) ? `Got ${COPY}` : 'OK'
      const attempt = { attempt: run.attempts + 1, status: 500, response, durationMs: 1, succeeded: false }
      const { jobId, token } = run
      await storage.settle([{ kind: 'event', jobId, token, attempt, next: { kind: 'retry', delayMs: 0 } }])
    }
    const logged = await log()
    const step = await call()
    assert.deepEqual([...step.erased].sort(), [id, other].sort())
    const { event, data } = JSON.parse(answered.payload)
    const erased = JSON.stringify({
      event,
      data: { ...data, error: { code: 'provider_error', message: entryOf('provider_error').message } },
    })
    assert.deepEqual([data.to, data.metadata], [to, metadata])
    assert.deepEqual(
      await log(),
      logged.map((delivery) => ({
        ...delivery,
        ...(delivery.eventId === answered.eventId ? { payload: erased } : {}),
        attempts: delivery.attempts.map((attempt) => ({ ...attempt, response: '' })),
      })),
    )
  })

  check('a late report does not bring an erased copy back', async ({ storage }) => {
    const cc = [COPY, 'bob@bücher.example']
    const content = { body: 'Hi', parts: { cc } }
    const ids = await accept(storage, [note({ content, copies: cc }), note({ copies: cc.slice(1) })])
    const [id = '', unmatched = ''] = ids
    const report = { provider: 'smtp', organizationId: null }
    const about = (address: string) => markedFact('bounced', { address, suppress: 'hard_bounce' })
    const late = [about(COPY.toUpperCase()), about('Bob@xn--bcher-kva.example')]
    const early = { ...about(`early-${COPY}`), providerMessageId: unique() }
    await storage.recordReceipts([{ ...report, dedupeKey: unique(), fact: early }])
    const jobs = await claim(storage, 2)
    await start(storage, jobs)
    await storage.settle(
      jobs.map((job) => {
        const isOther = job.kind === 'notification' && job.notification.id === unmatched
        return ended(job, [sent({ providerMessageId: isOther ? early.providerMessageId : unique() })])
      }),
    )
    const request = { organizationId: DEFAULT_ORGANIZATION, ids, addresses: [COPY] }
    await storage.custody.eraseCopies({ ...request, without: withoutCopies })
    await storage.recordReceipts(
      late.map((fact) => ({ ...report, notificationId: id, dedupeKey: unique(), fact })),
    )
    const factsOf = async (name: string) =>
      (await storage.notifications.timeline(name)).flatMap(({ fact }) => fact ?? []).slice(1)
    const [erased, kept] = late.map((fact): Fact => ({ ...fact, type: 'reported' }))
    assert.ok(erased !== undefined && kept !== undefined)
    assert.deepEqual(await factsOf(id), [erasedFact(erased), kept])
    assert.deepEqual(await factsOf(unmatched), [erasedFact({ ...early, type: 'reported' })])
    const suppressed = [late[0]?.address, early.address].flatMap((address = '') => [
      reversed(address),
      address,
    ])
    const refs = suppressed.map((address) => ({ id: recipientId(address) }))
    const records = await storage.records.get(otherKind, refs)
    assert.deepEqual(
      records.map((record) => record !== null),
      [true, false, true, false],
    )
  })

  check('received messages and reports about unknown messages are read and removed', async ({ storage }) => {
    const acme = await organization(storage)
    await endpoint(storage, { events: ['message.received'] })
    await endpoint(storage, { events: ['message.received', 'notification.sent'] })
    await endpoint(storage, { organizationId: acme, events: ['message.received'] })
    const own = [await messageOf(storage), await messageOf(storage)]
    const facts = [await reportUnknown(storage, DEFAULT_ORGANIZATION), await reportUnknown(storage, null)]
    const foreign = await messageOf(storage, acme)
    const foreignFact = await reportUnknown(storage, acme)
    await accept(storage, [note()])
    await deliver(storage)
    const reports = await allReports(storage, DEFAULT_ORGANIZATION, 100)
    assert.deepEqual(await allReports(storage, DEFAULT_ORGANIZATION, 1), reports)
    const messages = reports.filter(({ kind }) => kind === 'message')
    const receipts = reports.filter(({ kind }) => kind === 'receipt')
    assert.deepEqual(
      messages.map(({ id }) => id),
      own,
    )
    assert.equal(JSON.parse(messages[0]?.json ?? '').data.text, `Text ${MARKER}`)
    assert.deepEqual(
      receipts.map(({ json }) => JSON.parse(json)),
      facts.map((fact) => JSON.parse(fact)),
    )
    const foreigners = await allReports(storage, acme, 100)
    assert.deepEqual(
      foreigners.map(({ kind }) => kind),
      ['message', 'receipt'],
    )
    assert.equal(foreigners[0]?.id, foreign)
    const all = [...reports, ...foreigners].map(({ id }) => id)
    assert.equal(await storage.custody.removeReports(DEFAULT_ORGANIZATION, [...all, 'x', 'evt_x']), 4)
    assert.deepEqual(await allReports(storage, DEFAULT_ORGANIZATION, 100), [])
    assert.deepEqual(await allReports(storage, acme, 100), foreigners)
    assert.equal(foreigners[1]?.json, foreignFact)
    assert.equal(await storage.custody.removeReports(DEFAULT_ORGANIZATION, all), 0)
  })
}
