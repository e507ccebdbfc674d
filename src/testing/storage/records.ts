import assert from 'node:assert/strict'
import { NotifierError } from '../../core/errors/notifier-error.ts'
import type { RecordInsert, RecordRef } from '../../core/ports/storage/records.ts'
import type { Storage } from '../../core/ports/storage/storage.ts'
import { DEFAULT_ORGANIZATION } from '../../core/tenancy/organization.ts'
import { countOf, organization, TEN, unique } from './fixtures.ts'
import type { Check } from './harness.ts'
import {
  find,
  type Item,
  insertion,
  item,
  itemKind,
  keeping,
  keyOf,
  otherKind,
  outcome,
  outcomeOf,
  removal,
  replacement,
  write,
} from './record-fixtures.ts'

const UNKNOWN = { organizationId: 'org_unknown' }

export function recordChecks(check: Check): void {
  check('records are found by id and by key, in order', async ({ storage }) => {
    const { get } = storage.records
    const [a, b] = [await item(storage, { name: 'a' }), await item(storage, { name: 'b' })]
    const refs: RecordRef[] = [
      { id: b.id },
      { key: keyOf('a') },
      { id: 'unknown' },
      { key: keyOf('unknown') },
      { id: keyOf('a') },
      { key: b.id },
      { key: keyOf('b') },
      { id: b.id },
    ]
    assert.deepEqual(await get(itemKind, refs), [b, a, null, null, null, null, b, b])
    assert.deepEqual(await get(otherKind, [{ id: a.id }]), [null])
    assert.deepEqual(await get(itemKind, []), [])
  })

  check('5,000 references are answered in order', async ({ storage }) => {
    const names = Array.from({ length: 500 }, (_, index) => `n${index}`)
    await write(storage, ...names.map((name) => insertion({ name }, { id: `i-${name}` })))
    const once = names.flatMap((name): RecordRef[] => [{ id: `i-${name}` }, { key: keyOf(name) }])
    const found = await storage.records.get(itemKind, Array(5).fill(once).flat())
    assert.deepEqual(
      found.map((record) => record?.value.name),
      Array(5)
        .fill(names.flatMap((name) => [name, name]))
        .flat(),
    )
  })

  check("a record is answered as it is stored, with the storage's times", async (harness) => {
    const { storage } = harness
    const organizationId = await organization(storage)
    const value = { name: 'a', group: 'g', list: [1, null, 'x'] }
    const inserted = await item(storage, value, { id: 'one', organizationId })
    const { createdAt } = inserted
    assert.deepEqual(inserted, {
      id: 'one',
      organizationId,
      revision: 1,
      createdAt,
      readAt: createdAt,
      value,
    })
    await harness.advance(10_000)
    const later = { ...inserted, readAt: createdAt + 10_000 }
    assert.deepEqual(await find(storage, itemKind, 'one'), later)
    const [replaced] = await write(storage, replacement(inserted, { name: 'b' }))
    assert.deepEqual(replaced, { ...later, revision: 2, value: { name: 'b' } })
    assert.deepEqual(await find(storage, itemKind, 'one'), replaced)
  })

  check('a record shares nothing with its writer and its readers', async ({ storage }) => {
    const list = ['stored']
    const inserted = await item(storage, { list })
    const [kept] = await write(storage, insertion({}, { id: inserted.id, ifTaken: 'keep' }))
    const found = await find(storage, itemKind, inserted.id)
    list.push('by the writer')
    for (const value of [inserted, kept, found].map((record) => record?.value as { list?: string[] }))
      value.list?.push('x')
    assert.deepEqual((await find(storage, itemKind, inserted.id))?.value, { list: ['stored'] })
  })

  check('any JSON is stored as it is', async ({ storage }) => {
    let deep: unknown = 'bottom'
    for (let depth = 0; depth < 200; depth += 1) deep = depth % 2 === 0 ? [deep] : { deep }
    const value: Item = {
      text: `'"\\/ %_$1 ?\n\r\t\u0007 ü ☃ \u2028 \u{1F600} {{name}} :x`,
      numbers: [0, -1, 0.1, 1.5e-7, 1e300, Number.MAX_SAFE_INTEGER],
      others: [true, false, null, {}, [], '', [[]]],
      'a "key"\n☃': { z: 1, a: 2, '': 3 },
      long: 'ß'.repeat(300_000),
      deep,
    }
    const inserted = await item(storage, value)
    assert.deepEqual(inserted.value, value)
    const found = await find(storage, itemKind, inserted.id)
    assert.equal(JSON.stringify(found?.value), JSON.stringify(value))
    assert.deepEqual((await write(storage, replacement(inserted, { other: value })))[0]?.value, {
      other: value,
    })
  })

  check('ids and keys are any text of up to 250 characters', async ({ storage }) => {
    const texts = ["a'%_\n☃", "A'%_\n☃", "a'%_\n", 'a\\', 'a "b" ', 'a "b"', '☃'.repeat(250), 'x'.repeat(250)]
    const ids = texts.map((text) => ({ id: text }))
    const key = ({ name }: Item): string => String(name)
    const named = { ...itemKind, key }
    await write(
      storage,
      ...texts.map((text) => insertion({ name: text, id: text }, { kind: named, id: text })),
    )
    const refs = [...ids, ...texts.map((text) => ({ key: text }))]
    assert.deepEqual(
      (await storage.records.get(named, refs)).map((record) => record?.value.id),
      [...texts, ...texts],
    )
    const [first] = await storage.records.get(named, ids)
    assert.deepEqual(await write(storage, removal(named, texts[0] ?? '')), [first])
    assert.equal(
      countOf(await storage.records.get(named, ids), (record) => record === null),
      1,
    )
  })

  for (const [flaw, bad] of [
    ['an empty id', () => insertion({}, { id: '' })],
    ['an id of 251 characters', () => insertion({}, { id: 'x'.repeat(251) })],
    ['a key of 251 characters', () => insertion({ name: 'x'.repeat(251) })],
  ] as const) {
    check(`${flaw} fails its set, and no other`, async ({ storage }) => {
      const [before, beside, after] = [insertion(), insertion(), insertion()]
      const answers = await storage.records.write([[before], [beside, bad()], [after]])
      assert.deepEqual(answers.map(outcomeOf), ['written', 'failed', 'written'])
      assert.ok(answers[1]?.kind === 'failed' && answers[1].error instanceof NotifierError)
      const found = await storage.records.get(
        itemKind,
        [before, beside, after].map(({ id }) => ({ id })),
      )
      assert.deepEqual(
        found.map((record) => record?.id ?? null),
        [before.id, null, after.id],
      )
    })
  }

  check('an id and a key are taken once', async ({ storage }) => {
    const organizationId = await organization(storage)
    const first = await item(storage, { name: 'a' }, { id: 'one' })
    assert.equal(await outcome(storage, insertion({ name: 'b' }, { id: 'one' })), 'taken 0')
    assert.equal(await outcome(storage, insertion({ name: 'a' }, { id: 'two' })), 'taken 0')
    assert.equal(await outcome(storage, insertion({ name: 'c' }), insertion({ name: 'c' })), 'taken 1')
    assert.equal(await outcome(storage, insertion({ name: 'a' }, { organizationId })), 'written')
    assert.equal(await outcome(storage, keeping('one', null, { reason: 'x', source: null })), 'written')
    assert.equal(await outcome(storage, insertion({}), insertion({ name: null })), 'written')
    const refs = [{ id: 'one' }, { id: 'two' }, { key: keyOf('b') }, { key: keyOf('c') }]
    assert.deepEqual(await storage.records.get(itemKind, refs), [first, null, null, null])
  })

  check('many inserts that keep, in one set, each answer what is stored', async ({ storage }) => {
    const ifTaken = 'keep'
    const [stored, holder] = [await item(storage, { by: 0 }), await item(storage, { name: 'held', by: 1 })]
    const id = `item_${unique()}`
    const inserts = [
      insertion({ by: 2 }, { id, ifTaken }),
      insertion({ by: 3 }, { id: stored.id, ifTaken }),
      insertion({ by: 4 }, { id, ifTaken }),
      insertion({ name: 'held', by: 5 }, { ifTaken }),
      insertion({ by: 6 }, { ifTaken }),
    ]
    const [answer] = await storage.records.write([[insertion({ by: 7 }), ...inserts, removal(itemKind, id)]])
    assert.equal(answer?.kind, 'written')
    const records = answer?.kind === 'written' ? answer.records : []
    const by = records.map((record) => (record?.value as Item | undefined)?.by)
    assert.deepEqual(by, [7, 2, 0, 2, 1, 6, 2])
    assert.deepEqual(records[2], { ...stored, readAt: records[2]?.readAt })
    assert.equal(records[4]?.id, holder.id)
    assert.deepEqual(await find(storage, itemKind, id), null)
    const unknown = [
      insertion({}, { ifTaken }),
      insertion({}, { ...UNKNOWN, ifTaken }),
      insertion({}, { ...UNKNOWN, ifTaken }),
    ]
    assert.equal(await outcome(storage, ...unknown), 'no_organization 1')
    assert.equal(await find(storage, itemKind, unknown[0]?.id ?? ''), null)
  })

  check('an insert that keeps answers the stored record, and changes nothing', async ({ storage }) => {
    const ifTaken = 'keep'
    const first = await item(storage, { name: 'a', by: 'first' }, { ifTaken })
    const [byId, byKey, other] = await write(
      storage,
      insertion({ name: 'b' }, { id: first.id, ifTaken }),
      insertion({ name: 'a' }, { id: 'two', ifTaken }),
      insertion({ name: 'c' }, { id: 'three', ifTaken }),
    )
    assert.deepEqual([byId, byKey, other?.id], [first, first, 'three'])
    const [both] = await write(storage, insertion({ name: 'c' }, { id: first.id, ifTaken }))
    assert.deepEqual(both, first)
    const refs = [{ id: first.id }, { key: keyOf('a') }, { id: 'two' }, { key: keyOf('b') }]
    assert.deepEqual(await storage.records.get(itemKind, refs), [first, first, null, null])
  })

  check('a set is stored whole or not at all, the others of its call are', async ({ storage }) => {
    const { id, revision, value } = await item(storage, { name: 'a' })
    await item(storage, { name: 'taken' })
    const kept = keeping('other', DEFAULT_ORGANIZATION, { reason: 'x', source: null })
    const answers = await storage.records.write([
      [insertion({ name: 'b' })],
      [
        insertion({ name: 'c' }),
        replacement({ id, revision }, { name: 'd' }),
        kept,
        removal(itemKind, id),
        insertion({ name: 'taken' }),
      ],
      [insertion({ name: 'e' }), insertion({ name: 'f' })],
      [],
    ])
    assert.deepEqual(answers.map(outcomeOf), ['written', 'taken 4', 'written', 'written'])
    assert.deepEqual(answers[3], { kind: 'written', records: [] })
    const keys = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => ({ key: keyOf(name) }))
    assert.deepEqual(
      (await storage.records.get(itemKind, keys)).map((record) => record?.value.name ?? null),
      ['a', 'b', null, null, 'e', 'f'],
    )
    assert.deepEqual((await find(storage, itemKind, id))?.value, value)
    assert.equal(await find(storage, otherKind, 'other'), null)
    assert.deepEqual(await storage.records.write([]), [])
  })

  check('each write of a set sees those before it', async ({ storage }) => {
    const id = unique()
    const [inserted, replaced, other, removed, again] = await write(
      storage,
      insertion({ name: 'a' }, { id }),
      replacement({ id, revision: 1 }, { name: 'b' }),
      insertion({ name: 'a' }),
      removal(itemKind, id),
      insertion({ name: 'b' }, { id }),
    )
    assert.deepEqual([inserted?.revision, replaced?.revision, again?.revision], [1, 2, 1])
    assert.deepEqual(removed, replaced)
    const refs = [{ key: keyOf('a') }, { key: keyOf('b') }]
    assert.deepEqual(await storage.records.get(itemKind, refs), [other, again])
  })

  check('a replacement needs the revision that was read', async ({ storage }) => {
    const first = await item(storage, { name: 'a', by: 0 })
    assert.equal(await outcome(storage, replacement(first, { by: 1 })), 'written')
    assert.equal(await outcome(storage, insertion(), replacement(first, { by: 2 })), 'stale 1')
    assert.equal(await outcome(storage, replacement({ ...first, revision: 3 }, { by: 3 })), 'stale 0')
    assert.equal(await outcome(storage, replacement({ id: 'unknown', revision: 1 }, {})), 'unknown 0')
    const stored = await find(storage, itemKind, first.id)
    assert.deepEqual([stored?.revision, stored?.value], [2, { by: 1 }])
  })

  check('a changed key frees the old one, and needs one that is free', async ({ storage }) => {
    const [a, b] = [await item(storage, { name: 'a' }), await item(storage, { name: 'b' })]
    assert.equal(await outcome(storage, replacement(a, { name: 'b' })), 'taken 0')
    assert.equal(await outcome(storage, replacement(a, { name: 'a', changed: true })), 'written')
    assert.equal(await outcome(storage, replacement({ ...a, revision: 2 }, { name: 'c' })), 'written')
    const newA = await item(storage, { name: 'a' })
    assert.equal(await outcome(storage, replacement(b, { name: null })), 'written')
    const newB = await item(storage, { name: 'b' })
    const found = await storage.records.get(
      itemKind,
      ['a', 'b', 'c'].map((name) => ({ key: keyOf(name) })),
    )
    assert.deepEqual(
      found.map((record) => record?.id),
      [newA.id, newB.id, a.id],
    )
  })

  check('a removed record is gone, its id and key are free', async ({ storage }) => {
    const first = await item(storage, { name: 'a' })
    const refs = [{ id: first.id }, { key: keyOf('a') }]
    assert.deepEqual(await storage.records.get(itemKind, refs), [first, first])
    assert.deepEqual(await write(storage, removal(itemKind, first.id), removal(itemKind, first.id)), [
      first,
      null,
    ])
    assert.deepEqual(await storage.records.get(itemKind, refs), [null, null])
    assert.deepEqual(await write(storage, removal(itemKind, 'unknown')), [null])
    assert.equal(await outcome(storage, replacement(first, {})), 'unknown 0')
    const again = await item(storage, { name: 'a', again: true }, { id: first.id })
    assert.deepEqual(await find(storage, itemKind, first.id), again)
  })

  check('a removal can be limited to a record with certain fields', async ({ storage }) => {
    const value = { reason: 'a', source: null, nested: { z: [1, 'x'], a: {} }, group: 'g' }
    const { id } = await item(storage, value)
    const remove = async (only: Item): Promise<boolean> =>
      (await write(storage, removal(itemKind, id, only)))[0] !== null
    for (const only of [
      { reason: 'b' },
      { reason: 'a', source: 'x' },
      { reason: 'a', absent: null },
      { nested: { z: [1, 'y'], a: {} } },
    ]) {
      assert.equal(await remove(only), false)
    }
    assert.deepEqual((await find(storage, itemKind, id))?.value, value)
    assert.equal(await remove({ nested: value.nested, source: null, reason: 'a' }), true)
    assert.equal(await find(storage, itemKind, id), null)
  })

  check('a record needs an organization that exists, or none', async ({ storage }) => {
    assert.equal(await outcome(storage, insertion(), insertion({}, UNKNOWN)), 'no_organization 1')
    assert.equal(await outcome(storage, insertion({}, { ...UNKNOWN, ifTaken: 'keep' })), 'no_organization 0')
    const answers = await storage.records.write([
      [insertion()],
      [insertion({}, { ...UNKNOWN, id: 'theirs' })],
      [insertion({}, { id: 'nobodys', organizationId: null })],
    ])
    assert.deepEqual(answers.map(outcomeOf), ['written', 'no_organization 0', 'written'])
    assert.equal(await find(storage, itemKind, 'theirs'), null)
    const nobodys = await find(storage, itemKind, 'nobodys')
    assert.ok(nobodys !== null)
    assert.equal(nobodys.organizationId, null)
    assert.equal(await outcome(storage, replacement(nobodys, { by: 1 })), 'written')
    const all = await storage.records.list(itemKind, UNKNOWN, { limit: 10, offset: 0 })
    assert.deepEqual(all, { items: [], nextCursor: null })
  })
}

