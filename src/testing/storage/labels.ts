import assert from 'node:assert/strict'
import type { Labels, PartialLabels } from '../../core/notification/labels.ts'
import type { NewNotification } from '../../core/notification/notification.ts'
import type { LogFilter } from '../../core/ports/storage/logs.ts'
import type { NotificationFilter } from '../../core/ports/storage/notifications.ts'
import type { Storage } from '../../core/ports/storage/storage.ts'
import { DEFAULT_ORGANIZATION } from '../../core/tenancy/organization.ts'
import {
  accept,
  claim,
  claimOne,
  deliver,
  ended,
  endpoint,
  LANE,
  NO_LABELS as NONE,
  note,
  organization,
  page,
  readAll,
  start,
} from './fixtures.ts'
import type { Check } from './harness.ts'

const WHOLE: Labels = {
  metadata: { order: '4711', 'shop.id': 'ü "quoted" \\ 😀', empty: '' },
  recipient: 'user:42',
  category: 'cat_news',
  groupId: 'grp_1',
}
const DAY = 86_400_000

const labelsOf = ({ metadata, recipient, category, groupId }: Labels): Labels => ({
  metadata,
  recipient,
  category,
  groupId,
})

const labelled = (labels: PartialLabels, change: Partial<NewNotification> = {}): NewNotification =>
  note({ ...labels, ...change })

async function listed(storage: Storage, filter: Partial<NotificationFilter>): Promise<string[]> {
  const found = await storage.notifications.list({ organizationId: DEFAULT_ORGANIZATION, ...filter }, page())
  assert.equal(found.nextCursor, null)
  return found.items.map(({ id }) => id)
}

/** What the log has, newest first, in every page. */
async function logged(storage: Storage, filter: Partial<LogFilter>): Promise<string[]> {
  const entries = await readAll(
    (request) => storage.logs.list({ organizationId: DEFAULT_ORGANIZATION, ...filter }, request),
    3,
  )
  return entries.map(({ notificationId, type }) => `${notificationId} ${type}`)
}

/** Makes them fail at their first attempt. */
async function fail(storage: Storage, count: number): Promise<void> {
  const jobs = await claim(storage, count)
  await start(storage, jobs)
  await storage.settle(
    jobs.map((job) => ended(job, [{ type: 'failed', attempt: 1, provider: 'smtp', code: 'provider_error' }])),
  )
}

