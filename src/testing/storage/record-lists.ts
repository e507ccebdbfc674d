import assert from 'node:assert/strict'
import type { Storage } from '../../core/ports/storage/storage.ts'
import type { RecordKind } from '../../core/records/record-kind.ts'
import { DEFAULT_ORGANIZATION, OPEN, organizationKind } from '../../core/tenancy/organization.ts'
import { Absent } from '../test-api.ts'
import { accept, note, organization, page, readAll, TEN } from './fixtures.ts'
import type { Check } from './harness.ts'
import {
  CONTRACT_START,
  changeOrganization,
  find,
  type Item,
  insertion,
  item,
  itemKind,
  keyOf,
  newerKind,
  outcome,
  removal,
  replacement,
  write,
} from './record-fixtures.ts'

const MINUTE = 60_000

/** Ids of a list, read in pages of two, with an action between them. */
async function listed(
  storage: Storage,
  of: { readonly organizationId: string | null; readonly list?: string },
  between?: () => Promise<unknown>,
): Promise<string[]> {
  const records = await readAll(
    (request) => storage.records.list(itemKind, of, request),
    2,
    async () => void (await between?.()),
  )
  return records.map(({ id }) => id)
}

export function recordListChecks(check: Check): void {
  check('records are listed newest first, in pages, each organization its own', async ({ storage }) => {
    const other = await organization(storage)
    const owners = [DEFAULT_ORGANIZATION, other, null]
    const ids = new Map<string | null, string[]>(owners.map((owner) => [owner, []]))
    for (let index = 0; index < 5; index += 1) {
      for (const organizationId of owners) {
        const value = index % 2 === 0 ? {} : { group: 'a' }
        ids.get(organizationId)?.unshift((await item(storage, value, { organizationId })).id)
      }
    }
    for (const organizationId of owners) {
      const more = () => item(storage, {}, { organizationId })
      assert.deepEqual(await listed(storage, { organizationId }, more), ids.get(organizationId))
    }
    const of = { organizationId: DEFAULT_ORGANIZATION }
    const { items } = await storage.records.list(itemKind, of, page({ offset: 3, limit: 1 }))
    const all = await listed(storage, of)
    assert.deepEqual(
      items.map(({ id }) => id),
      all.slice(3, 4),
    )
    const nobody = await storage.records.list(itemKind, { organizationId: 'org_unknown' }, page())
    assert.deepEqual(nobody, { items: [], nextCursor: null })
  })

  check('each list of an organization is its own, newest first, in pages', async ({ storage }) => {
    const other = await organization(storage)
    const ids: Record<'a' | 'b', string[]> = { a: [], b: [] }
    for (let index = 0; index < 5; index += 1) {
      for (const group of ['a', 'b'] as const) ids[group].unshift((await item(storage, { group })).id)
      await item(storage)
      await item(storage, { group: 'a' }, { organizationId: other })
    }
    const organizationId = DEFAULT_ORGANIZATION
    for (const list of ['a', 'b'] as const) {
      const more = () => item(storage, { group: list })
      assert.deepEqual(await listed(storage, { organizationId, list }, more), ids[list])
    }
    assert.equal((await listed(storage, { organizationId: other, list: 'a' })).length, 5)
    for (const place of [
      { organizationId: other, list: 'b' },
      { organizationId, list: 'c' },
      { organizationId: null, list: 'a' },
    ]) {
      assert.deepEqual(await listed(storage, place), [])
    }
  })

  check('a list shows the records as they are stored', async (harness) => {
    const { storage } = harness
    const inserted = await item(storage, { name: 'a', group: 'g', nested: { x: [1] } })
    await harness.advance(MINUTE)
    const of = { organizationId: DEFAULT_ORGANIZATION }
    for (const list of [of, { ...of, list: 'g' }]) {
      const { items } = await storage.records.list(itemKind, list, page())
      assert.deepEqual(items, [{ ...inserted, readAt: inserted.createdAt + MINUTE }])
    }
  })

  check('a replaced record keeps its place, and moves to the list of its value', async ({ storage }) => {
    const records: Awaited<ReturnType<typeof item>>[] = []
    for (const group of ['a', 'a', 'b', 'a']) records.push(await item(storage, { group }))
    const [first, second, third, fourth] = records.map(({ id }) => id)
    const organizationId = DEFAULT_ORGANIZATION
    const lists = () =>
      Promise.all([
        listed(storage, { organizationId, list: 'a' }),
        listed(storage, { organizationId, list: 'b' }),
      ])
    const [oldest, , , newest] = records
    assert.ok(oldest !== undefined && newest !== undefined)
    await write(storage, replacement(oldest, { group: 'a', changed: true }))
    assert.deepEqual(await lists(), [[fourth, second, first], [third]])
    await write(storage, replacement(newest, { group: 'b' }))
    assert.deepEqual(await lists(), [
      [second, first],
      [fourth, third],
    ])
    await write(storage, removal(itemKind, second ?? ''), replacement({ ...oldest, revision: 2 }, {}))
    assert.deepEqual(await lists(), [[], [fourth, third]])
    assert.deepEqual(await listed(storage, { organizationId }), [fourth, third, first])
  })

  check("old records are removed by the storage's clock, oldest first, in steps", async (harness) => {
    const { storage } = harness
    const other = await organization(storage)
    const old: string[] = []
    for (let index = 0; index < 3; index += 1) old.push((await item(storage, { group: 'a' })).id)
    const replaced = await item(storage)
    const theirs = await item(storage, {}, { organizationId: other })
    const nobodys = await item(storage, {}, { organizationId: null })
    await harness.advance(MINUTE)
    await write(storage, replacement(replaced, { by: 1 }))
    const fresh = await item(storage)
    const organizationId = DEFAULT_ORGANIZATION
    const remove = (change: object = {}) =>
      storage.records.removeOld(itemKind, { organizationId, olderThanMs: MINUTE, most: 10, ...change })
    assert.equal(await remove({ olderThanMs: MINUTE + 1 }), 0)
    assert.equal(await remove({ most: 2 }), 2)
    assert.deepEqual(await listed(storage, { organizationId }), [fresh.id, replaced.id, old[2]])
    assert.equal(await remove({ most: 2 }), 2)
    assert.equal(await remove(), 0)
    assert.deepEqual(await listed(storage, { organizationId }), [fresh.id])
    assert.deepEqual(await listed(storage, { organizationId: other }), [theirs.id])
    assert.equal(await remove({ organizationId: null }), 1)
    assert.equal(await find(storage, itemKind, nobodys.id), null)
    assert.deepEqual(await listed(storage, { organizationId: other }), [theirs.id])
  })

  check('ten removals of old records in a race count each once', async (harness) => {
    const { storage } = harness
    await write(storage, ...Array.from({ length: 25 }, () => insertion()))
    await harness.advance(MINUTE)
    const of = { organizationId: DEFAULT_ORGANIZATION, olderThanMs: MINUTE, most: 4 }
    const counts = await Promise.all(TEN.map(() => storage.records.removeOld(itemKind, of)))
    // A storage may skip rows that another step holds.
    counts.push(await storage.records.removeOld(itemKind, { ...of, most: 25 }))
    assert.equal(
      counts.reduce((sum, count) => sum + count, 0),
      25,
    )
    assert.deepEqual(await listed(storage, of), [])
  })
}