/** Come first in a set, so that sets in a race overlap. */
const others = (): RecordInsert<Item>[] => TEN.map(() => insertion())

/** Lets the storage open its connections, which takes longer than a race. */
async function warmUp(storage: Storage): Promise<void> {
  await Promise.all(TEN.map(() => write(storage, ...others())))
}

export function recordRaceChecks(check: Check): void {
  check('of ten inserts of one key or one id in a race one is stored', async ({ storage }) => {
    for (const change of [{}, { id: 'same' }]) {
      const name = 'id' in change ? undefined : 'same'
      const answers = await Promise.all(
        TEN.map((by) =>
          storage.records.write([[...others(), insertion({ by, ...(name && { name }) }, change)]]),
        ),
      )
      const outcomes = answers.flat().map(outcomeOf).sort()
      assert.deepEqual(outcomes, [...Array(9).fill('taken 10'), 'written'])
    }
    const { items } = await storage.records.list(
      itemKind,
      { organizationId: DEFAULT_ORGANIZATION },
      { limit: 100, offset: 0 },
    )
    assert.equal(items.length, 22)
  })

  check('ten inserts that keep, in a race, all answer the one that is stored', async ({ storage }) => {
    const sets = TEN.map((by) => [
      ...others(),
      insertion({ name: 'same', by }, { ifTaken: 'keep' }),
      keeping('same', null, { reason: String(by), source: null }),
    ])
    const written = await Promise.all(sets.map((set) => write(storage, ...set)))
    const [byKey] = await storage.records.get(itemKind, [{ key: keyOf('same') }])
    const byId = await find(storage, otherKind, 'same')
    for (const records of written) assert.deepEqual(records.slice(-2), [byKey, byId])
  })

  check('of ten replacements of one revision in a race one is stored', async ({ storage }) => {
    await warmUp(storage)
    const first = await item(storage, { by: -1 })
    const answers = await Promise.all(
      TEN.map((by) => storage.records.write([[...others(), replacement(first, { by })]])),
    )
    const outcomes = answers.flat().map(outcomeOf)
    assert.deepEqual(outcomes.toSorted(), [...Array(9).fill('stale 10'), 'written'])
    const stored = await find(storage, itemKind, first.id)
    assert.deepEqual([stored?.revision, stored?.value], [2, { by: outcomes.indexOf('written') }])
  })

  check('of ten removals in a race one removes', async ({ storage }) => {
    await warmUp(storage)
    const first = await item(storage)
    const removed = await Promise.all(TEN.map(() => write(storage, removal(itemKind, first.id))))
    assert.equal(
      countOf(removed.flat(), (record) => record !== null),
      1,
    )
  })

  check('sets in a race that touch the same records in opposite orders all end', async ({ storage }) => {
    const records = await Promise.all(TEN.map(() => item(storage, { by: -1 })))
    const answers = await Promise.all(
      [1, 2, 3, 4].map((by) => {
        const set = records.map((record) => replacement(record, { by }))
        return storage.records.write([by % 2 === 0 ? set : set.reverse()])
      }),
    )
    assert.deepEqual(answers.flat().map(outcomeOf).sort(), [...Array(3).fill('stale 0'), 'written'])
    const found = await storage.records.get(
      itemKind,
      records.map(({ id }) => ({ id })),
    )
    assert.equal(new Set(found.map((record) => record?.value.by)).size, 1)
  })
}
