import assert from 'node:assert/strict'
import type { Storage } from '../../core/ports/storage/storage.ts'
import { DEFAULT_ORGANIZATION } from '../../core/tenancy/organization.ts'
import { Absent } from '../test-api.ts'
import {
  accept,
  claim,
  claimOne,
  countOf,
  deliver,
  ended,
  endpoint,
  idOf,
  LEASE_MS,
  note,
  notes,
  organization,
  page,
  sent,
  start,
  TEN,
  timeOf,
} from './fixtures.ts'
import type { Check, StorageHarness } from './harness.ts'
import {
  CONTRACT_START,
  find,
  insertion,
  item,
  itemKind,
  keyOf,
  outcome,
  replacement,
  write,
} from './record-fixtures.ts'

/** Two instances of the same data, as two processes have them. */
interface Instances extends StorageHarness {
  readonly second: Storage
  /** One of both, in turn. */
  turn(index: number): Storage
}

const QUOTA = { period: '2026-01', limit: 25 }

export function instanceChecks(check: Check): void {
  const both = (title: string, run: (instances: Instances) => Promise<void>): void =>
    check(title, async (harness) => {
      if (harness.another === undefined) throw new Absent('The harness opens no second storage.')
      const second = await harness.another()
      await second.start(CONTRACT_START)
      try {
        await run({ ...harness, second, turn: (index) => (index % 2 === 0 ? harness.storage : second) })
      } finally {
        await second.stop()
      }
    })

  racesOfWork(both)
  racesOfData(both)
  whatTheOtherSees(both)
}

type Both = (title: string, run: (instances: Instances) => Promise<void>) => void

function racesOfWork(both: Both): void {
  both('claims of two instances in a race lease every job once', async ({ storage, turn }) => {
    const ids = await accept(storage, notes(40))
    const jobs = (await Promise.all(TEN.map((index) => claim(turn(index), 8)))).flat()
    for (const index of TEN) jobs.push(...(await claim(turn(index), 8)))
    assert.deepEqual(jobs.map(idOf).sort(), ids.sort())
  })

  both('a claim has a new token, whichever instance had the job before', async ({ storage, turn }) => {
    await accept(storage, [note()])
    const tokens = new Set<number>()
    for (const index of TEN) {
      const job = await claimOne(turn(index))
      tokens.add(job.token)
      await turn(index).release([job])
    }
    assert.equal(tokens.size, TEN.length)
  })

  both('a job that two instances settle in a race settles once', async ({ storage, secondDoor, turn }) => {
    await accept(storage, [note()])
    const job = await claimOne(storage)
    const answers = (await Promise.all(TEN.map((index) => turn(index).settle([ended(job)])))).flat()
    assert.equal(
      countOf(answers, ({ kind }) => kind === 'settled'),
      1,
    )
    assert.equal((await secondDoor.events()).length, 1)
  })

  both('a start here and a cancel there in a race: exactly one wins', async ({ storage, second }) => {
    for (const _ of TEN) {
      const [id = ''] = await accept(storage, [note()])
      const job = await claimOne(storage)
      const [[started], { kind }] = await Promise.all([
        start(storage, [job]),
        second.notifications.cancel(id),
      ])
      assert.equal(started, kind !== 'cancelled')
      if (started) await storage.settle([ended(job)])
    }
  })

  both('a start here and a reschedule there in a race: exactly one wins', async (instances) => {
    const { storage, second, advance } = instances
    for (const _ of TEN) {
      const sendAt = (await timeOf(storage)) + 1_000
      const [id = ''] = await accept(storage, [note({ sendAt })])
      await advance(1_001)
      const job = await claimOne(storage)
      const [[started], { kind }] = await Promise.all([
        start(storage, [job]),
        second.notifications.reschedule(id, sendAt + 3_600_000),
      ])
      assert.equal(kind, started ? 'too_late' : 'rescheduled')
      if (started) await storage.settle([ended(job)])
    }
  })

  both('what an instance leaves behind comes to the other', async ({ storage, second, advance }) => {
    const ids = await accept(storage, notes(2))
    const jobs = await claim(second)
    await second.stop()
    assert.deepEqual(await claim(storage), [])
    await advance(LEASE_MS + 1)
    assert.deepEqual((await claim(storage)).map(idOf), ids)
    assert.deepEqual(await start(storage, jobs), [false, false])
  })
}