/** Kinds and their versions, and other processes. */
export function recordKindChecks(check: Check): void {
  check('a newer version of a kind reads what an older one wrote in its own shape', async ({ storage }) => {
    const { id } = await item(storage, { name: 'a', group: 'g', extra: { deep: 1 } })
    const upgraded = { name: 'a', group: 'g', extra: { deep: 1 }, label: 'from 1' }
    const of = { organizationId: DEFAULT_ORGANIZATION, list: 'g' }
    const refs = [{ id }, { key: keyOf('a') }]
    const read = [
      ...(await storage.records.get(newerKind, refs)),
      ...(await storage.records.list(newerKind, of, page())).items,
      ...(await write(storage, { ...insertion({}, { id, ifTaken: 'keep' }), kind: newerKind })),
    ]
    assert.equal(read.length, 4)
    for (const record of read) assert.deepEqual(record?.value, upgraded)
    assert.deepEqual(await write(storage, removal(newerKind, id, { label: 'from 2' })), [null])
    const [removed] = await write(storage, removal(newerKind, id))
    assert.deepEqual(removed?.value, upgraded)
  })

  check('what a newer version wrote is not upgraded again', async ({ storage }) => {
    const older = await item(storage, { name: 'a' })
    const inserted = insertion({ label: 'inserted' }, { kind: newerKind })
    await write(storage, inserted, replacement(older, { label: 'replaced' }, newerKind))
    const found = await storage.records.get(newerKind, [{ id: inserted.id }, { id: older.id }])
    assert.deepEqual(
      found.map((record) => record?.value.label),
      ['inserted', 'replaced'],
    )
    assert.deepEqual((await find(storage, itemKind, older.id))?.value, { label: 'replaced' })
  })

  check('a replacement by an older version loses no field of a newer one', async ({ storage }) => {
    const value = { name: 'a', label: 'newer', extra: [1, { x: null }] }
    const { id } = await item(storage, value, { kind: newerKind })
    const read = await find(storage, itemKind, id)
    assert.ok(read !== null)
    assert.deepEqual(read.value, value)
    const [replaced] = await write(storage, replacement(read, { ...read.value, name: 'b' }))
    assert.deepEqual([replaced?.revision, replaced?.value], [2, { ...value, name: 'b' }])
    assert.deepEqual((await find(storage, newerKind, id))?.value, { ...value, name: 'b' })
    const [found] = await storage.records.get(newerKind, [{ key: keyOf('b') }])
    assert.equal(found?.id, id)
  })

  check('a later start can add kinds, and ten at once', async ({ storage }) => {
    const first = await item(storage, { name: 'a' })
    const late: RecordKind<Item> = { ...itemKind, name: 'contract_late' }
    const kinds = [...(CONTRACT_START.kinds ?? []), late]
    await Promise.all(TEN.map(() => storage.start({ ...CONTRACT_START, kinds })))
    const [added] = await write(storage, insertion({ name: 'a' }, { kind: late }))
    assert.deepEqual(await storage.records.get(late, [{ key: keyOf('a') }]), [added])
    assert.deepEqual(await find(storage, itemKind, first.id), first)
    await storage.start({ ...CONTRACT_START, kinds })
    assert.deepEqual(await storage.records.get(late, [{ key: keyOf('a') }]), [added])
  })

  check('another process reads and changes the same records', async ({ storage, another }) => {
    if (another === undefined) throw new Absent('The harness opens no second storage.')
    const second = await another()
    try {
      await second.start({ ...CONTRACT_START, kinds: [newerKind] })
      const first = await item(storage, { name: 'a' })
      const read = await find(second, newerKind, first.id)
      assert.deepEqual([read?.revision, read?.value], [1, { name: 'a', label: 'from 1' }])
      assert.equal(await outcome(second, insertion({ name: 'a' })), 'taken 0')
      await write(second, replacement(first, { name: 'b', label: 'theirs' }, newerKind))
      assert.equal(await outcome(storage, replacement(first, { name: 'c' })), 'stale 0')
      assert.deepEqual((await find(storage, itemKind, first.id))?.value, { name: 'b', label: 'theirs' })
      assert.deepEqual(await storage.records.get(itemKind, [{ key: keyOf('a') }]), [null])
      await write(second, removal(newerKind, first.id))
      assert.equal(await find(storage, itemKind, first.id), null)
      const id = await organization(second)
      await accept(storage, [note()], id)
      assert.equal((await item(storage, {}, { organizationId: id })).organizationId, id)
    } finally {
      await second.stop()
    }
  })

  check('org_default exists from the start, and a start more changes nothing', async ({ storage }) => {
    const stored = await find(storage, organizationKind, DEFAULT_ORGANIZATION)
    assert.deepEqual([stored?.organizationId, stored?.revision], [null, 1])
    assert.deepEqual(stored?.value, {
      name: 'Default',
      plan: null,
      smsCountries: null,
      senders: null,
      retention: null,
      tracking: { opens: false, clicks: false },
      deleting: null,
    })
    await changeOrganization(storage, DEFAULT_ORGANIZATION, { name: 'Renamed' })
    await storage.start(CONTRACT_START)
    const of = { organizationId: null, list: OPEN }
    const { items } = await storage.records.list(organizationKind, of, page())
    assert.deepEqual(
      items.map(({ id, value: { name } }) => [id, name]),
      [[DEFAULT_ORGANIZATION, 'Renamed']],
    )
  })
}
