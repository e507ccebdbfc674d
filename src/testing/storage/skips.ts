import assert from 'node:assert/strict'
import type { Fact } from '../../core/notification/facts.ts'
import type { NewNotification } from '../../core/notification/notification.ts'
import type { AcceptRequest } from '../../core/ports/storage/accept.ts'
import type { Storage } from '../../core/ports/storage/storage.ts'
import { DEFAULT_ORGANIZATION } from '../../core/tenancy/organization.ts'
import {
  accept,
  claim,
  claimOne,
  ended,
  endpoint,
  jobOf,
  LANE,
  note,
  page,
  sent,
  start,
  unique,
} from './fixtures.ts'
import type { Check } from './harness.ts'
import { otherKind } from './record-fixtures.ts'

const SKIPPED: Fact = {
  type: 'skipped',
  code: 'unsubscribed',
  message: 'Off for this category.',
  decidedBy: 'recipient_category',
}
const QUOTA = { period: '2026-01', limit: 2 }

const uncounted = (): NewNotification => note({ addressees: 0 })

const request = (notifications: readonly NewNotification[], limit = 2): AcceptRequest => ({
  organizationId: DEFAULT_ORGANIZATION,
  notifications,
  quota: { ...QUOTA, limit },
})

async function admitted(storage: Storage, asked: AcceptRequest): Promise<number> {
  const [answer] = await storage.accept([asked])
  assert.ok(answer?.kind === 'accepted')
  return answer.admitted
}

/** Skips the one that is due. */
async function skip(storage: Storage): Promise<void> {
  const job = await claimOne(storage)
  const [answer] = await storage.settle([ended(job, [SKIPPED])])
  assert.equal(answer?.kind, 'settled')
}

