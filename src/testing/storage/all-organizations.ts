import assert from 'node:assert/strict'
import type { NewNotification } from '../../core/notification/notification.ts'
import type { NotificationFilter } from '../../core/ports/storage/notifications.ts'
import type { PageRequest } from '../../core/ports/storage/page.ts'
import type { Storage } from '../../core/ports/storage/storage.ts'
import { ALL_ORGANIZATIONS } from '../../core/tenancy/all-organizations.ts'
import { DEFAULT_ORGANIZATION } from '../../core/tenancy/organization.ts'
import {
  accept,
  claim,
  deliver,
  ended,
  LANE,
  note,
  notes,
  organization,
  page,
  readAll,
  sent,
  start,
} from './fixtures.ts'
import type { Check, StorageHarness } from './harness.ts'

const all = { organizationId: ALL_ORGANIZATIONS }
const MOST = 1_000
const HOUR = 3_600_000
/** Rows between matches in a storage that examines all. */
const FAR = 3_000
const RARE = { channel: 'sms', to: '+4917', lane: LANE } as const

/** The time of the storage, in epoch milliseconds. */
async function now(storage: Storage): Promise<number> {
  const [answer] = await storage.accept([{ organizationId: DEFAULT_ORGANIZATION, notifications: [] }])
  assert.ok(answer?.kind === 'accepted')
  return answer.createdAt
}

/** With an id that was made at this time. Of equal times, a higher number sorts above. */
function noteOf(at: number, number: number, change: Partial<NewNotification> = {}): NewNotification {
  return note({ ...change, id: `notif_${String(at).padStart(13, '0')}${String(number).padStart(21, '0')}` })
}

/** Those of two organizations in turn, a second apart. Returns their ids, in the order of lists, and the first time. */
async function acceptInTurn(
  { storage, advance }: StorageHarness,
  count: number,
  change: (index: number) => Partial<NewNotification> = () => ({}),
) {
  const owners = [DEFAULT_ORGANIZATION, await organization(storage)]
  const from = await now(storage)
  const accepted: { id: string; organizationId: string }[] = []
  for (let index = 0; index < count; index += 1) {
    const organizationId = owners[index % 2] ?? ''
    const [id = ''] = await accept(storage, [noteOf(from + 1_000 * index, 0, change(index))], organizationId)
    accepted.unshift({ id, organizationId })
    await advance(1_000)
  }
  return { from, accepted, ids: accepted.map(({ id }) => id) }
}

async function listed(
  storage: Storage,
  filter: Partial<NotificationFilter> = {},
  request: Partial<PageRequest> = {},
): Promise<string[]> {
  const { items } = await storage.notifications.list({ ...all, ...filter }, page(request))
  return items.map(({ id }) => id)
}