export function labelChecks(check: Check): void {
  for (const [what, given, expected] of [
    ['all labels', WHOLE, WHOLE],
    ['no labels', {}, NONE],
    ['only a recipient', { recipient: 'user:1' }, { ...NONE, recipient: 'user:1' }],
    ['only metadata', { metadata: { a: 'b' } }, { ...NONE, metadata: { a: 'b' } }],
  ] as const) {
    check(`labels are read everywhere as they were given: ${what}`, async ({ storage }) => {
      const [id = ''] = await accept(storage, [labelled(given)])
      const found = await storage.notifications.get(id)
      assert.ok(found)
      assert.deepEqual(labelsOf(found), expected)
      const { items } = await storage.notifications.list({ organizationId: DEFAULT_ORGANIZATION }, page())
      assert.deepEqual(items.map(labelsOf), [expected])
      const job = await claimOne(storage)
      assert.ok(job.kind === 'notification')
      assert.deepEqual(labelsOf(job.notification), expected)
      await start(storage, [job])
      await storage.settle([ended(job)])
      const log = await storage.logs.list({ organizationId: DEFAULT_ORGANIZATION }, page())
      assert.deepEqual(log.items.map(labelsOf), [expected, expected])
    })
  }

  check('events carry the labels that are present, and no others', async ({ storage, secondDoor }) => {
    const { id: endpointId } = await endpoint(storage)
    await accept(storage, [labelled({ recipient: 'user:42', metadata: { order: '4711' } })])
    await deliver(storage)
    await accept(storage, [note()])
    await deliver(storage)
    assert.equal((await secondDoor.deliveries()).length, 2)
    const jobs = await claim(storage, 2, endpointId)
    const data = jobs.map((job) => (job.kind === 'event' ? JSON.parse(job.delivery.payload).data : null))
    const [first, second] = data
    assert.deepEqual(
      [first.metadata, first.recipient, 'category' in first, 'groupId' in first],
      [{ order: '4711' }, 'user:42', false, false],
    )
    assert.ok(!('metadata' in second) && !('recipient' in second))
  })

  check('lists find notifications by each label', async ({ storage }) => {
    const other = await organization(storage)
    await accept(storage, [labelled(WHOLE)], other)
    const [a = '', b = '', , d = ''] = await accept(storage, [
      labelled(WHOLE),
      labelled({ ...WHOLE, metadata: { order: '4711', shop: 'b' }, groupId: 'grp_2' }),
      labelled({ metadata: { order: '47110' }, recipient: 'user:4', category: 'cat', groupId: 'grp_' }),
      labelled({ metadata: { Order: '4711', shop: 'b', ['__proto__']: 'x' }, recipient: 'USER:42' }),
      note(),
    ])
    assert.deepEqual(await listed(storage, { metadata: { order: '4711' } }), [b, a])
    assert.deepEqual(await listed(storage, { metadata: { empty: '' } }), [a])
    assert.deepEqual(await listed(storage, { metadata: { 'shop.id': 'ü "quoted" \\ 😀' } }), [a])
    assert.deepEqual(await listed(storage, { metadata: { toString: 'x' } }), [])
    assert.deepEqual(await listed(storage, { recipient: 'user:42' }), [b, a])
    assert.deepEqual(await listed(storage, { category: 'cat_news' }), [b, a])
    assert.deepEqual(await listed(storage, { groupId: 'grp_2' }), [b])
    assert.deepEqual(await listed(storage, { metadata: { shop: 'b' } }), [d, b])
    assert.equal((await listed(storage, { metadata: {} })).length, 5)
    assert.equal((await listed(storage, { organizationId: other, metadata: { order: '4711' } })).length, 1)
  })

  check('a filter by labels compares whole texts, and none is a pattern', async ({ storage }) => {
    const [plain = '', pattern = ''] = await accept(storage, [
      labelled({
        metadata: { order: '4711', shop: 'b' },
        recipient: 'user:1',
        category: 'cat_a',
        groupId: 'grp_a',
      }),
      labelled({
        metadata: { order: '4%', shop: '_' },
        recipient: 'user:%',
        category: 'cat_%',
        groupId: 'grp__',
      }),
    ])
    for (const text of ['%', '_', '4%', '47__', '4*', '4???', '[4]711', '4.11', '4711 ']) {
      const expected = text === '4%' ? [pattern] : []
      assert.deepEqual(await listed(storage, { metadata: { order: text } }), expected, text)
      // The first pair is looked up in its index, a further one is compared.
      const further = { metadata: { shop: expected.length === 0 ? 'b' : '_', order: text } }
      assert.deepEqual(await listed(storage, further), expected, text)
    }
    assert.deepEqual(await listed(storage, { metadata: { order: '4711', shop: 'B' } }), [])
    assert.deepEqual(await listed(storage, { metadata: { order: '4711', shop: '_' } }), [])
    for (const filter of [
      { recipient: 'user:%' },
      { category: 'cat_%' },
      { groupId: 'grp__' },
      { metadata: { shop: '_' } },
    ])
      assert.deepEqual(await listed(storage, filter), [pattern], JSON.stringify(filter))
    const all = await logged(storage, { metadata: { shop: '_', order: '4%' } })
    assert.deepEqual(all, [`${pattern} queued`])
    await fail(storage, 2)
    const { retried } = await storage.notifications.retry({
      filter: { organizationId: DEFAULT_ORGANIZATION, metadata: { order: '4%' } },
      lanes: { email: LANE },
      most: 100,
    })
    assert.equal(retried, 1)
    assert.deepEqual(await listed(storage, { status: 'failed' }), [plain])
  })

  check('lists by labels match all of them, along with other filters', async ({ storage }) => {
    const [a = '', b = '', c = ''] = await accept(storage, [
      labelled({ ...WHOLE, metadata: { order: '1', shop: 'a' } }),
      labelled({ ...WHOLE, metadata: { order: '1', shop: 'b' } }, { to: 'bob@example.com' }),
      labelled({ metadata: { order: '1', shop: 'b' } }, { channel: 'push', lane: 'push/x' }),
    ])
    assert.deepEqual(await listed(storage, { metadata: { order: '1', shop: 'b' } }), [c, b])
    assert.deepEqual(await listed(storage, { metadata: { shop: 'b', order: '1' } }), [c, b])
    assert.deepEqual(await listed(storage, { metadata: { order: '1', shop: 'c' } }), [])
    assert.deepEqual(await listed(storage, { metadata: { order: '1', shop: 'b' }, recipient: 'user:42' }), [
      b,
    ])
    assert.deepEqual(await listed(storage, { recipient: 'user:42', metadata: { shop: 'a' } }), [a])
    assert.deepEqual(await listed(storage, { recipient: 'user:42', category: 'cat_other' }), [])
    assert.deepEqual(await listed(storage, { metadata: { order: '1' }, channel: 'push' }), [c])
    assert.deepEqual(await listed(storage, { category: 'cat_news', to: 'bob@example.com' }), [b])
    assert.deepEqual(await listed(storage, { metadata: { order: '1' }, status: 'queued' }), [c, b, a])
    assert.deepEqual(await listed(storage, { ids: [a, c], metadata: { shop: 'b' } }), [c])
    assert.deepEqual(await listed(storage, { ids: [a, c], recipient: 'user:42' }), [a])
    await fail(storage, 1)
    assert.deepEqual(await listed(storage, { metadata: { order: '1' }, status: 'failed' }), [a])
    assert.deepEqual(await listed(storage, { recipient: 'user:42', status: 'queued' }), [b])
    assert.deepEqual(await listed(storage, { ids: [a, b], recipient: 'user:42', status: 'failed' }), [a])
  })

  check('pages cover a list by a label once, in spite of new ones', async (harness) => {
    const { storage } = harness
    const wanted: string[] = []
    const labels = { metadata: { order: '1' }, recipient: 'user:1' }
    for (let round = 0; round < 6; round += 1) {
      wanted.push(...(await accept(storage, [labelled(labels), labelled(labels), labelled(labels)])))
      await accept(storage, [labelled({ metadata: { order: '2' }, recipient: 'user:2' }), note()])
      await harness.advance(round % 2)
    }
    const newest = wanted.toReversed()
    for (const filter of [{ metadata: { order: '1' } }, { recipient: 'user:1' }, labels]) {
      const found = await readAll(
        (request) => storage.notifications.list({ organizationId: DEFAULT_ORGANIZATION, ...filter }, request),
        4,
        async () => void (await accept(storage, [labelled(labels)])),
      )
      const ids = found.map(({ id }) => id).filter((id) => newest.includes(id))
      assert.deepEqual(ids, newest)
    }
    const offset = await storage.notifications.list(
      { organizationId: DEFAULT_ORGANIZATION, recipient: 'user:2' },
      page({ limit: 2, offset: 1 }),
    )
    assert.equal(offset.items.length, 2)
  })

  check('the log is read by labels', async (harness) => {
    const { storage } = harness
    const [a = ''] = await accept(storage, [labelled({ ...WHOLE, metadata: { order: '1', shop: 'a' } })])
    await deliver(storage)
    await harness.advance(10)
    const [b = ''] = await accept(storage, [labelled({ recipient: 'user:42', metadata: { order: '1' } })])
    await accept(storage, [note()])
    await storage.recordReceipts([
      {
        provider: 'smtp',
        organizationId: null,
        dedupeKey: 'late',
        notificationId: a,
        fact: { type: 'delivered', provider: 'smtp' },
      },
    ])
    const all = [`${a} delivered`, `${b} queued`, `${a} sent`, `${a} queued`]
    const sorted = (entries: readonly string[]) => entries.toSorted()
    assert.deepEqual(sorted(await logged(storage, { metadata: { order: '1' } })), sorted(all))
    assert.deepEqual((await logged(storage, { metadata: { order: '1' } })).slice(-2), all.slice(-2))
    assert.deepEqual(await logged(storage, { metadata: { order: '1', shop: 'b' } }), [])
    assert.deepEqual(await logged(storage, { groupId: 'grp_1', status: 'queued' }), [`${a} queued`])
    assert.deepEqual(await logged(storage, { category: 'cat_news', channel: 'push' }), [])
    assert.deepEqual(await logged(storage, { notificationId: b, recipient: 'user:42' }), [`${b} queued`])
    assert.deepEqual(await logged(storage, { notificationId: b, recipient: 'user:4' }), [])
  })

  check('a retry by labels takes only those that match all of them', async ({ storage }) => {
    const other = await organization(storage)
    await accept(storage, [labelled(WHOLE)], other)
    const ids = await accept(storage, [
      labelled({ ...WHOLE, metadata: { order: '1', shop: 'a' } }),
      labelled({ ...WHOLE, metadata: { order: '1', shop: 'b' } }),
      note(),
    ])
    await fail(storage, 4)
    await accept(storage, [labelled({ ...WHOLE, metadata: { order: '1', shop: 'b' } })])
    const retry = (filter: Partial<NotificationFilter>, most = 100) =>
      storage.notifications.retry({
        filter: { organizationId: DEFAULT_ORGANIZATION, ...filter },
        lanes: { email: LANE },
        most,
      })
    const dry = await storage.notifications.retry({
      filter: { organizationId: DEFAULT_ORGANIZATION, recipient: 'user:42' },
      lanes: { email: LANE },
      most: 100,
      dryRun: true,
    })
    assert.equal(dry.retried, 2)
    assert.deepEqual((await retry({ metadata: { order: '1', shop: 'c' } })).retried, 0)
    const first = await retry({ metadata: { order: '1', shop: 'b' } }, 1)
    assert.equal(first.retried + (await retry({ metadata: { order: '1', shop: 'b' } })).retried, 1)
    assert.deepEqual(await listed(storage, { status: 'failed' }), [ids[2], ids[0]])
    assert.equal((await retry({ groupId: 'grp_1' })).retried, 1)
    assert.deepEqual(await listed(storage, { status: 'failed' }), [ids[2]])
  })

  check('what a notification is labelled with is removed with it', async (harness) => {
    const { storage, secondDoor } = harness
    const own = await organization(storage)
    const left = await organization(storage)
    await accept(storage, [labelled(WHOLE), labelled(WHOLE), note()], own)
    await accept(storage, [labelled(WHOLE)], left)
    const jobs = await claim(storage)
    await start(storage, jobs)
    await storage.settle(jobs.map((job) => ended(job)))
    await harness.advance(8 * DAY)
    const before = await secondDoor.owned(left)
    const { removed } = await storage.expire({
      what: { organizationId: own, olderThanMs: 7 * DAY },
      most: 100,
    })
    assert.equal(removed.notifications, 3)
    assert.deepEqual(Object.keys(await secondDoor.owned(own)).length, 1)
    assert.deepEqual(await secondDoor.owned(left), before)
    const filter = { organizationId: left, metadata: { order: '4711' } }
    assert.equal((await storage.notifications.list(filter, page())).items.length, 1)
  })

  check('an attempt may begin at another address, which the notification then has', async (harness) => {
    const { storage } = harness
    const ids = await accept(storage, [note(), note(), note({ to: 'third@example.com' })])
    const jobs = await claim(storage)
    const refs = jobs.map(({ jobId, token }) => ({ jobId, token, provider: 'smtp' }))
    const [first, second, third] = refs
    assert.ok(first && second && third)
    assert.deepEqual(
      await storage.startAttempts([
        { ...first, to: 'new@example.com' },
        { ...second, token: second.token + 1, to: 'wrong@example.com' },
        third,
      ]),
      [true, false, true],
    )
    const to = async () =>
      (await Promise.all(ids.map((id) => storage.notifications.get(id)))).map((found) => found?.to)
    assert.deepEqual(await to(), ['new@example.com', 'ada@example.com', 'third@example.com'])
    assert.deepEqual(await listed(storage, { to: 'new@example.com' }), [ids[0]])
    await harness.advance(61_000)
    const again = (await storage.claim({ recovered: [LANE], leaseMs: 1_000 })).jobs
    assert.deepEqual(
      again.map((job) => (job.kind === 'notification' ? job.notification.to : null)),
      ['new@example.com'],
    )
    assert.equal((await storage.notifications.timeline(ids[0] ?? '')).length, 2)
  })
}
