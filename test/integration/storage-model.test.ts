import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Fact, FactType } from '../../src/core/notification/facts.ts'
import type { LabelFilter, PartialLabels } from '../../src/core/notification/labels.ts'
import type { DelayedFor, NewNotification } from '../../src/core/notification/notification.ts'
import type { ClaimedJob } from '../../src/core/ports/storage/claim.ts'
import type { DelayedOf } from '../../src/core/ports/storage/notifications.ts'
import type { Storage } from '../../src/core/ports/storage/storage.ts'
import { note, organization, page } from '../../src/testing/storage/fixtures.ts'
import type { StorageHarness } from '../../src/testing/storage/harness.ts'
import { mapStorage } from '../map-storage/index.ts'
import { createState } from '../map-storage/state.ts'
import { secondDoor } from '../map-storage-contract/second-door.ts'
import { describeBesideReference } from '../support/beside-reference.ts'

const LANES = ['email/a', 'email/b']
const ORGANIZATIONS = ['org_default', 'org_b']
const LEASE_MS = 1_000
const LABELS: readonly LabelFilter[] = [
  { metadata: { a: '1' } },
  { metadata: { b: '2', a: '1' }, recipient: undefined },
  { recipient: 'r' },
]

type Step =
  | {
      readonly do: 'accept'
      readonly organization: number
      readonly high: boolean
      readonly inMs: number
      readonly labels: PartialLabels
    }
  | { readonly do: 'claim' | 'recover' }
  | { readonly do: 'start' | 'release' | 'renew'; readonly pick: number }
  | {
      readonly do: 'settle'
      readonly pick: number
      readonly how: 'sent' | 'failed' | 'skipped' | 'retry' | 'outage' | 'deliver' | 'gone'
    }
  | { readonly do: 'cancel'; readonly pick: number }
  | { readonly do: 'reschedule'; readonly pick: number; readonly inMs: number | null }
  | { readonly do: 'judgeAgain'; readonly of: DelayedOf }
  | { readonly do: 'receipt'; readonly pick: number; readonly type: FactType; readonly named: boolean }
  | { readonly do: 'disable' | 'enable' | 'redeliver' | 'rotate' }
  | { readonly do: 'advance'; readonly ms: number }

const pick = fc.nat({ max: 30 })
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('accept' as const),
      organization: fc.nat({ max: 1 }),
      high: fc.boolean(),
      inMs: fc.constantFrom(0, 0, 700),
      labels: fc.constantFrom<PartialLabels>(
        {},
        { metadata: { a: '1', b: '2' } },
        { recipient: 'r', groupId: 'g' },
      ),
    }),
  },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('claim' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('recover' as const) }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('start' as const), pick }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('release' as const, 'renew' as const), pick }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('settle' as const),
      pick,
      how: fc.constantFrom(
        'sent' as const,
        'sent' as const,
        'failed' as const,
        'skipped' as const,
        'retry' as const,
        'outage' as const,
        'deliver' as const,
        'gone' as const,
      ),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('cancel' as const), pick }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('reschedule' as const),
      pick,
      inMs: fc.constantFrom(null, -5, 200, 700, 1_500),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('judgeAgain' as const),
      of: fc.constantFrom<DelayedOf>(
        { by: 'all' },
        { by: 'recipient', recipient: 'r' },
        { by: 'address', address: 'email a' },
      ),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('receipt' as const),
      pick,
      type: fc.constantFrom('delivered' as const, 'bounced' as const, 'opened' as const),
      named: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom('disable' as const, 'enable' as const, 'redeliver' as const, 'rotate' as const),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('advance' as const), ms: fc.constantFrom(1, 300, 1_100) }),
  },
)

/** What one storage has been through: the same for both, but for job ids and tokens. */
interface World {
  readonly harness: StorageHarness
  readonly ids: string[]
  /** Every job that was ever claimed, newest lease last; old ones are tried, too. */
  readonly claimed: ClaimedJob[]
  receipts: number
}

/** Names a job by what it is about, because ids differ from storage to storage. */
function nameOf(job: ClaimedJob): string {
  return job.kind === 'notification' ? job.notification.id : `${job.delivery.eventId} → ${job.lane}`
}

function remember(world: World, jobs: readonly ClaimedJob[]): unknown {
  const sorted = [...jobs].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
  world.claimed.push(...sorted)
  return sorted.map(({ jobId, token, ...job }) => job)
}