function racesOfData(both: Both): void {
  both('equal requests to two instances in a race store once', async ({ secondDoor, turn }) => {
    const organizationId = DEFAULT_ORGANIZATION
    const named = { organizationId, operation: 'send', key: 'order-17' } as const
    const idempotency = { ...named, fingerprint: 'f', result: '{}', ttlMs: 3_600_000 }
    const requests = TEN.map((index) =>
      turn(index).accept([{ organizationId, notifications: [note()], idempotency }]),
    )
    const answers = (await Promise.all(requests)).flat()
    assert.deepEqual(answers.map(({ kind }) => kind).sort(), ['accepted', ...Array(9).fill('replayed')])
    assert.equal((await secondDoor.notifications()).length, 1)
  })

  both('accepts of two instances in a race never exceed the quota', async ({ storage, secondDoor, turn }) => {
    const organizationId = DEFAULT_ORGANIZATION
    const requests = TEN.map((index) =>
      turn(index).accept([{ organizationId, notifications: notes(4), quota: QUOTA }]),
    )
    const answers = (await Promise.all(requests)).flat()
    const admitted = answers.map((answer) => (answer.kind === 'accepted' ? answer.admitted : 0))
    assert.equal(
      admitted.reduce((sum, one) => sum + one, 0),
      QUOTA.limit,
    )
    assert.equal((await secondDoor.notifications()).length, QUOTA.limit)
    assert.equal(await storage.quotaUsed(organizationId, QUOTA.period), QUOTA.limit)
  })

  both('a report to two instances in a race is recorded once', async ({ storage, secondDoor, turn }) => {
    await accept(storage, [note()])
    await deliver(storage, [sent({ providerMessageId: 'm-1' })])
    const fact = { type: 'opened', provider: 'smtp', providerMessageId: 'm-1' } as const
    const receipt = { provider: 'smtp', organizationId: null, dedupeKey: 'r-1', fact }
    const answers = (await Promise.all(TEN.map((index) => turn(index).recordReceipts([receipt])))).flat()
    assert.deepEqual(answers.map(({ kind }) => kind).sort(), [...Array(9).fill('duplicate'), 'recorded'])
    assert.equal((await secondDoor.events()).length, 2)
  })

  both('of inserts of one key through two instances in a race one is stored', async ({ storage, turn }) => {
    const answers = await Promise.all(TEN.map((index) => outcome(turn(index), insertion({ name: 'a' }))))
    assert.deepEqual(answers.sort(), [...Array(9).fill('taken 0'), 'written'])
    const { items } = await storage.records.list(itemKind, { organizationId: DEFAULT_ORGANIZATION }, page())
    assert.equal(items.length, 1)
  })

  both('of replacements through two instances in a race one is stored', async ({ storage, turn }) => {
    const stored = await item(storage)
    const answers = await Promise.all(
      TEN.map((index) => outcome(turn(index), replacement(stored, { index }))),
    )
    assert.deepEqual(answers.sort(), [...Array(9).fill('stale 0'), 'written'])
    assert.equal((await find(storage, itemKind, stored.id))?.revision, 2)
  })
}

function whatTheOtherSees(both: Both): void {
  both('what one instance changes the other reads at once, although it had read it', async (instances) => {
    const { storage, second } = instances
    const [id = ''] = await accept(storage, [note()])
    const hook = await endpoint(storage)
    const stored = await item(storage, { name: 'a' })
    const read = async () => [
      (await second.notifications.get(id))?.status,
      (await second.notifications.timeline(id)).length,
      (await second.webhookEndpoints.get(hook.id))?.url,
      (await find(second, itemKind, stored.id))?.value.name,
      (await second.records.get(itemKind, [{ key: keyOf('a') }]))[0]?.id,
      (await second.countJobs('all', 10)).counts.length,
      await second.quotaUsed(DEFAULT_ORGANIZATION, QUOTA.period),
    ]
    assert.deepEqual(await read(), ['queued', 1, hook.url, 'a', stored.id, 1, 0])
    await deliver(storage)
    await claim(storage, 1, hook.id)
    await storage.webhookEndpoints.update(hook.id, { url: 'https://example.com/new' })
    await write(storage, replacement(stored, { name: 'b' }))
    const organizationId = DEFAULT_ORGANIZATION
    const sendAt = (await timeOf(storage)) + 3_600_000
    await storage.accept([{ organizationId, notifications: [note({ sendAt })], quota: QUOTA }])
    assert.deepEqual(await read(), ['sent', 2, 'https://example.com/new', 'b', undefined, 2, 1])
  })

  both(
    'a deletion that one instance began takes effect in the other at once',
    async ({ storage, second }) => {
      const id = await organization(storage)
      const request = () => second.accept([{ organizationId: id, notifications: [note()] }])
      assert.equal((await request())[0]?.kind, 'accepted')
      assert.equal(await storage.deletions.begin(id, { force: true, kinds: [] }), 0)
      assert.equal((await request())[0]?.kind, 'failed')
      assert.equal(await outcome(second, insertion({}, { organizationId: id })), 'no_organization 0')
    },
  )
}
