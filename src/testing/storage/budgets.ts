import assert from 'node:assert/strict'
import type { RecordBudget } from '../../core/ports/storage/records.ts'
import type { Storage } from '../../core/ports/storage/storage.ts'
import { DEFAULT_ORGANIZATION } from '../../core/tenancy/organization.ts'
import { accept, claimOne, ended, note, organization, sent, start, TEN } from './fixtures.ts'
import type { Check } from './harness.ts'
import {
  type Item,
  insertion,
  item,
  itemKind,
  otherKind,
  outcome,
  removal,
  replacement,
} from './record-fixtures.ts'

/** What a record with this value counts. */
const bytesOf = (value: object): number => Buffer.byteLength(JSON.stringify(value)) + 200

const text = (length: number): Item => ({ text: 'ü'.repeat(length) })

/** Checks of what organizations store, and of its limit. */
export function budgetChecks(check: Check): void {
  check('what an organization stores is counted with every write', async ({ storage, advance }) => {
    const acme = await organization(storage)
    const stored = () => storage.records.stored(acme)
    const own = { organizationId: acme }
    assert.equal(await stored(), 0)
    const [one, two] = [await item(storage, text(10), own), await item(storage, text(20), own)]
    await item(storage, text(1_000))
    await item(storage, text(1_000), { organizationId: null })
    assert.equal(await stored(), bytesOf(text(10)) + bytesOf(text(20)))
    assert.equal(await outcome(storage, replacement(one, text(30))), 'written')
    assert.equal(await outcome(storage, replacement(two, text(5))), 'written')
    assert.equal(await stored(), bytesOf(text(30)) + bytesOf(text(5)))
    const late = replacement(one, text(1))
    assert.equal(await outcome(storage, insertion(text(50), own), late), 'stale 1')
    assert.equal(
      await outcome(storage, insertion(text(50), { ...own, id: one.id, ifTaken: 'keep' })),
      'written',
    )
    assert.equal(await stored(), bytesOf(text(30)) + bytesOf(text(5)))
    assert.equal(await outcome(storage, removal(itemKind, one.id)), 'written')
    assert.equal(await stored(), bytesOf(text(5)))
    await advance(60_001)
    assert.equal(await storage.records.removeOld(itemKind, { ...own, olderThanMs: 60_000, most: 9 }), 1)
    assert.equal(await stored(), 0)
  })

  check('what follows from facts is counted, and no budget refuses it', async ({ storage }) => {
    const before = await storage.records.stored(DEFAULT_ORGANIZATION)
    await accept(storage, [note()])
    const job = await claimOne(storage)
    await start(storage, [job])
    await storage.settle([ended(job, [sent({ type: 'failed', suppress: 'hard_bounce' })])])
    const value = { reason: 'hard_bounce', source: 'smtp' }
    assert.equal(await storage.records.stored(DEFAULT_ORGANIZATION), before + bytesOf(value))
    const { items } = await storage.records.list(
      otherKind,
      { organizationId: DEFAULT_ORGANIZATION },
      { limit: 9, offset: 0 },
    )
    assert.equal(items.length, 1)
  })

  check('a write beyond the budget is refused with its set', async ({ storage }) => {
    const acme = await organization(storage)
    const other = await organization(storage)
    const bytes = 2 * bytesOf(text(10))
    const budget: RecordBudget = { organizationId: acme, bytes }
    const own = { organizationId: acme, budget }
    const one = await item(storage, text(10), own)
    const two = await item(storage, text(10), own)
    assert.equal(await outcome(storage, insertion({}, own)), 'full 0')
    assert.equal(
      await outcome(storage, insertion({}, { organizationId: other }), insertion({}, own)),
      'full 1',
    )
    assert.deepEqual([await storage.records.stored(acme), await storage.records.stored(other)], [bytes, 0])
    assert.equal(await outcome(storage, { ...replacement(one, text(11)), budget }), 'full 0')
    assert.equal(await outcome(storage, insertion({}, { ...own, id: one.id, ifTaken: 'keep' })), 'written')
    assert.equal(await outcome(storage, { ...replacement(one, text(9)), budget }), 'written')
    const keeping = [1, 2, 3].map(() => insertion({}, { ...own, ifTaken: 'keep' }))
    assert.match(await outcome(storage, ...keeping), /^full \d$/)
    const smaller = { organizationId: acme, bytes: 1 }
    assert.equal(await outcome(storage, { ...replacement(two, text(8)), budget: smaller }), 'written')
    assert.equal(await outcome(storage, removal(itemKind, one.id), insertion(text(10), own)), 'written')
    assert.equal(await outcome(storage, insertion(text(1_000), { organizationId: acme })), 'written')
    assert.equal(
      await outcome(
        storage,
        insertion({}, { organizationId: other, budget: { ...budget, organizationId: other } }),
      ),
      'written',
    )
  })

  check('of ten writes in a race, as many fit as the budget has room for', async (harness) => {
    const { storage, another } = harness
    const second = (await another?.()) ?? storage
    if (second !== storage) await second.start({ kinds: [itemKind] })
    try {
      // The first rounds open connections.
      for (const _ of TEN) {
        const acme = await organization(storage)
        const budget = { organizationId: acme, bytes: 4 * bytesOf(text(100)) + 10 }
        const write = (by: Storage) => outcome(by, insertion(text(100), { organizationId: acme, budget }))
        const outcomes = await Promise.all(TEN.map((index) => write(index % 2 === 0 ? storage : second)))
        assert.deepEqual(outcomes.sort(), [...Array(6).fill('full 0'), ...Array(4).fill('written')])
        assert.equal(await second.records.stored(acme), 4 * bytesOf(text(100)))
      }
    } finally {
      if (second !== storage) await second.stop()
    }
  })

  check('a hundred writes of several organizations in a race are counted exactly', async ({ storage }) => {
    const [acme, other] = [await organization(storage), await organization(storage)]
    const made = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        storage.records.write([
          [insertion(text(index), { organizationId: acme })],
          [insertion(text(index), { organizationId: other })],
        ]),
      ),
    )
    const expected = made.reduce((sum, _, index) => sum + bytesOf(text(index)), 0)
    assert.deepEqual(
      [await storage.records.stored(acme), await storage.records.stored(other)],
      [expected, expected],
    )
  })
}
