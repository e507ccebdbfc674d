import assert from 'node:assert/strict'
import type { AcceptAnswer, AcceptRequest } from '../../core/ports/storage/accept.ts'
import type { RecordWrite } from '../../core/ports/storage/records.ts'
import { DEFAULT_ORGANIZATION } from '../../core/tenancy/organization.ts'
import { note, notes, organization } from './fixtures.ts'
import type { Check } from './harness.ts'
import {
  find,
  insertion,
  item,
  itemKind,
  type Reminder,
  reminderKind,
  removal,
  replacement,
} from './record-fixtures.ts'

/** May also write records. */
type Requested = AcceptRequest<RecordWrite>

const quota = { period: '2026-01', limit: 3 }

function request(change: Partial<Requested> = {}): Requested {
  return { organizationId: DEFAULT_ORGANIZATION, notifications: [note()], ...change }
}

function keyed(key: string): Pick<Requested, 'idempotency'> {
  const name = { organizationId: DEFAULT_ORGANIZATION, operation: 'send', key } as const
  return { idempotency: { ...name, fingerprint: 'f', result: '{}', ttlMs: 3_600_000 } }
}

const admittedOf = (answer: AcceptAnswer | undefined): unknown =>
  answer?.kind === 'accepted' ? answer.admitted : answer

/** Checks of records that are written beside notifications. */
export function acceptedRecordChecks(check: Check): void {
  check('records are written with the notifications of their request', async ({ storage }) => {
    const [old, gone] = [await item(storage, { name: 'old' }), await item(storage)]
    const inserted = insertion({ name: 'new' })
    const records = [inserted, replacement(old, { name: 'renamed' }), removal(itemKind, gone.id)]
    const [first, second] = await storage.accept([
      request({ notifications: notes(2), records }),
      request({ notifications: [], records: [insertion({ name: 'alone' })], ...keyed('k') }),
    ])
    assert.deepEqual([admittedOf(first), admittedOf(second)], [2, 0])
    assert.deepEqual((await find(storage, itemKind, inserted.id))?.value, { name: 'new' })
    assert.deepEqual((await find(storage, itemKind, old.id))?.value, { name: 'renamed' })
    assert.equal(await find(storage, itemKind, gone.id), null)
  })

  check('a record that is refused refuses its request alone', async ({ storage, secondDoor }) => {
    const old = await item(storage, { name: 'taken' })
    const id = await organization(storage)
    await storage.deletions.begin(id, { force: true, kinds: [] })
    const other = insertion({ name: 'other' })
    const refused = {
      taken: insertion({ name: 'taken' }),
      stale: replacement({ ...old, revision: 7 }, {}),
      unknown: replacement({ ...old, id: 'unknown' }, {}),
      no_organization: insertion({}, { organizationId: id }),
      full: insertion({}, { budget: { organizationId: DEFAULT_ORGANIZATION, bytes: 1 } }),
    } as const
    const good = request({ ...keyed('good'), records: [insertion({ name: 'good' })] })
    const requests = Object.entries(refused).map(([kind, write]) =>
      request({ quota, ...keyed(kind), records: [other, write] }),
    )
    const [accepted, ...answers] = await storage.accept([good, ...requests])
    assert.equal(admittedOf(accepted), 1)
    assert.deepEqual(
      answers,
      Object.keys(refused).map((kind) => ({ kind: 'refused', write: { kind, at: 1 } })),
    )
    assert.equal(await find(storage, itemKind, other.id), null)
    assert.deepEqual(
      (await secondDoor.notifications()).map((stored) => stored.id),
      good.notifications.map((stored) => stored.id),
    )
    assert.equal(await storage.quotaUsed(DEFAULT_ORGANIZATION, quota.period), 0)
    // The key is free.
    const [again] = await storage.accept([request({ ...keyed('taken'), records: [other] })])
    assert.equal(admittedOf(again), 1)
  })

  check('records are written once for an idempotency key', async ({ storage }) => {
    const first = insertion()
    const second = insertion()
    const answers = await storage.accept([
      request({ ...keyed('k'), records: [first] }),
      request({ ...keyed('k'), records: [second] }),
    ])
    assert.deepEqual(answers.map(({ kind }) => kind).sort(), ['accepted', 'replayed'])
    const [third] = await storage.accept([request({ ...keyed('k'), records: [insertion()] })])
    assert.equal(third?.kind, 'replayed')
    const found = [await find(storage, itemKind, first.id), await find(storage, itemKind, second.id)]
    assert.equal(found.filter((record) => record !== null).length, 1)
  })

  check('a quota admits the whole request with its records, or nothing', async ({ storage, secondDoor }) => {
    const [none, all] = [insertion(), insertion()]
    const [first] = await storage.accept([
      request({ notifications: notes(4), quota, records: [none], ...keyed('k') }),
    ])
    assert.equal(admittedOf(first), 0)
    assert.equal(await find(storage, itemKind, none.id), null)
    assert.deepEqual(await secondDoor.notifications(), [])
    assert.deepEqual(await secondDoor.idempotency(), [])
    assert.equal(await storage.quotaUsed(DEFAULT_ORGANIZATION, quota.period), 0)
    const [second] = await storage.accept([
      request({ notifications: notes(4), quota: { ...quota, limit: 7 }, records: [all] }),
    ])
    assert.equal(admittedOf(second), 4)
    assert.notEqual(await find(storage, itemKind, all.id), null)
  })

  check('the result of a claim and what it sends are stored together, or not at all', async ({ storage }) => {
    const reminder = { ...insertion(), kind: reminderKind, value: { at: 0 } satisfies Reminder }
    await storage.records.write([[reminder]])
    const { due } = await storage.records.claimDue({ kinds: [reminderKind], most: 1, leaseMs: 60_000 })
    const token = due[0]?.token
    assert.ok(token !== undefined)
    const result = (token: number) =>
      request({ records: [{ kind: reminderKind, do: 'remove', id: reminder.id, token }] })
    const stale = { kind: 'refused', write: { kind: 'stale', at: 0 } }
    const answers = await storage.accept([result(token - 1), result(token), result(token)])
    // In which order a set is applied is not promised, but one result is stored.
    assert.equal(answers.filter(({ kind }) => kind === 'accepted').length, 1)
    assert.deepEqual(
      answers.filter(({ kind }) => kind !== 'accepted'),
      [stale, stale],
    )
    assert.equal(await find(storage, reminderKind, reminder.id), null)
  })
}
