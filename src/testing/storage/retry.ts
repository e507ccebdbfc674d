import assert from 'node:assert/strict'
import type { Fact } from '../../core/notification/facts.ts'
import type { NotificationFilter, RetryAnswer, RetryRequest } from '../../core/ports/storage/notifications.ts'
import type { Storage } from '../../core/ports/storage/storage.ts'
import { DEFAULT_ORGANIZATION } from '../../core/tenancy/organization.ts'
import {
  accept,
  claim,
  claimOne,
  ended,
  idOf,
  LANE,
  note,
  notes,
  organization,
  page,
  readAll,
  sent,
  start,
  TEN,
  timeOf,
  totalsByLane,
} from './fixtures.ts'
import type { Check, StorageHarness } from './harness.ts'

const FAILED: Fact = { type: 'failed', attempt: 1, provider: 'smtp', code: 'provider_error' }

/** Notifications that failed at their first attempt; returns their ids, oldest first. */
async function deadLetters(
  storage: Storage,
  notifications: readonly ReturnType<typeof note>[],
  fact: Partial<Fact> = {},
  organizationId?: string,
): Promise<string[]> {
  const ids = await accept(storage, notifications, organizationId)
  const jobs = await claim(storage, notifications.length)
  assert.equal(jobs.length, notifications.length)
  await start(storage, jobs)
  await storage.settle(jobs.map((job) => ended(job, [{ ...FAILED, ...fact }])))
  return ids
}

function request(change: Omit<Partial<RetryRequest>, 'filter'> & { filter?: object } = {}): RetryRequest {
  const { filter, ...rest } = change
  return {
    lanes: { email: LANE },
    most: 1_000,
    ...rest,
    filter: { organizationId: DEFAULT_ORGANIZATION, ...filter },
  }
}

/** Retries in steps until all were examined. */
async function retryAll(storage: Storage, asked: RetryRequest): Promise<RetryAnswer[]> {
  const answers: RetryAnswer[] = []
  let step = asked
  for (;;) {
    const answer = await storage.notifications.retry(step)
    answers.push(answer)
    assert.ok(answers.length < 200, 'the retry does not end')
    if (answer.next === null) return answers
    step = { ...asked, after: answer.next, dueAt: answer.nextDueAt }
  }
}

const total = (answers: readonly RetryAnswer[]): number =>
  answers.reduce((sum, { retried }) => sum + retried, 0)

async function counts({ secondDoor }: StorageHarness): Promise<[jobs: number, retried: number]> {
  const events = await secondDoor.events()
  return [(await secondDoor.jobs()).length, events.filter(({ type }) => type === 'retried').length]
}