/** Whom one of the delayed messages is for. */
const delayedForOf = (number: number): DelayedFor => ({
  address: number % 2 === 0 ? 'email a' : 'email b',
  recipient: number % 3 === 0 ? 'r' : null,
})

async function take(
  world: World,
  storage: Storage,
  one: Step,
  fresh: NewNotification,
  now: number,
): Promise<unknown> {
  const at = <Item>(items: readonly Item[], index: number): Item | undefined =>
    items[index % (items.length || 1)]
  switch (one.do) {
    case 'accept': {
      world.ids.push(fresh.id)
      const sendAt = one.inMs === 0 ? null : now + one.inMs
      const priority = one.high ? ('high' as const) : ('normal' as const)
      // Some are due later than they say.
      const dueAt = one.inMs === 700 && one.high ? now + 2 * one.inMs : undefined
      const delayedFor = dueAt === undefined ? undefined : delayedForOf(world.ids.length)
      const notification = { ...fresh, ...one.labels, sendAt, dueAt, delayedFor, priority }
      const organizationId = ORGANIZATIONS[one.organization] ?? ''
      return storage.accept([{ organizationId, notifications: [notification] }])
    }
    case 'claim': {
      const lanes = [...LANES, 'wh_1', 'wh_2'].map((lane) => ({ lane, free: 50 }))
      const { jobs, ...outlook } = await storage.claim({ lanes, leaseMs: LEASE_MS })
      return [remember(world, jobs), outlook.nextDueInMs, [...outlook.recoveredLanes].sort(), outlook.lanes]
    }
    case 'recover': {
      const { jobs } = await storage.claim({ recovered: LANES, leaseMs: LEASE_MS })
      return remember(world, jobs)
    }
    case 'start':
    case 'release':
    case 'renew': {
      const job = at(world.claimed, one.pick)
      if (job === undefined) return null
      const to = one.pick % 5 === 0 ? { to: `${one.pick}@example.com` } : {}
      if (one.do === 'start') return storage.startAttempts([{ ...job, provider: 'smtp', ...to }])
      return one.do === 'renew' ? storage.renew([job], LEASE_MS) : storage.release([job])
    }
    case 'settle': {
      const job = at(world.claimed, one.pick)
      if (job === undefined) return null
      const { jobId, token } = job
      const outage = one.how === 'outage' ? true : undefined
      const again = one.how === 'retry' || one.how === 'outage'
      const delayed = job.kind === 'notification' && one.how === 'retry' && one.pick % 2 === 0
      const delayedFor = delayed ? delayedForOf(one.pick / 2) : undefined
      const next = again
        ? ({ kind: 'retry', delayMs: 500, outage, delayedFor } as const)
        : ({ kind: 'end' } as const)
      if (job.kind === 'event') {
        const attempt = { attempt: 1, status: 200, response: '', durationMs: 1, succeeded: true }
        const disable = one.how === 'gone' ? ('gone' as const) : undefined
        const ended = one.how === 'failed' ? ('failed' as const) : ('delivered' as const)
        return storage.settle([{ kind: 'event', jobId, token, next, attempt, disable, ended }])
      }
      const sent: Fact = { type: 'sent', attempt: 1, provider: 'smtp', providerMessageId: `m-${nameOf(job)}` }
      const facts: Fact[] = {
        sent: [sent],
        deliver: [sent, { ...sent, type: 'delivered' as const }],
        failed: [{ type: 'failed' as const, code: 'mailbox_full' as const }],
        skipped: [{ type: 'skipped' as const, code: 'unsubscribed' as const, decidedBy: 'recipient' }],
        gone: [{ type: 'failed' as const, code: 'expired' as const }],
        retry: [{ type: 'attempt_failed' as const, code: 'provider_error' as const }],
        outage: [{ type: 'attempt_failed' as const, code: 'provider_unavailable' as const }],
      }[one.how]
      return storage.settle([{ kind: 'notification', jobId, token, next, facts }])
    }
    case 'cancel': {
      const id = at(world.ids, one.pick)
      return id === undefined ? null : storage.notifications.cancel(id)
    }
    case 'reschedule': {
      const id = at(world.ids, one.pick)
      const sendAt = one.inMs === null ? null : now + one.inMs
      return id === undefined ? null : storage.notifications.reschedule(id, sendAt)
    }
    case 'judgeAgain':
      return storage.notifications.judgeAgain({ organizationId: 'org_default', of: one.of, most: 100 })
    case 'receipt': {
      const id = at(world.ids, one.pick)
      if (id === undefined) return null
      world.receipts += 1
      const dedupeKey = String(Math.floor(world.receipts / 2))
      const fact: Fact = { type: one.type, provider: 'smtp', providerMessageId: `m-${id}` }
      const named = one.named ? { notificationId: id } : {}
      return storage.recordReceipts([{ provider: 'smtp', organizationId: null, dedupeKey, fact, ...named }])
    }
    case 'disable':
      return storage.webhookEndpoints.update('wh_1', { status: 'disabled' })
    case 'enable':
      return storage.webhookEndpoints.update('wh_1', { status: 'active' })
    case 'redeliver':
      return storage.webhookEndpoints.redeliver('wh_1', { since: now - 1_000, most: 2 })
    case 'rotate':
      return storage.webhookEndpoints.rotateSecret('wh_1', { secret: `s${now}`, overlapMs: 400, most: 2 })
    case 'advance':
      return world.harness.advance(one.ms)
  }
}