export function skipChecks(check: Check): void {
  check('what is skipped has ended, with the reason and what decided', async ({ storage, secondDoor }) => {
    const { id: endpointId } = await endpoint(storage, { events: ['notification.skipped'] })
    const [id = ''] = await accept(storage, [note()])
    await skip(storage)
    const reason = { code: 'unsubscribed', message: SKIPPED.message }
    const found = await storage.notifications.get(id)
    assert.deepEqual(
      [found?.status, found?.error],
      ['skipped', { ...reason, decidedBy: 'recipient_category' }],
    )
    assert.deepEqual((await storage.notifications.timeline(id)).at(-1)?.fact, SKIPPED)
    const log = await storage.logs.list({ organizationId: DEFAULT_ORGANIZATION, status: 'skipped' }, page())
    assert.deepEqual(
      log.items.map(({ type, fact }) => [type, fact?.decidedBy]),
      [['skipped', 'recipient_category']],
    )
    for (const filter of [{ status: 'skipped' as const }, { code: 'unsubscribed' as const }]) {
      const list = await storage.notifications.list(
        { organizationId: DEFAULT_ORGANIZATION, ...filter },
        page(),
      )
      assert.deepEqual(
        list.items.map((one) => one.id),
        [id],
      )
    }
    assert.equal(await jobOf(storage, id), undefined)
    const [job] = await claim(storage, 1, endpointId)
    assert.ok(job?.kind === 'event')
    const { event, data } = JSON.parse(job.delivery.payload)
    assert.deepEqual(
      [event, data.status, data.error, data.decidedBy],
      ['notification.skipped', 'skipped', reason, 'recipient_category'],
    )
    assert.equal((await secondDoor.jobs()).length, 1)
  })

  check('what is skipped is final: neither a retry nor a cancel takes it', async ({ storage }) => {
    const [id = ''] = await accept(storage, [note()])
    await skip(storage)
    const retry = await storage.notifications.retry({
      filter: { organizationId: DEFAULT_ORGANIZATION },
      lanes: { email: LANE },
      most: 10,
    })
    assert.equal(retry.retried, 0)
    assert.equal((await storage.notifications.cancel(id)).kind, 'ended')
    assert.deepEqual(await claim(storage), [])
    const failures = await storage.notifications.failures({ organizationId: DEFAULT_ORGANIZATION }, page())
    assert.deepEqual(failures.items, [])
    const [answer] = await storage.recordReceipts([
      {
        provider: 'smtp',
        organizationId: null,
        dedupeKey: unique(),
        notificationId: id,
        fact: { type: 'complained', provider: 'smtp' },
      },
    ])
    assert.equal(answer?.kind, 'recorded')
    const found = await storage.notifications.get(id)
    assert.deepEqual([found?.status, found?.error?.code], ['skipped', 'unsubscribed'])
  })

  check('the quota does not count what is uncounted', async ({ storage }) => {
    assert.equal(await admitted(storage, request([uncounted(), uncounted(), uncounted()])), 3)
    assert.equal(await storage.quotaUsed(DEFAULT_ORGANIZATION, QUOTA.period), 0)
    assert.equal(await admitted(storage, request([uncounted(), note(), uncounted()])), 3)
    assert.equal(await storage.quotaUsed(DEFAULT_ORGANIZATION, QUOTA.period), 1)
  })

  check('the quota admits the longest part whose counted ones fit', async ({ storage, secondDoor }) => {
    const wanted = [uncounted(), note(), note(), uncounted(), note(), uncounted()]
    assert.equal(await admitted(storage, request(wanted)), 4)
    assert.deepEqual(
      (await secondDoor.notifications()).map(({ id }) => id).toSorted(),
      wanted
        .slice(0, 4)
        .map(({ id }) => id)
        .toSorted(),
    )
    assert.equal(await storage.quotaUsed(DEFAULT_ORGANIZATION, QUOTA.period), 2)
    assert.equal(await admitted(storage, request([uncounted(), note()])), 1)
    assert.equal(await admitted(storage, request([note(), uncounted()])), 0)
    assert.equal(await storage.quotaUsed(DEFAULT_ORGANIZATION, QUOTA.period), 2)
    assert.equal(await admitted(storage, request([uncounted(), note()], 1_000)), 2)
    assert.equal(await storage.quotaUsed(DEFAULT_ORGANIZATION, QUOTA.period), 3)
  })

  check('the quota admits a group as a whole, or nothing of it', async ({ storage, secondDoor }) => {
    const grouped = (groupId: string, change = {}) => note({ recipient: 'user:1', groupId, ...change })
    const [one, other] = [unique(), unique()]
    const first = note()
    const beyond = [grouped(one), grouped(one), uncounted()]
    assert.equal(await admitted(storage, request([first, ...beyond])), 1)
    assert.equal(await admitted(storage, request([grouped(one), grouped(one)])), 0)
    assert.deepEqual(
      (await secondDoor.notifications()).map(({ id }) => id),
      [first.id],
    )
    assert.equal(await storage.quotaUsed(DEFAULT_ORGANIZATION, QUOTA.period), 1)
    const fitting = [grouped(one), grouped(one), grouped(other, { addressees: 0 }), grouped(other)]
    assert.equal(await admitted(storage, request([...fitting, grouped(other)], 4)), 2)
    assert.equal(await admitted(storage, request([grouped(other, { addressees: 0 }), grouped(other)], 4)), 2)
  })

  check(
    'the quota counts each addressee, and admits a notification with all of them or not at all',
    async ({ storage, secondDoor }) => {
      const copied = (addressees: number, change = {}) => note({ addressees, ...change })
      const used = () => storage.quotaUsed(DEFAULT_ORGANIZATION, QUOTA.period)
      const [first, second] = [copied(3), note()]
      assert.equal(await admitted(storage, request([first, second, copied(3), note()], 6)), 2)
      assert.deepEqual(
        (await secondDoor.notifications()).map(({ id }) => id).toSorted(),
        [first.id, second.id].toSorted(),
      )
      assert.equal(await used(), 4)
      assert.equal(await admitted(storage, request([copied(3)], 6)), 0)
      const groupId = unique()
      const group = [copied(1, { groupId }), copied(2, { groupId })].map((one) => ({
        ...one,
        recipient: 'user:1',
      }))
      assert.equal(await admitted(storage, request(group, 6)), 0)
      assert.equal(await admitted(storage, request(group, 7)), 2)
      assert.equal(await used(), 7)
      // Far from the limit, where a storage may count without a lock.
      assert.equal(await admitted(storage, request([copied(101)], 1_000_000)), 1)
      assert.equal(await used(), 108)
    },
  )

  check('a shared commit counts each request by its own', async ({ storage }) => {
    const answers = await storage.accept([
      request([uncounted(), note()], 1_000),
      request([uncounted()], 1_000),
      request([note(), note()], 1_000),
    ])
    assert.deepEqual(
      answers.map((answer) => (answer.kind === 'accepted' ? answer.admitted : answer.kind)),
      [2, 1, 2],
    )
    assert.equal(await storage.quotaUsed(DEFAULT_ORGANIZATION, QUOTA.period), 3)
  })

  check('a bounce of a copy suppresses its address and changes no status', async ({ storage }) => {
    const [id = ''] = await accept(storage, [note({ copies: ['copy@example.com'] })])
    const job = await claimOne(storage)
    await start(storage, [job])
    await storage.settle([ended(job, [sent({ providerMessageId: 'm-1' })])])
    const bounce: Fact = {
      type: 'bounced',
      provider: 'smtp',
      providerMessageId: 'm-1',
      code: 'invalid_recipient',
      address: 'copy@example.com',
      suppress: 'hard_bounce',
    }
    const report = { provider: 'smtp', organizationId: null, dedupeKey: unique(), fact: bounce }
    const [answer] = await storage.recordReceipts([report])
    assert.ok(answer?.kind === 'recorded')
    assert.deepEqual(answer.events, [])
    assert.equal((await storage.notifications.get(id))?.status, 'sent')
    const recorded = { ...bounce, type: 'reported' }
    assert.deepEqual((await storage.notifications.timeline(id)).at(-1)?.fact, recorded)
    const { items } = await storage.records.list(otherKind, { organizationId: DEFAULT_ORGANIZATION }, page())
    assert.equal(items.length, 1)
    assert.match(items[0]?.id ?? '', /copy@example\.com/)
    const own = { ...bounce, address: 'Ada@example.com' }
    await storage.recordReceipts([{ ...report, dedupeKey: unique(), fact: own }])
    assert.equal((await storage.notifications.get(id))?.status, 'failed')
  })
}
