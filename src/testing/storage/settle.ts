import assert from 'node:assert/strict'
import type { Fact } from '../../core/notification/facts.ts'
import { DEFAULT_ORGANIZATION } from '../../core/tenancy/organization.ts'
import {
  accept,
  claim,
  claimOne,
  countOf,
  deliver,
  ended,
  note,
  notes,
  retried,
  sent,
  start,
  TEN,
} from './fixtures.ts'
import type { Check } from './harness.ts'

export function settleChecks(check: Check): void {
  check('settle records facts, status, provider and message id, and ends the job', async (harness) => {
    const { storage, secondDoor } = harness
    const [id = ''] = await accept(storage, [note()])
    const fact = sent({ providerMessageId: '<m-1@example.com>', durationMs: 12.5, providerCode: '250' })
    const job = await claimOne(storage)
    await start(storage, [job])
    const [answer] = await storage.settle([ended(job, [fact, { ...fact, type: 'delivered' }])])
    assert.ok(answer?.kind === 'settled')
    assert.deepEqual(
      answer.events.map(({ event, data }) => [
        event,
        data.id,
        data.status,
        data.sequence,
        data.organizationId,
      ]),
      [
        ['notification.sent', id, 'sent', 2, DEFAULT_ORGANIZATION],
        ['notification.delivered', id, 'delivered', 3, DEFAULT_ORGANIZATION],
      ],
    )
    const stored = await storage.notifications.get(id)
    assert.deepEqual(
      [stored?.status, stored?.provider, stored?.providerMessageId, stored?.error],
      ['delivered', 'smtp', '<m-1@example.com>', null],
    )
    assert.deepEqual(await secondDoor.jobs(), [])
    assert.deepEqual(
      (await secondDoor.notifications()).map(({ status }) => status),
      ['delivered'],
    )
    assert.deepEqual(
      (await secondDoor.events()).map(({ notificationId, sequence, type, status }) => [
        notificationId,
        sequence,
        type,
        status,
      ]),
      [
        [id, 2, 'sent', 'sent'],
        [id, 3, 'delivered', 'delivered'],
      ],
    )
    assert.deepEqual(
      (await storage.notifications.timeline(id)).map(({ fact }) => fact),
      [null, fact, { ...fact, type: 'delivered' }],
    )
  })

  check('settle keeps the reason of a failure', async ({ storage }) => {
    const [id = ''] = await accept(storage, [note()])
    const failed: Fact = {
      type: 'failed',
      attempt: 1,
      provider: 'smtp',
      code: 'mailbox_full',
      message: 'Full.',
    }
    const job = await claimOne(storage)
    const [answer] = await storage.settle([ended(job, [failed])])
    assert.ok(answer?.kind === 'settled')
    assert.deepEqual(answer.events[0]?.data.error, { code: 'mailbox_full', message: 'Full.' })
    const stored = await storage.notifications.get(id)
    assert.deepEqual([stored?.status, stored?.error], ['failed', { code: 'mailbox_full', message: 'Full.' }])
  })

  check('one that waits for another attempt shows why the last one failed', async ({ storage }) => {
    const [id = ''] = await accept(storage, [note()])
    const error = { code: 'mailbox_full', message: 'Full.' } as const
    const failed: Fact = { type: 'attempt_failed', attempt: 1, provider: 'smtp', ...error }
    await storage.settle([
      { ...ended(await claimOne(storage), [failed]), next: { kind: 'retry', delayMs: 0 } },
    ])
    const shown = async () => {
      const { items } = await storage.notifications.list(
        { organizationId: DEFAULT_ORGANIZATION },
        { limit: 1, offset: 0 },
      )
      return [await storage.notifications.get(id), items[0]].map((one) => [one?.status, one?.error])
    }
    assert.deepEqual(await shown(), Array(2).fill(['queued', error]))
    await storage.settle([ended(await claimOne(storage), [sent({ attempt: 2 })])])
    assert.deepEqual(await shown(), Array(2).fill(['sent', null]))
  })

  check('an event is announced the first time only', async ({ storage }) => {
    await accept(storage, [note()])
    const first = await claimOne(storage)
    const twice = await storage.settle([
      { ...ended(first, [sent(), sent({ attempt: 2 })]), next: { kind: 'retry', delayMs: 0 } },
    ])
    assert.ok(twice[0]?.kind === 'settled')
    assert.equal(twice[0].events.length, 1)
    const [again] = await storage.settle([ended(await claimOne(storage), [sent({ attempt: 3 })])])
    assert.ok(again?.kind === 'settled')
    assert.deepEqual(again.events, [])
  })

  check('a retry without a fact leaves no trace but its delay', async ({ storage, secondDoor }) => {
    const [id = ''] = await accept(storage, [note()])
    const job = await claimOne(storage)
    const [answer] = await storage.settle([{ ...ended(job, []), next: { kind: 'retry', delayMs: 1_000 } }])
    assert.deepEqual(answer, { kind: 'settled', events: [] })
    assert.deepEqual(await secondDoor.events(), [])
    assert.equal((await storage.notifications.timeline(id)).length, 1)
  })

  check('failed attempts are events, and the status stays queued', async ({ storage }) => {
    const [id = ''] = await accept(storage, [note()])
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      const job = await claimOne(storage)
      await start(storage, [job])
      await storage.settle([retried(job, 0)])
    }
    const timeline = await storage.notifications.timeline(id)
    assert.deepEqual(
      timeline.map(({ sequence, type, status }) => [sequence, type, status]),
      [
        [1, 'queued', 'queued'],
        [2, 'attempt_failed', 'queued'],
        [3, 'attempt_failed', 'queued'],
        [4, 'attempt_failed', 'queued'],
      ],
    )
  })

  check('a job settles once: of ten in a race one does', async ({ storage, secondDoor }) => {
    await accept(storage, [note()])
    const job = await claimOne(storage)
    await start(storage, [job])
    const answers = (await Promise.all(TEN.map(() => storage.settle([ended(job)])))).flat()
    assert.equal(
      countOf(answers, ({ kind }) => kind === 'settled'),
      1,
    )
    assert.equal(
      countOf(answers, ({ kind }) => kind === 'stale'),
      9,
    )
    assert.equal((await secondDoor.events()).length, 1)
  })

  check('one settlement twice in a set is recorded once', async ({ storage, secondDoor }) => {
    await accept(storage, [note()])
    const job = await claimOne(storage)
    const answers = await storage.settle([ended(job), ended(job)])
    assert.deepEqual(
      answers.map(({ kind }) => kind),
      ['settled', 'stale'],
    )
    assert.equal((await secondDoor.events()).length, 1)
  })

  check('a settlement of the wrong kind is stale', async ({ storage }) => {
    await accept(storage, [note()])
    const { jobId, token } = await claimOne(storage)
    const answers = await storage.settle([{ kind: 'event', jobId, token, next: { kind: 'end' } }])
    assert.deepEqual(
      answers.map(({ kind }) => kind),
      ['stale'],
    )
  })

  check('a large set settles in order', async ({ storage, secondDoor }) => {
    const ids = await accept(storage, notes(300))
    const jobs = await claim(storage, 300)
    const answers = await storage.settle(jobs.map((job) => ended(job)))
    assert.deepEqual(
      answers.map((answer) => (answer.kind === 'settled' ? answer.events[0]?.data.id : answer.kind)),
      ids,
    )
    assert.deepEqual(await secondDoor.jobs(), [])
    assert.deepEqual(await storage.settle([]), [])
  })

  check("what was accepted stays as it was through a notification's life", async ({ storage }) => {
    const notification = note({ content: { body: 'x'.repeat(100_000) }, priority: 'high' })
    await accept(storage, [notification])
    const before = await storage.notifications.get(notification.id)
    await deliver(storage)
    const after = await storage.notifications.get(notification.id)
    assert.deepEqual(after, { ...before, status: 'sent', provider: 'smtp' })
  })
}