async function observe({ harness: { storage, secondDoor }, ids }: World): Promise<unknown> {
  // A storage may mark what has become due no sooner than the next claim.
  await storage.claim({ lanes: [], leaseMs: LEASE_MS })
  const jobs = (await secondDoor.jobs()).map(({ lane, organizationId, state, attempts }) =>
    [lane, organizationId, state, attempts].join(' '),
  )
  const deliveries = (await secondDoor.deliveries()).map((row) =>
    [row.eventId, row.endpointId, row.state, row.attempts].join(' '),
  )
  return {
    jobs: jobs.sort(),
    deliveries: deliveries.sort(),
    notifications: await Promise.all(ids.map((id) => storage.notifications.get(id))),
    timelines: await Promise.all(ids.map((id) => storage.notifications.timeline(id))),
    lists: await Promise.all(
      ORGANIZATIONS.map((organizationId) => storage.notifications.list({ organizationId }, page())),
    ).then((lists) => lists.map(({ items }) => items.map(({ id }) => id))),
    labelled: await Promise.all(
      LABELS.map((labels) =>
        storage.notifications.list({ organizationId: 'org_default', ...labels }, page()),
      ),
    ).then((lists) => lists.map(({ items }) => items.map(({ id }) => id))),
    labelledLog: await Promise.all(
      LABELS.map((labels) => storage.logs.list({ organizationId: 'org_default', ...labels }, page())),
    ).then((lists) => lists.map(({ items }) => items.map(({ id }) => id).sort())),
    endpoints: await Promise.all(['wh_1', 'wh_2'].map((id) => storage.webhookEndpoints.get(id))),
    log: await storage.webhookEndpoints.deliveries({ endpointId: 'wh_1' }, page()),
  }
}

async function begin(harness: StorageHarness): Promise<World> {
  const { storage } = harness
  await storage.start()
  await organization(storage, 'org_b')
  const events = ['notification.sent', 'notification.failed', 'notification.skipped'] as const
  for (const [id, organizationId] of [
    ['wh_1', 'org_default'],
    ['wh_2', 'org_b'],
  ] as const) {
    await storage.webhookEndpoints.create(
      { id, organizationId, url: 'https://x', events, successStatus: '200', secrets: [] },
      1,
    )
  }
  return { harness, ids: [], claimed: [], receipts: 0 }
}

describeBesideReference({ sqlite: 60, postgres: 12 }, (create, numRuns) => {
  test('answer and store the same, whatever happens', {
    timeout: 240_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 80 }), async (steps) => {
        let now = 1_800_000_000_000
        const clock = { now: () => now }
        const other = await begin(await create(clock))
        const state = createState(clock)
        const inMaps = { storage: mapStorage(state), advance() {}, secondDoor: secondDoor(state) }
        const memory = await begin(inMaps)
        try {
          for (const [index, one] of steps.entries()) {
            if (one.do === 'advance') now += one.ms
            const fresh = note({ lane: LANES[index % LANES.length] ?? '' })
            const theirs = await take(other, other.harness.storage, one, fresh, now)
            const ours = await take(memory, memory.harness.storage, one, fresh, now)
            expect(theirs, JSON.stringify(one)).toEqual(ours)
          }
          expect(await observe(other)).toEqual(await observe(memory))
        } finally {
          await other.harness.storage.stop()
          await other.harness.close?.()
        }
      }),
      { numRuns },
    )
  })
})
