import assert from 'node:assert/strict'
import type { DueRecord, RecordInsert, RecordWrite, StoredRecord } from '../../core/ports/storage/records.ts'
import type { Storage } from '../../core/ports/storage/storage.ts'
import type { RecordKind } from '../../core/records/record-kind.ts'
import { DEFAULT_ORGANIZATION } from '../../core/tenancy/organization.ts'
import { countOf, organization, TEN, timeOf, unique } from './fixtures.ts'
import type { Check } from './harness.ts'
import {
  CONTRACT_START,
  find,
  insertion,
  itemKind,
  outcome,
  outcomeOf,
  plainReminderKind,
  type Reminder,
  reminderKind,
  write,
} from './record-fixtures.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

function reminder(
  at: number | null,
  change: Partial<RecordInsert<Reminder>> = {},
): RecordInsert<Reminder> & { readonly id: string } {
  const id = `reminder_${unique()}`
  return {
    kind: reminderKind,
    do: 'insert',
    id,
    organizationId: DEFAULT_ORGANIZATION,
    value: { at },
    ...change,
  }
}

async function claimDue(
  storage: Storage,
  { most = 100, kinds = [reminderKind] }: { most?: number; kinds?: readonly RecordKind[] } = {},
): Promise<readonly DueRecord[]> {
  return (await storage.records.claimDue({ kinds, most, leaseMs: MINUTE })).due
}

async function nextDueInMs(storage: Storage): Promise<number | null> {
  return (await storage.records.claimDue({ kinds: [reminderKind], most: 1, leaseMs: MINUTE })).nextDueInMs
}

/** Stores a due reminder and claims it. */
async function claimOne(storage: Storage): Promise<DueRecord<Reminder>> {
  await write(storage, reminder(0))
  const [due, ...others] = await claimDue(storage)
  assert.ok(due !== undefined && others.length === 0)
  return due as DueRecord<Reminder>
}

function replaceUnder(
  { record: { id, revision } }: DueRecord,
  token: number | undefined,
  at: number | null = null,
): RecordWrite {
  return { kind: reminderKind, do: 'replace', id, revision, token, value: { at } }
}

function removeUnder({ record: { id } }: DueRecord, token: number | undefined): RecordWrite {
  return { kind: reminderKind, do: 'remove', id, token }
}

const idsOf = (due: readonly DueRecord[]): string[] => due.map(({ record }) => record.id).sort()

