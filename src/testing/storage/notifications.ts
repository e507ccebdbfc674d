import assert from 'node:assert/strict'
import type { NotificationFilter } from '../../core/ports/storage/notifications.ts'
import type { PageRequest } from '../../core/ports/storage/page.ts'
import type { Settlement } from '../../core/ports/storage/settle.ts'
import type { Storage } from '../../core/ports/storage/storage.ts'
import { DEFAULT_ORGANIZATION } from '../../core/tenancy/organization.ts'
import {
  accept,
  claim,
  claimOne,
  countOf,
  deliver,
  ended,
  endpoint,
  idOf,
  LANE,
  LEASE_MS,
  note,
  notes,
  organization,
  page,
  readAll,
  retried,
  sent,
  start,
  TEN,
} from './fixtures.ts'
import type { Check } from './harness.ts'

async function listed(
  storage: Storage,
  filter: Partial<NotificationFilter> = {},
  request: Partial<PageRequest> = {},
): Promise<string[]> {
  const found = await storage.notifications.list(
    { organizationId: DEFAULT_ORGANIZATION, ...filter },
    page(request),
  )
  return found.items.map(({ id }) => id)
}

export function notificationChecks(check: Check): void {
  check('an unknown notification is null, and has no timeline', async ({ storage }) => {
    assert.equal(await storage.notifications.get('notif_0'), null)
    assert.deepEqual(await storage.notifications.timeline('notif_0'), [])
    assert.deepEqual(await storage.notifications.cancel('notif_0'), { kind: 'unknown' })
  })

  check("get answers any organization's notification, and says whose it is", async ({ storage }) => {
    const other = await organization(storage)
    const [id = ''] = await accept(storage, [note()], other)
    assert.equal((await storage.notifications.get(id))?.organizationId, other)
  })

  check('states are the present ones, in the order asked for', async ({ storage }) => {
    const other = await organization(storage)
    const sendAt = 32_000_000_000_000
    const [due = ''] = await accept(storage, [note({ to: 'bob@example.com' })])
    const [later = ''] = await accept(storage, [note({ sendAt })], other)
    const ids = ['notif_0', later, due]
    assert.deepEqual(await storage.notifications.states([]), [])
    assert.deepEqual(await storage.notifications.states(ids), [
      null,
      { status: 'scheduled', to: 'ada@example.com' },
      { status: 'queued', to: 'bob@example.com' },
    ])
    await storage.notifications.cancel(later)
    await deliver(storage)
    const [, ended, sent] = await storage.notifications.states(ids)
    assert.deepEqual([ended?.status, sent?.status], ['cancelled', 'sent'])
  })

  check('a resend says what it repeats, and others that they repeat nothing', async ({ storage }) => {
    const first = note()
    const second = note({ resendOf: first.id, content: { body: 'x'.repeat(10_000) } })
    await accept(storage, [first, second])
    assert.equal((await storage.notifications.get(first.id))?.resendOf, null)
    assert.equal((await storage.notifications.get(second.id))?.resendOf, first.id)
    const { items } = await storage.notifications.list({ organizationId: DEFAULT_ORGANIZATION }, page())
    assert.deepEqual(
      items.map(({ resendOf }) => resendOf),
      [first.id, null],
    )
  })

  check('attachments are claimed and got whole, and no list has them', async ({ storage }) => {
    const file = { filename: 'a.txt', contentType: 'text/plain', content: 'aGVsbG8=' }
    const content = {
      subject: 'S',
      body: 'B',
      parts: { replyTo: 'x@example.com', attachments: [file, file] },
    }
    const [id = '', plain = ''] = await accept(storage, [note({ content }), note()])
    assert.deepEqual((await storage.notifications.get(id))?.content, content)
    const { items } = await storage.notifications.list({ organizationId: DEFAULT_ORGANIZATION }, page())
    const listed = new Map(items.map((item) => [item.id, item.content]))
    assert.deepEqual(listed.get(id), { ...content, parts: { ...content.parts, attachments: [] } })
    assert.deepEqual(listed.get(plain), note().content)
    const jobs = await claim(storage)
    const claimed = jobs.flatMap((job) => (job.kind === 'notification' ? [job.notification] : []))
    assert.deepEqual(claimed.find((notification) => notification.id === id)?.content, content)
    assert.deepEqual(claimed.find((notification) => notification.id === plain)?.content, note().content)
  })

  check('the timeline begins with the accept', async ({ storage }) => {
    const [id = ''] = await accept(storage, [note()])
    const stored = await storage.notifications.get(id)
    assert.deepEqual(await storage.notifications.timeline(id), [
      { sequence: 1, type: 'queued', status: 'queued', at: stored?.createdAt, fact: null },
    ])
  })

  check('a list is newest first and of one organization', async (harness) => {
    const { storage } = harness
    const other = await organization(storage)
    const first = await accept(storage, notes(3))
    await accept(storage, notes(2), other)
    await harness.advance(1_000)
    const second = await accept(storage, notes(3))
    assert.deepEqual(await listed(storage), [...first, ...second].reverse())
    assert.equal((await listed(storage, { organizationId: other })).length, 2)
    assert.deepEqual(await listed(storage, { organizationId: 'org_unknown' }), [])
  })

  check('within one moment all order is that of acceptance, regardless of ids', async ({ storage }) => {
    const { id: hook } = await endpoint(storage)
    const tails = ['7', '2', '9', '0', '5', '3', '8', '1', '6', '4']
    const given = tails.map((tail) => note({ id: `notif_${tail.padEnd(34, tail)}` }))
    await accept(storage, given.slice(0, 4))
    for (const one of given.slice(4)) await accept(storage, [one])
    const ids = given.map(({ id }) => id)
    const newestFirst = ids.toReversed()
    const scope = { organizationId: DEFAULT_ORGANIZATION }

    const lists = await readAll((request) => storage.notifications.list(scope, request), 3)
    assert.deepEqual(
      lists.map(({ id }) => id),
      newestFirst,
    )
    const log = await readAll((request) => storage.logs.list(scope, request), 3)
    assert.deepEqual(
      log.map(({ notificationId }) => notificationId),
      newestFirst,
    )
    const jobs = [...(await claim(storage, 4)), ...(await claim(storage))]
    assert.deepEqual(jobs.map(idOf), ids)
    await start(storage, jobs)
    await storage.settle(
      jobs.map((job) => ended(job, [{ type: 'failed', attempt: 1, code: 'spam_detected' }])),
    )
    const events = await readAll(
      (request) => storage.webhookEndpoints.deliveries({ endpointId: hook }, request),
      3,
    )
    assert.deepEqual(
      events.map(({ eventId }) => eventId),
      newestFirst.map((id) => `evt_${id.slice('notif_'.length)}_2`),
    )
    const dead = await readAll(
      (request) => storage.notifications.list({ ...scope, status: 'failed' }, request),
      3,
    )
    assert.deepEqual(
      dead.map(({ id }) => id),
      newestFirst,
    )
    const first = { filter: scope, lanes: { email: LANE }, most: 4 }
    const { next } = await storage.notifications.retry(first)
    await storage.notifications.retry({ ...first, most: 100, after: next ?? undefined })
    assert.deepEqual((await claim(storage)).map(idOf), ids)
  })

  check('a list is filtered by each property, and by several', async (harness) => {
    const { storage } = harness
    const template = { template: { id: 'tpl_1', name: 'hi', version: 1 }, variables: {} }
    const [a = '', b = '', c = ''] = await accept(storage, [
      note({ to: 'bob@example.com' }),
      note({ channel: 'sms', to: '+4917', content: template }),
      note({ channel: 'sms', to: '+4918' }),
    ])
    await storage.notifications.cancel(c)
    assert.deepEqual(await listed(storage, { channel: 'sms' }), [c, b])
    assert.deepEqual(await listed(storage, { to: 'bob@example.com' }), [a])
    assert.deepEqual(await listed(storage, { to: 'bob' }), [])
    assert.deepEqual(await listed(storage, { templateId: 'tpl_1' }), [b])
    assert.deepEqual(await listed(storage, { status: 'cancelled' }), [c])
    assert.deepEqual(await listed(storage, { status: 'queued' }), [b, a])
    assert.deepEqual(await listed(storage, { status: 'queued', channel: 'sms' }), [b])
    assert.deepEqual(await listed(storage, { status: 'failed', channel: 'sms' }), [])
  })

  check('a list is filtered by scheduled', async ({ storage }) => {
    const [later = ''] = await accept(storage, [note({ sendAt: 32_000_000_000_000 }), note()])
    assert.deepEqual(await listed(storage, { status: 'scheduled' }), [later])
  })

  check('a list is filtered by the time of the accept: from included, until not', async (harness) => {
    const { storage } = harness
    const ids: string[] = []
    for (let index = 0; index < 3; index += 1) {
      ids.push(...(await accept(storage, [note()])))
      await harness.advance(1_000)
    }
    const [first = '', second = '', third = ''] = ids
    const at = (await storage.notifications.get(second))?.createdAt ?? 0
    assert.deepEqual(await listed(storage, { from: at }), [third, second])
    assert.deepEqual(await listed(storage, { until: at }), [first])
    assert.deepEqual(await listed(storage, { from: at, until: at + 1 }), [second])
  })

  check('pages by offset and by cursor cover a list once', async ({ storage }) => {
    const ids = (await accept(storage, notes(25))).reverse()
    assert.deepEqual(await listed(storage, {}, { limit: 10, offset: 20 }), ids.slice(20))
    assert.deepEqual(await listed(storage, {}, { limit: 10, offset: 25 }), [])
    const all = await readAll(
      (request) => storage.notifications.list({ organizationId: DEFAULT_ORGANIZATION }, request),
      10,
    )
    assert.deepEqual(
      all.map(({ id }) => id),
      ids,
    )
  })

  check('a page says whether another follows', async ({ storage }) => {
    await accept(storage, notes(4))
    const filter = { organizationId: DEFAULT_ORGANIZATION }
    const cursorAt = async (request: Partial<PageRequest>): Promise<string | null> =>
      (await storage.notifications.list(filter, page(request))).nextCursor
    assert.notEqual(await cursorAt({ limit: 3 }), null)
    assert.equal(await cursorAt({ limit: 4 }), null)
    assert.equal(await cursorAt({ limit: 2, offset: 2 }), null)
    assert.notEqual(await cursorAt({ limit: 2, offset: 1 }), null)
  })

  check('what arrives while a list is read neither repeats nor hides anything', async (harness) => {
    const { storage } = harness
    const ids = (await accept(storage, notes(30))).reverse()
    const read = await readAll(
      (request) => storage.notifications.list({ organizationId: DEFAULT_ORGANIZATION }, request),
      7,
      async () => {
        await accept(storage, notes(3))
        await harness.advance(10)
        await accept(storage, notes(3))
      },
    )
    assert.deepEqual(
      read.map(({ id }) => id),
      ids,
    )
  })

  check('a cursor that is none is refused', async ({ storage }) => {
    for (const cursor of ['', 'nonsense!', '1.2.3.4.5', '-5', '-5.-5']) {
      await assert.rejects(
        storage.notifications.list({ organizationId: DEFAULT_ORGANIZATION }, page({ cursor })),
        { code: 'invalid_parameter' },
      )
    }
  })

  check('cancel ends what has not begun, and announces it', async ({ storage, secondDoor }) => {
    await endpoint(storage, { events: ['notification.cancelled'] })
    const ids = await accept(storage, [note(), note({ sendAt: 32_000_000_000_000 })])
    for (const id of ids) {
      const answer = await storage.notifications.cancel(id)
      assert.ok(answer.kind === 'cancelled')
      assert.deepEqual(
        answer.events.map(({ event, data }) => [event, data.id, data.status, data.sequence]),
        [['notification.cancelled', id, 'cancelled', 2]],
      )
      assert.equal((await storage.notifications.get(id))?.status, 'cancelled')
      assert.deepEqual(await storage.notifications.cancel(id), { kind: 'ended' })
    }
    assert.deepEqual(await claim(storage), [])
    assert.equal((await secondDoor.deliveries()).length, 2)
    assert.equal((await secondDoor.jobs()).filter(({ lane }) => lane === LANE).length, 0)
  })

  check('cancel wins over a claim whose attempt has not begun', async ({ storage }) => {
    const [id = ''] = await accept(storage, [note()])
    const job = await claimOne(storage)
    assert.equal((await storage.notifications.cancel(id)).kind, 'cancelled')
    assert.deepEqual(await start(storage, [job]), [false])
    assert.deepEqual(await storage.renew([job], LEASE_MS), [false])
  })

  check('cancel comes too late while an attempt is running', async ({ storage }) => {
    const [id = ''] = await accept(storage, [note()])
    const job = await claimOne(storage)
    await start(storage, [job])
    assert.deepEqual(await storage.notifications.cancel(id), { kind: 'too_late' })
    assert.equal((await storage.notifications.get(id))?.status, 'queued')
    assert.equal((await storage.settle([ended(job)]))[0]?.kind, 'settled')
  })

  check('cancel ends what waits for another attempt, leased or not', async ({ storage, advance }) => {
    for (const leased of [false, true]) {
      const [id = ''] = await accept(storage, [note()])
      const job = await claimOne(storage)
      await start(storage, [job])
      await storage.settle([retried(job, 1_000)])
      if (leased) await advance(2_000)
      const again = leased ? [await claimOne(storage)] : []
      const answer = await storage.notifications.cancel(id)
      assert.ok(answer.kind === 'cancelled')
      assert.deepEqual(
        answer.events.map(({ event, data }) => [event, data.status, data.error]),
        [['notification.cancelled', 'cancelled', undefined]],
      )
      const { status, error } = (await storage.notifications.get(id)) ?? {}
      assert.deepEqual([status, error], ['cancelled', null])
      const timeline = await storage.notifications.timeline(id)
      assert.deepEqual(
        timeline.map(({ type }) => type),
        ['queued', 'attempt_failed', 'cancelled'],
      )
      assert.deepEqual(
        await start(storage, again),
        again.map(() => false),
      )
      await advance(2_000)
      assert.deepEqual(await claim(storage), [])
    }
  })

  check('a cancel says that an earlier attempt may have gone', async ({ storage, advance }) => {
    const [told = ''] = await accept(storage, [note()])
    const job = await claimOne(storage)
    await start(storage, [job])
    const unclear = { type: 'attempt_ambiguous', code: 'delivery_unknown', ambiguous: true } as const
    await storage.settle([{ ...retried(job, 3_600_000), facts: [sent(unclear)] } as Settlement])
    const [lost = ''] = await accept(storage, [note()])
    await start(storage, [await claimOne(storage)])
    await advance(LEASE_MS + 1)
    assert.deepEqual(await claim(storage), [])
    const [failed = ''] = await accept(storage, [note()])
    await deliver(storage, [sent(unclear), sent({ type: 'failed', code: 'delivery_unknown' })])
    const filter = { organizationId: DEFAULT_ORGANIZATION }
    await storage.notifications.retry({ filter, lanes: { email: LANE }, most: 10 })
    // The attempts before a retry count no more.
    for (const [id, code] of [
      [told, 'delivery_unknown'],
      [lost, 'delivery_unknown'],
      [failed, undefined],
    ] as const) {
      const answer = await storage.notifications.cancel(id)
      assert.ok(answer.kind === 'cancelled')
      assert.deepEqual(
        answer.events.map(({ data }) => data.error?.code),
        [code],
      )
      const { status, error } = (await storage.notifications.get(id)) ?? {}
      assert.deepEqual([status, error?.code], ['cancelled', code])
      const last = (await storage.notifications.timeline(id)).at(-1)
      assert.deepEqual(
        [last?.type, last?.fact?.ambiguous],
        ['cancelled', code === undefined ? undefined : true],
      )
    }
    const arrived = { dedupeKey: 'late', organizationId: null, provider: 'smtp', notificationId: told }
    await storage.recordReceipts([{ ...arrived, fact: { type: 'delivered', provider: 'smtp', attempt: 1 } }])
    assert.equal((await storage.notifications.get(told))?.status, 'delivered')
  })

  check('cancel finds that a delivered notification has ended', async ({ storage }) => {
    const [id = ''] = await accept(storage, [note()])
    await deliver(storage)
    assert.deepEqual(await storage.notifications.cancel(id), { kind: 'ended' })
    assert.equal((await storage.notifications.get(id))?.status, 'sent')
  })

  check('of ten cancels in a race one cancels', async ({ storage, secondDoor }) => {
    const [id = ''] = await accept(storage, [note()])
    const answers = await Promise.all(TEN.map(() => storage.notifications.cancel(id)))
    assert.equal(
      countOf(answers, ({ kind }) => kind === 'cancelled'),
      1,
    )
    assert.equal(
      countOf(answers, ({ kind }) => kind === 'ended'),
      9,
    )
    assert.equal((await secondDoor.events()).length, 1)
  })

  check('cancels race with claims of what waits for another attempt: exactly one wins', async (harness) => {
    const { storage, advance, another } = harness
    const other = (await another?.()) ?? storage
    if (other !== storage) await other.start()
    const ids = await accept(storage, notes(30))
    const first = await claim(storage, ids.length)
    await start(storage, first)
    await storage.settle(first.map((job) => retried(job, 1_000)))
    await advance(2_000)
    const begun: string[] = []
    const deliverSome = async (): Promise<void> => {
      for (let jobs = await claim(storage, 3); jobs.length > 0; jobs = await claim(storage, 3)) {
        const started = await start(storage, jobs)
        const running = jobs.filter((_, index) => started[index])
        begun.push(...running.map((job) => idOf(job) ?? ''))
        await storage.settle(running.map((job) => ended(job)))
      }
    }
    const cancelled: string[] = []
    const cancelSome = async (): Promise<void> => {
      for (const id of ids.toReversed())
        if ((await other.notifications.cancel(id)).kind === 'cancelled') cancelled.push(id)
    }
    await Promise.all([deliverSome(), cancelSome()])
    if (other !== storage) await other.stop()
    assert.deepEqual([...begun, ...cancelled].toSorted(), ids.toSorted())
    const states = await storage.notifications.states(ids)
    assert.deepEqual(
      states.map((state) => state?.status),
      ids.map((id) => (cancelled.includes(id) ? 'cancelled' : 'sent')),
    )
  })

  check('a cancel and a start in a race: exactly one wins', async ({ storage, advance }) => {
    for (const [tried, cancelFirst] of [true, false].flatMap((one) =>
      [true, false].map((two) => [one, two]),
    )) {
      const [id = ''] = await accept(storage, [note()])
      let job = await claimOne(storage)
      if (tried) {
        await start(storage, [job])
        await storage.settle([retried(job, 1_000)])
        await advance(2_000)
        job = await claimOne(storage)
      }
      assert.equal(idOf(job), id)
      const cancel = (): Promise<boolean> =>
        storage.notifications.cancel(id).then(({ kind }) => kind === 'cancelled')
      const begin = (): Promise<boolean> => start(storage, [job]).then(([begun]) => begun === true)
      const [a, b] = await Promise.all(cancelFirst ? [cancel(), begin()] : [begin(), cancel()])
      assert.notEqual(a, b)
    }
  })
}
