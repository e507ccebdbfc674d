import assert from 'node:assert/strict'
import type { Fact } from '../../core/notification/facts.ts'
import type { Storage } from '../../core/ports/storage/storage.ts'
import { DEFAULT_ORGANIZATION } from '../../core/tenancy/organization.ts'
import {
  accept,
  claim,
  claimOne,
  deliver,
  ended,
  endpoint,
  jobOf,
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
  totalsByLane,
} from './fixtures.ts'
import type { Check } from './harness.ts'

const MOST = 1_000
const organizationId = DEFAULT_ORGANIZATION
const HOUR = 3_600_000

async function now(storage: Storage): Promise<number> {
  const [answer] = await storage.accept([{ organizationId, notifications: [] }])
  assert.ok(answer?.kind === 'accepted')
  return answer.createdAt
}

export function statisticsChecks(check: Check): void {
  check('the log counts each notification once for each thing that happened in a time', async (harness) => {
    const { storage } = harness
    const from = await now(storage)
    const other = await organization(storage)
    await accept(storage, notes(4))
    await accept(storage, notes(2), other)
    await deliver(storage, [
      sent(),
      { type: 'delivered', provider: 'smtp' },
      { type: 'opened', provider: 'smtp' },
    ])
    // Its first attempts failed, and it was retried.
    await deliver(storage, [
      { type: 'failed', code: 'provider_error' },
      sent(),
      { type: 'bounced', provider: 'smtp' },
      { type: 'undelivered', provider: 'smtp' },
    ])
    await deliver(storage, [{ type: 'failed', code: 'expired', message: '"type":"sent"' }])
    const span = { organizationId, from, until: from + HOUR }
    const first = await storage.logs.count(span, MOST)
    await harness.advance(HOUR)
    await deliver(storage, [sent()])
    await accept(storage, [note()])
    assert.deepEqual(await storage.logs.count(span, MOST), first)
    const { accepted, exact } = first
    assert.deepEqual([accepted, exact], [4, true])
    const later = await storage.logs.count({ ...span, from: from + HOUR, until: from + 2 * HOUR }, MOST)
    // The deliveries alternate between the organizations.
    const theirs = await storage.logs.count({ ...span, organizationId: other }, MOST)
    const theirsLater = await storage.logs.count(
      { organizationId: other, from: from + HOUR, until: from + 2 * HOUR },
      MOST,
    )
    const all = [first, theirs, later, theirsLater]
    const sum = (name: 'sent' | 'delivered' | 'failed' | 'bounced') =>
      all.reduce((total, counts) => total + counts[name], 0)
    assert.deepEqual([sum('sent'), sum('delivered'), sum('failed'), sum('bounced')], [3, 1, 2, 1])
    assert.deepEqual([theirs.accepted, later.accepted, theirsLater.accepted], [2, 1, 0])
    const none = await storage.logs.count({ ...span, organizationId: 'org_unknown' }, MOST)
    assert.deepEqual(none, { accepted: 0, sent: 0, delivered: 0, failed: 0, bounced: 0, exact: true })
  })

  check('a count of the log stops where it is told to', async ({ storage }) => {
    const from = await now(storage)
    await accept(storage, notes(3))
    const span = { organizationId, from, until: from + HOUR }
    assert.deepEqual(await storage.logs.count(span, 2), {
      accepted: 2,
      sent: 0,
      delivered: 0,
      failed: 0,
      bounced: 0,
      exact: false,
    })
    for (let count = 0; count < 3; count += 1) await deliver(storage)
    const counted = await storage.logs.count(span, 2)
    assert.deepEqual([counted.sent, counted.exact], [2, false])
    assert.equal((await storage.logs.count(span, 4)).exact, true)
  })

  check('failures are listed newest first, in pages, with why and where', async (harness) => {
    const { storage } = harness
    const other = await organization(storage)
    const failed = (change: Partial<Fact>): Fact[] => [{ type: 'failed', code: 'expired', ...change }]
    const from = await now(storage)
    await accept(storage, [note()])
    await deliver(storage)
    const facts = [
      failed({ provider: 'smtp' }),
      failed({ code: 'provider_error' }),
      failed({ provider: 'ses' }),
    ]
    for (const each of facts) {
      await harness.advance(1_000)
      await accept(storage, [note()])
      await deliver(storage, each)
    }
    await accept(storage, [note()], other)
    await deliver(storage, failed({}))
    const read = await readAll((request) => storage.notifications.failures({ organizationId }, request), 2)
    assert.deepEqual(
      read.map(({ channel, provider, code, createdAt }) => [channel, provider, code, createdAt - from]),
      [
        ['email', 'ses', 'expired', 3_000],
        ['email', null, 'provider_error', 2_000],
        ['email', 'smtp', 'expired', 1_000],
      ],
    )
    const span = { organizationId, from: from + 2_000, until: from + 3_000 }
    const { items } = await storage.notifications.failures(span, page({ limit: 1_000 }))
    assert.deepEqual(items, [read[1]])
  })

  check('the job of a notification tells where its delivery stands', async (harness) => {
    const { storage } = harness
    const job = (id: string) => jobOf(storage, id)
    const began = await now(storage)
    const [later = ''] = await accept(storage, [note({ sendAt: began + HOUR })])
    assert.deepEqual(await job(later), { lane: LANE, state: 'scheduled', jobs: 1, dueAt: began + HOUR })
    const [id = ''] = await accept(storage, [note()])
    assert.deepEqual(await job(id), { lane: LANE, state: 'due', jobs: 1, dueAt: began })
    const claimed = await claimOne(storage)
    assert.equal((await job(id))?.state, 'running')
    await start(storage, [claimed])
    await storage.settle([retried(claimed, HOUR)])
    assert.deepEqual(await job(id), { lane: LANE, state: 'retrying', jobs: 1, dueAt: began + HOUR })
    await harness.advance(HOUR)
    assert.equal((await job(id))?.state, 'due')
    await claimOne(storage)
    await harness.advance(LEASE_MS)
    for (const each of [id, later]) assert.equal((await job(each))?.state, 'due')
    const [ending] = await claim(storage)
    assert.ok(ending?.kind === 'notification')
    await storage.settle([ended(ending, [{ type: 'failed', code: 'expired' }])])
    assert.equal(await job(ending.notification.id), undefined)
    assert.equal(await job('notif_1'), undefined)
  })

  check('what waits is counted for one organization', async (harness) => {
    const { storage } = harness
    const waiting = async (organizationId: string, lanes: readonly string[], most: number) => {
      const totals = Object.values(await totalsByLane(storage, most, { organizationId, lanes }))
      const sum = (state: 'due' | 'scheduled' | 'retrying' | 'running') =>
        totals.reduce((all, each) => all + each[state], 0)
      const [due, scheduled, retrying, running] = [
        sum('due'),
        sum('scheduled'),
        sum('retrying'),
        sum('running'),
      ]
      const ages = totals.flatMap(({ oldestDueMs }) => oldestDueMs ?? [])
      return { due, scheduled, retrying, running, oldestDueMs: ages.length === 0 ? null : Math.max(...ages) }
    }
    const other = await organization(storage)
    const nothing = { due: 0, scheduled: 0, retrying: 0, running: 0, oldestDueMs: null }
    assert.deepEqual(await waiting(organizationId, [LANE], MOST), nothing)
    const { id } = await endpoint(storage)
    const later = { sendAt: (await now(storage)) + HOUR }
    await accept(storage, [note()])
    const retry = await claimOne(storage)
    await start(storage, [retry])
    await storage.settle([retried(retry, HOUR)])
    await accept(storage, [note()])
    await deliver(storage)
    const event = await claimOne(storage, id)
    await storage.release([event])
    await accept(storage, [note()])
    await claim(storage, 1)
    await accept(storage, [note(later), note(later), note({ ...later, lane: 'sms' })])
    await accept(storage, [note(), note({ priority: 'high' }), note({ lane: 'gone' })])
    await accept(storage, [note(), note(later)], other)
    await harness.advance(10_000)
    const counted = await waiting(organizationId, [LANE, 'sms'], MOST)
    assert.deepEqual(counted, { due: 2, scheduled: 3, retrying: 1, running: 1, oldestDueMs: 10_000 })
    const bounded = await waiting(organizationId, [LANE, 'sms'], 1)
    // A storage may count each lane, state and priority apart.
    assert.ok([1, 2].includes(bounded.due) && bounded.running === 1)
    assert.ok([1, 2, 3].includes(bounded.scheduled + bounded.retrying))
    const theirs = await waiting(other, [LANE], MOST)
    assert.deepEqual([theirs.due, theirs.scheduled], [1, 1])
    await harness.advance(LEASE_MS)
    const expired = await waiting(organizationId, [LANE, 'gone'], MOST)
    assert.deepEqual([expired.due, expired.running], [4, 0])
    const jobs = await claim(storage)
    await storage.settle(jobs.map((job) => ended(job)))
    assert.equal((await waiting(organizationId, [LANE], MOST)).due, 0)
  })
}