export function dueRecordChecks(check: Check): void {
  check('a record falls due at its time, and not before', async (harness) => {
    const { storage } = harness
    const now = await timeOf(storage)
    const soon = reminder(now + MINUTE)
    await write(storage, soon, reminder(null), reminder(now + HOUR), insertion())
    assert.deepEqual(await claimDue(storage), [])
    assert.equal(await nextDueInMs(storage), MINUTE)
    await harness.advance(MINUTE - 1)
    assert.deepEqual(await claimDue(storage), [])
    await harness.advance(1)
    const [due, ...others] = await claimDue(storage)
    const record = await find(storage, reminderKind, soon.id)
    assert.deepEqual([due?.record, due?.claims, due?.leaseMs, others], [record, 1, MINUTE, []])
    assert.equal(due?.kind.name, reminderKind.name)
    assert.deepEqual([record?.revision, record?.value], [1, { at: now + MINUTE }])
    assert.equal(await nextDueInMs(storage), MINUTE)
  })

  check('without records that wait, the next one is due at no time', async ({ storage }) => {
    await write(storage, reminder(null))
    assert.deepEqual(await storage.records.claimDue({ kinds: [], most: 1, leaseMs: MINUTE }), {
      due: [],
      nextDueInMs: null,
    })
    assert.equal(await nextDueInMs(storage), null)
  })

  check('times of the past and of the far future are times', async ({ storage }) => {
    const past = reminder(-1)
    await write(storage, past, reminder(Number.MAX_SAFE_INTEGER))
    assert.deepEqual(idsOf(await claimDue(storage)), [past.id])
    assert.equal(await nextDueInMs(storage), MINUTE)
  })

  for (const at of [Number.NaN, Number.POSITIVE_INFINITY, 1.5]) {
    check(`a due time of ${at} fails its set alone`, async ({ storage }) => {
      const good = reminder(0)
      const [bad, stored] = await storage.records.write([[reminder(at)], [good]])
      assert.deepEqual([bad?.kind, stored?.kind], ['failed', 'written'])
      assert.deepEqual(idsOf(await claimDue(storage)), [good.id])
    })
  }

  check('a claim takes at most as many as it asks for, and says that more are due', async ({ storage }) => {
    const ids = TEN.map(() => reminder(0))
    await write(storage, ...ids)
    const { due, nextDueInMs: next } = await storage.records.claimDue({
      kinds: [reminderKind],
      most: 4,
      leaseMs: MINUTE,
    })
    assert.deepEqual([due.length, next], [4, 0])
    const others = await claimDue(storage)
    assert.deepEqual(idsOf([...due, ...others]), ids.map(({ id }) => id).sort())
  })

  check('the first of an organization are claimed first', async ({ storage }) => {
    const now = await timeOf(storage)
    const inserts = [5, 1, 4, 2, 3].map((back) => reminder(now - back * MINUTE))
    await write(storage, ...inserts)
    const order: (number | null)[] = []
    for (const _ of inserts) {
      for (const { record } of await claimDue(storage, { most: 1 }))
        order.push((record as StoredRecord<Reminder>).value.at)
    }
    assert.deepEqual(
      order,
      [5, 4, 3, 2, 1].map((back) => now - back * MINUTE),
    )
  })

  check('organizations take turns, and the next claim continues them', async ({ storage }) => {
    const [a, b, c] = [await organization(storage), await organization(storage), await organization(storage)]
    const of = (organizationId: string | null, count: number) =>
      Array.from({ length: count }, () => reminder(0, { organizationId }))
    await write(storage, ...of(a, 20), ...of(b, 3), ...of(c, 1), ...of(null, 2))
    const first = await claimDue(storage, { most: 8 })
    const counts = (due: readonly DueRecord[]) =>
      [a, b, c, null].map((id) => countOf(due, ({ record }) => record.organizationId === id))
    assert.deepEqual(counts(first).slice(2), [1, 2])
    assert.deepEqual(
      counts(first).map((count) => count > 0),
      [true, true, true, true],
    )
    const second = await claimDue(storage, { most: 8 })
    assert.equal((counts(first)[1] as number) + (counts(second)[1] as number), 3)
    for (const id of [a, b, c]) await write(storage, ...of(id, 5))
    const served = new Set<string | null>()
    for (const _ of TEN.slice(0, 3)) {
      for (const { record } of await claimDue(storage, { most: 1 })) served.add(record.organizationId)
    }
    assert.deepEqual([...served].sort(), [a, b, c].sort())
  })

  check('ten claims at once take each record once, under tokens of their own', async ({ storage }) => {
    const inserts = Array.from({ length: 50 }, () => reminder(0))
    await write(storage, ...inserts)
    const claims = await Promise.all(TEN.map(() => claimDue(storage, { most: 20 })))
    // A claim may pass over what another one holds.
    const rest = await claimDue(storage)
    assert.deepEqual(idsOf([...claims.flat(), ...rest]), inserts.map(({ id }) => id).sort())
    const tokens = claims.filter((due) => due.length > 0).map(([due]) => due?.token)
    assert.equal(new Set(tokens).size, tokens.length)
  })

  check('a claim that brought no result is repeated, counted and leased for longer', async (harness) => {
    const { storage } = harness
    const first = await claimOne(storage)
    await harness.advance(MINUTE - 1)
    assert.deepEqual(await claimDue(storage), [])
    const leases: unknown[] = []
    await harness.advance(1)
    for (let claims = 2; claims <= 10; claims += 1) {
      const [again] = await claimDue(storage)
      assert.ok(again !== undefined && again.token > first.token)
      assert.equal(again.claims, claims)
      leases.push(again.leaseMs / MINUTE)
      await harness.advance(again.leaseMs)
    }
    assert.deepEqual(leases, [2, 4, 8, 16, 32, 64, 120, 120, 120])
    const stored = await find(storage, reminderKind, first.record.id)
    assert.deepEqual([stored?.revision, stored?.value], [1, first.record.value])
  })

  check('a result under the token ends the claim', async (harness) => {
    const { storage } = harness
    const due = await claimOne(storage)
    const now = await timeOf(storage)
    const other = insertion()
    const [replaced] = await write(storage, replaceUnder(due, due.token, now + HOUR), other)
    assert.deepEqual([replaced?.revision, replaced?.value], [2, { at: now + HOUR }])
    assert.equal(await nextDueInMs(storage), HOUR)
    await harness.advance(HOUR)
    const [again] = await claimDue(storage)
    assert.deepEqual([again?.record.id, again?.claims], [due.record.id, 1])
    assert.ok(again !== undefined)
    assert.equal(await outcome(storage, removeUnder(again, again.token)), 'written')
    assert.equal(await find(storage, reminderKind, due.record.id), null)
    assert.equal(await nextDueInMs(storage), null)
    assert.notEqual(await find(storage, itemKind, other.id), null)
  })

  check('a result under an older claim stores nothing of its set', async (harness) => {
    const { storage } = harness
    const first = await claimOne(storage)
    await harness.advance(MINUTE)
    const [second] = await claimDue(storage)
    assert.ok(second !== undefined)
    for (const late of [replaceUnder(first, first.token), removeUnder(first, first.token)]) {
      const other = insertion()
      assert.equal(await outcome(storage, other, late), 'stale 1')
      assert.equal(await find(storage, itemKind, other.id), null)
    }
    assert.equal(await outcome(storage, removeUnder(second, second.token)), 'written')
  })

  check('any other write ends a claim', async (harness) => {
    const { storage } = harness
    const due = await claimOne(storage)
    const { id } = due.record
    // With the value that it has: its time has come.
    await write(storage, replaceUnder(due, undefined, 0))
    assert.equal(await outcome(storage, removeUnder(due, due.token)), 'stale 0')
    const [again] = await claimDue(storage)
    assert.deepEqual([again?.record.id, again?.record.revision, again?.claims], [id, 2, 1])
    assert.ok(again !== undefined)
    await write(storage, removeUnder(again, undefined))
    assert.equal(await outcome(storage, removeUnder(again, again.token)), 'stale 0')
    assert.equal(await outcome(storage, replaceUnder(again, again.token)), 'unknown 0')
    await write(storage, reminder(0, { id }))
    for (const { token } of [due, again]) {
      assert.equal(await outcome(storage, removeUnder(again, token)), 'stale 0')
    }
    assert.deepEqual(idsOf(await claimDue(storage)), [id])
  })

  check('of a result and a cancellation at once, one wins', async ({ storage }) => {
    for (const _ of TEN) {
      const due = await claimOne(storage)
      const effect = insertion()
      const [ran, cancelled] = (
        await Promise.all([
          storage.records.write([[removeUnder(due, due.token), effect]]),
          storage.records.write([[removeUnder(due, undefined)]]),
        ])
      ).flat()
      const removed = cancelled?.kind === 'written' && cancelled.records[0] !== null
      assert.equal(outcomeOf(ran), removed ? 'stale 0' : 'written')
      assert.equal((await find(storage, itemKind, effect.id)) === null, removed)
    }
  })

  check('nothing of an organization that is being deleted is due', async (harness) => {
    const { storage } = harness
    const id = await organization(storage)
    const now = await timeOf(storage)
    await write(storage, reminder(0, { organizationId: id }), reminder(now + MINUTE, { organizationId: id }))
    assert.equal(await storage.deletions.begin(id, { force: true, kinds: [] }), 0)
    const kept = reminder(0)
    await write(storage, kept)
    assert.deepEqual(idsOf(await claimDue(storage)), [kept.id])
    await harness.advance(2 * MINUTE)
    assert.deepEqual(idsOf(await claimDue(storage)), [kept.id])
    assert.equal(await nextDueInMs(storage), 2 * MINUTE)
  })

  check('records that were stored before their kind fell due become due', async (harness) => {
    const { storage } = harness
    const now = await timeOf(storage)
    const plain = (at: number | null) => reminder(at, { kind: plainReminderKind })
    const [past, later] = [plain(0), plain(now + MINUTE)]
    await write(storage, past, plain(null), later)
    assert.deepEqual(idsOf(await claimDue(storage)), [past.id])
    await harness.advance(MINUTE)
    assert.deepEqual(idsOf(await claimDue(storage)), [past.id, later.id].sort())
  })

  check(
    'a replacement by a process that knows no due times ends a claim and sets the time',
    async (harness) => {
      const { storage } = harness
      const due = await claimOne(storage)
      const { id, revision } = due.record
      const now = await timeOf(storage)
      await write(storage, {
        kind: plainReminderKind,
        do: 'replace',
        id,
        revision,
        value: { at: now + HOUR },
      })
      assert.deepEqual(await claimDue(storage), [])
      assert.equal(await nextDueInMs(storage), HOUR)
      assert.equal(await outcome(storage, removeUnder(due, due.token)), 'stale 0')
      await harness.advance(HOUR)
      assert.deepEqual(idsOf(await claimDue(storage)), [id])
    },
  )

  check('a kind gains due times at a later start', async ({ storage }) => {
    const before: RecordKind<Reminder> = { name: 'contract_late_due', version: 1 }
    const after: RecordKind<Reminder> = { ...before, due: ({ at }) => at }
    await storage.start({ ...CONTRACT_START, kinds: [before] })
    const [early, late] = [reminder(0, { kind: before }), reminder(0, { kind: after })]
    await write(storage, early)
    await Promise.all(TEN.map(() => storage.start({ ...CONTRACT_START, kinds: [after] })))
    await write(storage, late)
    const due = await claimDue(storage, { kinds: [reminderKind, after] })
    assert.deepEqual(idsOf(due), [early.id, late.id].sort())
    assert.ok(due.every(({ kind }) => kind === after))
  })

  check('a lease that a clock running ahead has given ends when the clock is corrected', async (harness) => {
    const { storage } = harness
    await harness.advance(24 * HOUR)
    const due = await claimOne(storage)
    await harness.advance(-24 * HOUR)
    const [again] = await claimDue(storage)
    assert.deepEqual([again?.record.id, again?.claims], [due.record.id, 2])
    assert.equal(await outcome(storage, removeUnder(due, due.token)), 'stale 0')
  })
}