export function retryChecks(check: Check): void {
  check('a dead letter that is retried is queued, and has all attempts before it', async (harness) => {
    const { storage, secondDoor } = harness
    const [id = ''] = await accept(storage, [note({ priority: 'high' })])
    for (const attempt of [1, 2]) {
      const job = await claimOne(storage)
      await start(storage, [job])
      const next = { kind: 'retry', delayMs: 0 } as const
      const facts: Fact[] =
        attempt === 1 ? [{ ...FAILED, type: 'attempt_failed' }] : [{ ...FAILED, attempt: 2 }]
      await storage.settle([attempt === 1 ? { ...ended(job, facts), next } : ended(job, facts)])
    }
    const dead = await storage.notifications.get(id)
    assert.deepEqual([dead?.status, dead?.provider], ['failed', 'smtp'])

    const answer = await storage.notifications.retry(request())
    assert.deepEqual(
      { ...answer, nextDueAt: 0 },
      {
        retried: 1,
        expired: 0,
        unroutable: 0,
        contentRemoved: 0,
        nextDueAt: 0,
        next: null,
      },
    )
    const queued = await storage.notifications.get(id)
    assert.deepEqual([queued?.status, queued?.error, queued?.priority], ['queued', null, 'high'])
    assert.deepEqual(
      (await storage.notifications.timeline(id)).map(({ type, status }) => [type, status]),
      [
        ['queued', 'queued'],
        ['attempt_failed', 'queued'],
        ['failed', 'failed'],
        ['retried', 'queued'],
      ],
    )
    assert.equal((await secondDoor.notifications())[0]?.status, 'queued')
    const job = await claimOne(storage)
    assert.equal(idOf(job), id)
    assert.deepEqual([job.attempts, job.earlierAttempts, job.outages, job.recovered], [2, 2, 0, false])
    await start(storage, [job])
    const [settled] = await storage.settle([ended(job, [{ ...FAILED, attempt: 3 }])])
    assert.ok(settled?.kind === 'settled')
    assert.deepEqual(
      settled.events.map(({ event }) => event),
      ['notification.failed'],
    )
    assert.equal((await storage.notifications.retry(request())).retried, 1)
    const third = await claimOne(storage)
    assert.deepEqual([third.attempts, third.earlierAttempts], [3, 3])
    await start(storage, [third])
    await storage.settle([ended(third, [sent({ attempt: 4 })])])
    assert.equal((await storage.notifications.get(id))?.status, 'sent')
    assert.equal((await storage.notifications.retry(request())).retried, 0)
  })

  check('what providers wrote does not matter, and be it no text', async ({ storage }) => {
    const message = 'a\u0000b\ud83d "attempt":9, "code":"'
    const [id = ''] = await deadLetters(storage, notes(1), { message, attempt: 3 })
    const filter = { organizationId: DEFAULT_ORGANIZATION, status: 'failed', code: 'provider_error' } as const
    const listed = async (more: object) =>
      (await storage.notifications.list({ ...filter, ...more }, page())).items.map((item) => item.id)
    assert.deepEqual(await listed({}), [id])
    assert.deepEqual(await listed({ status: undefined }), [id])
    assert.deepEqual(await listed({ code: 'invalid_recipient' }), [])
    assert.equal((await storage.notifications.retry(request())).retried, 1)
    assert.equal((await claimOne(storage)).earlierAttempts, 3)
  })

  check('only what is failed and has no job is retried', async (harness) => {
    const { storage } = harness
    await accept(storage, [note(), note(), note()])
    const [done, open] = await claim(storage, 2)
    assert.ok(done !== undefined && open !== undefined)
    await storage.settle([ended(done)])
    // A provider reported a failure while another attempt is due.
    const facts = [sent({ providerMessageId: 'm-1' })]
    await storage.settle([{ ...ended(open, facts), next: { kind: 'retry', delayMs: 60_000 } }])
    const fact: Fact = { type: 'bounced', provider: 'smtp', providerMessageId: 'm-1', code: 'mailbox_full' }
    await storage.recordReceipts([{ provider: 'smtp', organizationId: null, dedupeKey: 'r-1', fact }])
    assert.equal((await storage.notifications.get(idOf(open) ?? ''))?.status, 'failed')
    assert.equal((await storage.notifications.retry(request())).retried, 0)
    assert.deepEqual(await counts(harness), [2, 0])
  })

  check('a dry run counts and changes nothing', async (harness) => {
    const { storage } = harness
    await deadLetters(storage, notes(5))
    const dry = await retryAll(storage, request({ dryRun: true, most: 2 }))
    assert.equal(total(dry), 5)
    assert.deepEqual(await counts(harness), [0, 0])
    assert.equal(total(await retryAll(storage, request({ most: 2 }))), 5)
    assert.deepEqual(await counts(harness), [5, 5])
  })

  check('ten retries in a race take up each dead letter once', async (harness) => {
    const { storage } = harness
    const ids = await deadLetters(storage, notes(40))
    const answers = await Promise.all(TEN.map(() => retryAll(storage, request({ most: 7 }))))
    assert.equal(total(answers.flat()), 40)
    assert.deepEqual(await counts(harness), [40, 40])
    const claimed = (await claim(storage, 100)).map((job) => idOf(job))
    assert.deepEqual([...claimed].sort(), [...ids].sort())
  })

  check('a retry in steps handles none twice, even one that fails again meanwhile', async (harness) => {
    const { storage } = harness
    await deadLetters(storage, notes(4))
    const first = await storage.notifications.retry(request({ most: 2 }))
    assert.equal(first.retried, 2)
    const again = await claim(storage, 2)
    await storage.settle(again.map((job) => ended(job, [{ ...FAILED, attempt: 2 }])))
    const rest = await retryAll(storage, request({ most: 2, after: first.next ?? undefined }))
    assert.equal(total(rest), 2)
    assert.deepEqual(await counts(harness), [2, 4])
  })

  check('due times are apart by the spacing, over steps too', async (harness) => {
    const { storage } = harness
    const ids = await deadLetters(storage, notes(5))
    const [first, ...rest] = await retryAll(storage, request({ most: 2, spacingMs: 1_000 }))
    assert.equal(total([first, ...rest].filter((answer) => answer !== undefined)), 5)
    const { [LANE]: totals } = await totalsByLane(storage, 10)
    assert.deepEqual([totals?.due, totals?.scheduled, totals?.retrying], [1, 4, 0])
    const queued = { organizationId: DEFAULT_ORGANIZATION, status: 'queued' } as const
    assert.equal((await storage.notifications.list(queued, page())).items.length, 5)
    const dueNow = await claim(storage, 5)
    assert.deepEqual(dueNow.map(idOf), ids.slice(0, 1))
    for (const id of ids.slice(1)) {
      await harness.advance(999)
      assert.deepEqual(await claim(storage, 5), [])
      await harness.advance(1)
      assert.deepEqual((await claim(storage, 5)).map(idOf), [id])
    }
  })

  check('what would have expired when it is due is left and counted', async (harness) => {
    const { storage } = harness
    const now = await timeOf(storage)
    const [soon, late] = [note({ expiresAt: now + 60_000 }), note({ expiresAt: now + 3_600_000 })]
    await deadLetters(storage, [soon, note(), late])
    await harness.advance(120_000)
    const dry = await storage.notifications.retry(request({ dryRun: true }))
    assert.deepEqual([dry.retried, dry.expired], [2, 1])
    // The second would be due in three hours, after the last has expired.
    const slow = await storage.notifications.retry(request({ dryRun: true, spacingMs: 10_800_000 }))
    assert.deepEqual([slow.retried, slow.expired], [1, 2])
    const answer = await storage.notifications.retry(request())
    assert.deepEqual([answer.retried, answer.expired], [2, 1])
    assert.equal((await storage.notifications.get(soon.id))?.status, 'failed')
    assert.deepEqual(await counts(harness), [2, 2])
  })

  check('what has no lane is left and counted', async (harness) => {
    const { storage } = harness
    await deadLetters(storage, [note(), note({ channel: 'slack', to: '#ops' })])
    const answer = await storage.notifications.retry(request({ lanes: { slack: LANE } }))
    assert.deepEqual([answer.retried, answer.unroutable], [1, 1])
    assert.deepEqual(await counts(harness), [1, 1])
  })

  check('dead letters are filtered alike in a list and a retry', async ({ storage }) => {
    const other = await organization(storage)
    const template = { id: 'tpl_1', name: 'welcome', version: 1 }
    const [a = ''] = await deadLetters(storage, [note({ to: 'a@example.com' })], { code: 'mailbox_full' })
    const [b = ''] = await deadLetters(storage, [note({ content: { template, variables: {} } })])
    const [c = ''] = await deadLetters(storage, [note({ channel: 'slack', to: '#ops' })], {
      provider: 'hook',
    })
    const [foreign = ''] = await deadLetters(storage, [note()], {}, other)
    await accept(storage, [note()])
    const { createdAt = 0 } = (await storage.notifications.get(a)) ?? {}
    const cases: [filter: Partial<NotificationFilter>, ids: string[]][] = [
      [{}, [c, b, a]],
      [{ channel: 'slack' }, [c]],
      [{ to: 'a@example.com' }, [a]],
      [{ templateId: 'tpl_1' }, [b]],
      [{ code: 'mailbox_full' }, [a]],
      [{ code: 'provider_error', channel: 'email' }, [b]],
      [{ provider: 'hook' }, [c]],
      [{ provider: 'smtp' }, [b, a]],
      [{ from: createdAt }, [c, b, a]],
      [{ until: createdAt }, []],
      [{ ids: [a, c, foreign, 'notif_0', a] }, [c, a]],
      [{ ids: [] }, []],
      [{ organizationId: other }, [foreign]],
    ]
    for (const [filter, ids] of cases) {
      const given = { organizationId: DEFAULT_ORGANIZATION, ...filter }
      const listed = await readAll(
        (asked) => storage.notifications.list({ ...given, status: 'failed' }, asked),
        2,
      )
      assert.deepEqual(
        listed.map(({ id }) => id),
        ids,
        JSON.stringify(filter),
      )
      const dry = await retryAll(
        storage,
        request({ filter, lanes: { email: LANE, slack: LANE }, dryRun: true, most: 2 }),
      )
      assert.equal(total(dry), ids.length, JSON.stringify(filter))
    }
    assert.equal((await storage.notifications.retry(request({ filter: { ids: [b] } }))).retried, 1)
    const left = await storage.notifications.list(
      { organizationId: DEFAULT_ORGANIZATION, status: 'failed' },
      page(),
    )
    assert.deepEqual(
      left.items.map(({ id }) => id),
      [c, a],
    )
  })

  check('a retried notification keeps its priority and its trace', async ({ storage }) => {
    const trace = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
    const [high] = await deadLetters(storage, [note({ priority: 'high', trace })])
    await accept(storage, [note()])
    await storage.notifications.retry(request())
    const job = await claimOne(storage)
    assert.ok(job.kind === 'notification')
    assert.deepEqual([job.notification.id, job.notification.trace], [high, trace])
  })

  check('what was retried can be cancelled while no attempt is running', async ({ storage }) => {
    const [first = '', second = ''] = await deadLetters(storage, notes(2))
    await storage.notifications.retry(request())
    assert.equal((await storage.notifications.cancel(first)).kind, 'cancelled')
    assert.equal((await storage.notifications.get(first))?.status, 'cancelled')
    const job = await claimOne(storage)
    await start(storage, [job])
    assert.equal((await storage.notifications.cancel(second)).kind, 'too_late')
  })

  check('a settlement of an attempt before the retry is stale', async ({ storage }) => {
    await accept(storage, [note()])
    const job = await claimOne(storage)
    await storage.settle([ended(job, [FAILED])])
    await storage.notifications.retry(request())
    await claimOne(storage)
    assert.deepEqual(await storage.settle([ended(job, [sent()])]), [{ kind: 'stale' }])
  })
}