export function allOrganizationChecks(check: Check): void {
  check('notifications of all organizations are listed with their owners, by id', async (harness) => {
    const { storage } = harness
    const { accepted, ids, from } = await acceptInTurn(harness, 7)
    const { items, nextCursor } = await storage.notifications.list(all, page())
    const found = items.map(({ id, organizationId }) => ({ id, organizationId }))
    assert.deepEqual([found, nextCursor], [accepted, null])
    assert.deepEqual(await listed(storage, {}, { limit: 2, offset: 3 }), ids.slice(3, 5))
    // The order is that of ids, also within one moment and where the clocks of processes differ.
    const late = [noteOf(from, 9), noteOf(from, 4), noteOf(from - HOUR, 1)]
    await accept(storage, late)
    const whole = [...ids, ...late.map(({ id }) => id)].sort().reverse()
    for (const limit of [1, 3, 10]) {
      const read = await readAll((request) => storage.notifications.list(all, request), limit)
      assert.deepEqual(
        read.map(({ id }) => id),
        whole,
      )
    }
  })

  check('lists of all organizations are filtered as those of one', async (harness) => {
    const { storage } = harness
    const labels = {
      recipient: 'ada',
      category: 'cat_1',
      groupId: 'grp_1',
      metadata: { order: '1', at: 'x' },
    }
    const { ids } = await acceptInTurn(harness, 4, (index) => (index < 2 ? { ...RARE, ...labels } : {}))
    const [d = '', c = '', b = '', a = ''] = ids
    await storage.notifications.cancel(b)
    for (const filter of [
      { channel: 'sms' },
      { to: RARE.to },
      { recipient: 'ada' },
      { category: 'cat_1' },
      { groupId: 'grp_1' },
      { metadata: { at: 'x', order: '1' } },
    ]) {
      assert.deepEqual(await listed(storage, filter), [b, a])
    }
    assert.deepEqual(await listed(storage, { status: 'cancelled' }), [b])
    assert.deepEqual(await listed(storage, { status: 'queued' }), [d, c, a])
    assert.deepEqual(await listed(storage, { status: 'queued', channel: 'sms' }), [a])
    assert.deepEqual(await listed(storage, { ids: [a, 'notif_0', c] }), [c, a])
    const { items } = await storage.logs.list({ ...all, metadata: labels.metadata, status: 'queued' }, page())
    assert.deepEqual(
      items.map(({ notificationId }) => notificationId),
      [b, a],
    )
  })

  check('lists of all organizations are bounded by the times in ids', async (harness) => {
    const { storage } = harness
    const { from, ids } = await acceptInTurn(harness, 4)
    const [d = '', c = '', b = '', a = ''] = ids
    assert.deepEqual(await listed(storage, { from: from + 1_000 }), [d, c, b])
    assert.deepEqual(await listed(storage, { until: from + 1_000 }), [a])
    assert.deepEqual(await listed(storage, { from: from + 1_000, until: from + 3_000 }), [c, b])
    assert.deepEqual(await listed(storage, { from: 0, until: Number.MAX_SAFE_INTEGER }), ids)
    // Its process had another time than the storage.
    const [early = ''] = await accept(storage, [noteOf(from - HOUR, 0)])
    assert.deepEqual(await listed(storage, { until: from }), [early])
    assert.deepEqual(await listed(storage, { from }), ids)
    const bounded = { ...all, from: from + 1_000, until: from + 3_000 }
    const read = await readAll((request) => storage.notifications.list(bounded, request), 1)
    assert.deepEqual(
      read.map(({ id }) => id),
      [c, b],
    )
  })

  check(
    'what arrives while lists of all organizations are read neither repeats nor hides',
    async (harness) => {
      const { storage } = harness
      const { ids } = await acceptInTurn(harness, 5)
      let more = 0
      const arrive = async (): Promise<void> => {
        more += 1
        await accept(storage, [noteOf((await now(storage)) + HOUR, more)])
      }
      const read = await readAll((request) => storage.notifications.list(all, request), 2, arrive)
      assert.deepEqual(
        read.map(({ id }) => id),
        ids,
      )
      const log = await readAll((request) => storage.logs.list(all, request), 2, arrive)
      assert.deepEqual(log.map(({ notificationId }) => notificationId).slice(-ids.length), ids)
    },
  )

  check('what failed is listed and found over all organizations', async (harness) => {
    const { storage } = harness
    const { from, accepted, ids } = await acceptInTurn(harness, 5)
    await storage.notifications.cancel(ids[2] ?? '')
    const jobs = await claim(storage)
    await start(storage, jobs)
    const failed = { type: 'failed', attempt: 1, provider: 'smtp', code: 'provider_error' } as const
    await storage.settle(jobs.map((job) => ended(job, [failed])))
    const dead = accepted.filter((_each, index) => index !== 2)
    const list = (request: PageRequest) => storage.notifications.list({ ...all, status: 'failed' }, request)
    for (const limit of [1, 3, 10]) {
      const read = await readAll(list, limit)
      assert.deepEqual(
        read.map(({ id, organizationId }) => ({ id, organizationId })),
        dead,
      )
    }
    const filter = { ...all, status: 'failed', provider: 'smtp', code: 'provider_error' } as const
    assert.deepEqual(await listed(storage, filter, { limit: 2 }), [ids[0], ids[1]])
    assert.deepEqual(await listed(storage, { ...filter, provider: 'ses' }), [])
    const failures = await readAll((request) => storage.notifications.failures(all, request), 3)
    assert.deepEqual(
      failures.map(({ createdAt, code }) => [Math.floor((createdAt - from) / 1_000), code]),
      [4, 3, 1, 0].map((seconds) => [seconds, 'provider_error']),
    )
    const since = { ...all, from: from + 3_000 }
    assert.equal((await storage.notifications.failures(since, page())).items.length, 2)
    // Of one moment, and of the other organization within it.
    const [owner = '', other = ''] = accepted.map(({ organizationId }) => organizationId)
    const at = await now(storage)
    await accept(storage, [noteOf(at, 1), noteOf(at, 2)], owner)
    await accept(storage, [noteOf(at, 3)], other)
    const late = await claim(storage)
    await start(storage, late)
    await storage.settle(late.map((job) => ended(job, [failed])))
    for (const limit of [1, 2])
      assert.equal(
        (await readAll((request) => storage.notifications.failures({ ...all, from: at }, request), limit))
          .length,
        3,
      )
  })

  check('over all organizations, what a deletion removes is gone', async (harness) => {
    const { storage } = harness
    const { from, accepted } = await acceptInTurn(harness, 4)
    const jobs = await claim(storage)
    await start(storage, jobs)
    await storage.settle(
      jobs.map((job) => ended(job, [{ type: 'failed', attempt: 1, code: 'provider_error' }])),
    )
    const gone = accepted.find(({ organizationId }) => organizationId !== DEFAULT_ORGANIZATION)
    const left = accepted.flatMap(({ id, organizationId }) =>
      organizationId === DEFAULT_ORGANIZATION ? id : [],
    )
    const until = (await now(storage)) + HOUR
    const seen = async () => ({
      listed: await listed(storage),
      failures: (await storage.notifications.failures(all, page())).items.length,
      log: new Set((await storage.logs.list(all, page())).items.map((entry) => entry.notificationId)).size,
      accepted: (await storage.logs.count({ ...all, from, until }, MOST)).accepted,
    })
    assert.equal((await seen()).accepted, 4)
    await storage.deletions.begin(gone?.organizationId ?? '', { force: true, kinds: [] })
    for (let steps = 0; steps < 200; steps += 1) {
      const step = await storage.deletions.purge(gone?.organizationId ?? '', 100)
      if (step.left !== 'more' && step.left !== 'transactions') break
    }
    assert.deepEqual(await seen(), { listed: left, failures: 2, log: 2, accepted: 2 })
  })

  check('the log of all organizations has the entries of each notification together', async (harness) => {
    const { storage } = harness
    const { accepted } = await acceptInTurn(harness, 3)
    const jobs = await claim(storage)
    // The oldest is delivered last, and still comes last.
    for (const job of [...jobs].reverse()) {
      await start(storage, [job])
      await storage.settle([
        ended(job, [sent({ provider: 'smtp' }), sent({ type: 'delivered', provider: 'smtp' })]),
      ])
      await harness.advance(1_000)
    }
    const entries = accepted.flatMap(({ id, organizationId }) =>
      ['delivered', 'sent', 'queued'].map((type) => ({ id, organizationId, type })),
    )
    for (const limit of [1, 2, 4, 9]) {
      const read = await readAll((request) => storage.logs.list(all, request), limit)
      assert.deepEqual(
        read.map(({ notificationId: id, organizationId, type }) => ({ id, organizationId, type })),
        entries,
        `pages of ${limit}`,
      )
    }
    const sorted = (await storage.logs.list(all, page({ offset: 2, limit: 3 }))).items
    assert.deepEqual(
      sorted.map(({ type }) => type),
      ['queued', 'delivered', 'sent'],
    )
    const of = async (filter: object): Promise<string[]> =>
      (await storage.logs.list({ ...all, ...filter }, page())).items.map(({ type }) => type)
    assert.deepEqual(await of({ status: 'sent' }), ['sent', 'sent', 'sent'])
    assert.deepEqual(await of({ notificationId: accepted[1]?.id }), ['delivered', 'sent', 'queued'])
    assert.deepEqual(await of({ channel: 'sms' }), [])
  })

  check('the log is counted over all organizations', async (harness) => {
    const { storage } = harness
    const { from } = await acceptInTurn(harness, 4)
    for (let count = 0; count < 3; count += 1) await deliver(storage)
    await accept(storage, [noteOf(from - HOUR, 0)])
    const span = { ...all, from, until: from + HOUR }
    const counted = { accepted: 4, sent: 3, delivered: 0, failed: 0, bounced: 0, exact: true }
    assert.deepEqual(await storage.logs.count(span, MOST), counted)
    assert.deepEqual(await storage.logs.count({ ...span, until: from + 2_000 }, MOST), {
      ...counted,
      accepted: 2,
      sent: 0,
    })
    assert.deepEqual(await storage.logs.count(span, 2), { ...counted, accepted: 2, sent: 2, exact: false })
    await harness.advance(HOUR)
    await deliver(storage, [{ type: 'failed', code: 'expired' }])
    const later = { ...all, from: from + HOUR, until: from + 2 * HOUR }
    assert.deepEqual(await storage.logs.count(later, MOST), { ...counted, accepted: 0, sent: 0, failed: 1 })
  })

  check('what lies far apart is found over all organizations, wherever a page ends', async (harness) => {
    const { storage, examines = FAR } = harness
    const places = new Set([0, examines - 1, examines, examines + 1, 2 * examines - 1, 2 * examines])
    const at = await now(storage)
    const given = Array.from({ length: 2 * examines + 1 }, (_, age) =>
      noteOf(at, age, places.has(2 * examines - age) ? RARE : {}),
    )
    const other = await organization(storage)
    await accept(storage, given.slice(0, examines))
    await accept(storage, given.slice(examines), other)
    const ids = given.flatMap(({ id, to }) => (to === RARE.to ? [id] : [])).reverse()
    for (const limit of [10, 2, 1]) {
      for (const filter of [{ to: RARE.to }, { channel: 'sms', status: 'queued' }] as const) {
        const list = (request: PageRequest) => storage.notifications.list({ ...all, ...filter }, request)
        const read = await readAll(list, limit)
        assert.deepEqual(
          read.map(({ id }) => id),
          ids,
        )
      }
      for (const filter of [{ channel: 'sms' }, { channel: 'sms', status: 'queued' }] as const) {
        const log = await readAll((request) => storage.logs.list({ ...all, ...filter }, request), limit)
        assert.deepEqual(
          log.map(({ notificationId }) => notificationId),
          ids,
        )
      }
    }
  })

  check('lists of all organizations and those of one refuse the cursors of each other', async (harness) => {
    const { storage } = harness
    const owner = { organizationId: DEFAULT_ORGANIZATION }
    await accept(storage, notes(4))
    await deliver(storage)
    const lists = [
      (scope: typeof all, request: PageRequest) => storage.notifications.list(scope, request),
      (scope: typeof all, request: PageRequest) => storage.logs.list(scope, request),
    ]
    for (const list of lists) {
      const cursors = await Promise.all([all, owner].map((scope) => list(scope, page({ limit: 1 }))))
      const [ofAll, ofOne] = cursors.map(({ nextCursor }) => nextCursor ?? undefined)
      await assert.rejects(list(owner, page({ cursor: ofAll })), { code: 'invalid_parameter' })
      await assert.rejects(list(all, page({ cursor: ofOne })), { code: 'invalid_parameter' })
    }
    await assert.rejects(storage.notifications.list(all, page({ cursor: '-5' })), {
      code: 'invalid_parameter',
    })
  })
}
