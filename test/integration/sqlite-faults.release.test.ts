import { statSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { sqlite } from '../../adapters/storage/sqlite/index.ts'
import type { Fact } from '../../src/core/notification/facts.ts'
import type { Storage } from '../../src/core/ports/storage/storage.ts'
import {
  accept,
  claim,
  claimOne,
  deliver,
  ended,
  endpoint,
  idOf,
  note,
  notes,
  organization,
  page,
  sent,
  timeOf,
} from '../../src/testing/storage/fixtures.ts'
import {
  CONTRACT_START,
  item,
  itemKind,
  keyOf,
  removal,
  replacement,
  write,
} from '../../src/testing/storage/record-fixtures.ts'
import { openSqlite } from '../support/sqlite-handle.ts'
import { sqliteSecondDoor, temporaryFile } from '../support/sqlite-harness.ts'

const ORGANIZATION = 'org_default'
const quota = { period: '2026-01', limit: 100_000 }
const idempotency = {
  organizationId: ORGANIZATION,
  operation: 'batch',
  key: 'k',
  fingerprint: 'f',
  result: 'r',
  ttlMs: 1_000,
} as const

let file = ''
let remove = (): void => {}
let storage: Storage
let handle: DatabaseSync
let statements: ReadonlySet<string>
let reader: DatabaseSync

beforeEach(async () => {
  ;({ file, remove } = temporaryFile())
  ;({ storage, handle, statements } = await openSqlite({ file }))
  await storage.start(CONTRACT_START)
  reader = new DatabaseSync(file)
})

afterEach(async () => {
  vi.restoreAllMocks()
  await storage.stop()
  reader.close()
  remove()
})

async function stored(): Promise<unknown> {
  const door = sqliteSecondDoor(reader)
  return {
    notifications: await door.notifications(),
    jobs: await door.jobs(),
    events: await door.events(),
    deliveries: await door.deliveries(),
    idempotency: await door.idempotency(),
    used: reader.prepare('SELECT used FROM carillon_usage').all(),
  }
}

/** Lets the file grow no further. */
function fillDisk(): void {
  const pages = handle.prepare('PRAGMA page_count').get()?.page_count
  handle.exec(`PRAGMA max_page_count = ${Number(pages)}`)
}

function freeDisk(): void {
  handle.exec('PRAGMA max_page_count = 1000000')
}

test('a full disk stores nothing of a set, and the storage works again when there is room', async () => {
  await accept(storage, notes(3))
  const before = await stored()
  fillDisk()
  const request = { organizationId: ORGANIZATION, notifications: notes(2_000), idempotency, quota }
  const failure = await storage.accept([request]).catch((error: unknown) => error)
  expect(failure).toMatchObject({ code: 'service_unavailable', retryable: true })
  expect((failure as Error).cause).toMatchObject({ message: 'database or disk is full' })
  expect(await stored()).toEqual(before)
  freeDisk()
  expect(await storage.accept([request])).toMatchObject([{ kind: 'accepted', admitted: 2_000 }])
  expect(await storage.quotaUsed(ORGANIZATION, quota.period)).toBe(2_000)
})

test('a full disk does not end an attempt half', async () => {
  await endpoint(storage)
  await accept(storage, notes(100))
  const jobs = await claim(storage, 100)
  const before = await stored()
  fillDisk()
  const long: Fact = sent({ message: 'x'.repeat(4_000) })
  const settlements = jobs.map((job) => ended(job, [long]))
  await expect(storage.settle(settlements)).rejects.toMatchObject({ code: 'service_unavailable' })
  expect(await stored()).toEqual(before)
  freeDisk()
  const answers = await storage.settle(settlements)
  expect(answers.every(({ kind }) => kind === 'settled')).toBe(true)
})

test('the log that has grown under a long reader gives its room back', async () => {
  const size = (): number => statSync(`${file}-wal`).size
  reader.exec('BEGIN')
  reader.prepare('SELECT count(*) FROM carillon_jobs').get()
  handle.exec('CREATE TABLE large (bytes BLOB)')
  for (let megabyte = 0; megabyte < 70; megabyte += 1) {
    handle.exec('INSERT INTO large VALUES (zeroblob(1 << 20))')
  }
  expect(size()).toBeGreaterThan(70 << 20)
  reader.exec('COMMIT')
  // The first brings the log into the database, the next begins it anew.
  for (const one of notes(2)) await accept(storage, [one])
  expect(size()).toBe(64 << 20)
})

test("another process' long transaction is waited for, then told as unavailable", async () => {
  const before = await stored()
  handle.exec('PRAGMA busy_timeout = 50')
  reader.exec('BEGIN IMMEDIATE')
  const request = { organizationId: ORGANIZATION, notifications: [note()] }
  await expect(storage.accept([request])).rejects.toMatchObject({ code: 'service_unavailable' })
  await expect(organization(storage)).rejects.toMatchObject({ code: 'service_unavailable' })
  await expect(storage.claim({ lanes: [], leaseMs: 1 })).rejects.toMatchObject({
    code: 'service_unavailable',
  })
  expect((await storage.notifications.list({ organizationId: ORGANIZATION }, page())).items).toEqual([])
  reader.exec('ROLLBACK')
  expect(await stored()).toEqual(before)
  expect(await storage.accept([request])).toMatchObject([{ kind: 'accepted' }])
})

test('a handle that was closed underneath is told as unavailable', async () => {
  await accept(storage, [note()])
  handle.close()
  const calls = [
    () => storage.accept([{ organizationId: ORGANIZATION, notifications: [note()] }]),
    () => storage.claim({ lanes: [], leaseMs: 1 }),
    () => storage.settle([]),
    () => storage.notifications.get('notif_1'),
    () => timeOf(storage),
    () => organization(storage),
  ]
  for (const call of calls) await expect(call()).rejects.toMatchObject({ code: 'service_unavailable' })
  await storage.stop()
  await storage.start()
  expect(await claim(storage)).toHaveLength(1)
})

test('a read-only database stores nothing and says so', async () => {
  handle.exec('PRAGMA query_only = ON')
  await expect(
    storage.accept([{ organizationId: ORGANIZATION, notifications: [note()] }]),
  ).rejects.toMatchObject({ code: 'service_unavailable' })
  handle.exec('PRAGMA query_only = OFF')
  await accept(storage, [note()])
})

test('a place that cannot be opened, and a file that is no database, are faults of the configuration', async () => {
  writeFileSync(`${file}.txt`, 'This is a text. '.repeat(1_000))
  const faults: [string, string][] = [
    [dirname(file), 'is a directory'],
    [join(dirname(file), 'nowhere', 'x.db'), 'cannot be opened (ENOENT)'],
    [`${file}.txt`, 'is not a SQLite database'],
  ]
  for (const [path, fault] of faults) {
    const there = sqlite({ file: relative(process.cwd(), path) })
    await expect(there.start()).rejects.toMatchObject({
      code: 'invalid_configuration',
      retryable: false,
      message: expect.stringContaining(`"${path}" ${fault}`),
      details: { option: 'file' },
      cause: { code: 'ERR_SQLITE_ERROR' },
    })
    await there.stop()
  }
})

test('one notification that cannot be stored fails its request alone', async () => {
  const guilty = note({ content: { body: 'x', count: 1n } as never })
  const answers = await storage.accept(
    [[note()], [note(), guilty], [note()]].map((notifications, index) => ({
      organizationId: ORGANIZATION,
      notifications,
      quota,
      idempotency: { ...idempotency, key: `k${index}` },
    })),
  )
  expect(answers.map(({ kind }) => kind)).toEqual(['accepted', 'failed', 'accepted'])
  expect(answers[1]).toMatchObject({ error: { code: 'internal_server_error' } })
  expect(await storage.quotaUsed(ORGANIZATION, quota.period)).toBe(2)
  expect(await sqliteSecondDoor(reader).notifications()).toHaveLength(2)
  expect(await sqliteSecondDoor(reader).idempotency()).toHaveLength(2)
})

test('one settlement that cannot be recorded fails alone, and keeps its lease', async () => {
  await accept(storage, notes(3))
  const [first, second, third] = await claim(storage)
  if (first === undefined || second === undefined || third === undefined)
    throw new Error('three jobs expected')
  const guilty = ended(second, [sent(), { type: 'failed', durationMs: 1n as never }])
  const answers = await storage.settle([ended(first), guilty, ended(third)])
  expect(answers.map(({ kind }) => kind)).toEqual(['settled', 'failed', 'settled'])
  expect(await sqliteSecondDoor(reader).events()).toHaveLength(2)
  expect(await storage.settle([ended(second)])).toMatchObject([{ kind: 'settled' }])
})

test('one report that cannot be recorded fails alone, and counts as new when it comes again', async () => {
  await endpoint(storage)
  await accept(storage, [note()])
  await deliver(storage, [sent({ providerMessageId: 'm' })])
  const report = (dedupeKey: string, fact: object) => ({
    provider: 'smtp',
    organizationId: null,
    dedupeKey,
    fact: { type: 'opened', provider: 'smtp', providerMessageId: 'm', ...fact } as Fact,
  })
  const answers = await storage.recordReceipts([
    report('1', { type: 'delivered' }),
    report('2', { occurredAt: 1n }),
    report('1', { type: 'delivered' }),
    report('3', { type: 'clicked' }),
  ])
  expect(answers.map(({ kind }) => kind)).toEqual(['recorded', 'failed', 'duplicate', 'recorded'])
  expect(answers[1]).toMatchObject({ error: { code: 'internal_server_error' } })
  expect(await sqliteSecondDoor(reader).deliveries()).toHaveLength(2)
  expect(await storage.recordReceipts([report('2', {})])).toMatchObject([{ kind: 'recorded' }])
})

test('no statement walks through a table that grows', async () => {
  const hook = await endpoint(storage)
  const [id = ''] = await accept(storage, [...notes(3), note({ priority: 'high' })])
  await deliver(storage, [sent({ providerMessageId: 'm' })])
  const job = await claimOne(storage)
  await storage.release([job])
  await storage.renew([job], 1)
  await claimOne(storage, hook.id)
  await storage.claim({ recovered: [hook.id], leaseMs: 1 })
  await storage.claim({ ids: ['1'], leaseMs: 1 })
  await storage.notifications.cancel(id)
  await storage.notifications.timeline(id)
  const filter = { organizationId: ORGANIZATION }
  await storage.notifications.list({ ...filter, from: 0, until: 1 }, page({ cursor: '1.1' }))
  await storage.logs.list({ ...filter, notificationId: id }, page())
  await storage.logs.list(filter, page({ cursor: '1.1.1' }))
  await storage.logs.list({ ...filter, status: 'sent', channel: 'sms' }, page())
  await storage.recordReceipts([
    { provider: 'p', organizationId: null, dedupeKey: '1', fact: { type: 'opened', providerMessageId: 'x' } },
  ])
  await storage.findIdempotent([idempotency])
  await storage.accept([{ organizationId: ORGANIZATION, notifications: [], idempotency, quota }])
  await storage.webhookEndpoints.list(ORGANIZATION, page())
  await storage.webhookEndpoints.update(hook.id, { status: 'disabled' })
  await storage.webhookEndpoints.delete(hook.id, 100)
  const stored = await item(storage, { name: 'a', group: 'g' })
  const [changed] = await write(storage, replacement(stored, { name: 'b', group: 'g' }))
  await storage.records.get(itemKind, [{ id: stored.id }, { key: keyOf('b') }])
  await storage.records.list(itemKind, filter, page({ cursor: '1' }))
  await storage.records.list(itemKind, { ...filter, list: 'g' }, page({ cursor: '1' }))
  await write(storage, removal(itemKind, changed?.id ?? ''))
  await storage.records.removeOld(itemKind, { ...filter, olderThanMs: 1, most: 10 })
  const gone = await organization(storage)
  await storage.deletions.begin(gone, { force: true, kinds: [itemKind] })
  for (let left = ''; left !== 'nothing'; ) left = (await storage.deletions.purge(gone, 10)).left

  const walks: string[] = []
  for (const sql of statements) {
    if (!/^\s*(SELECT|UPDATE|DELETE|INSERT|WITH)/.test(sql)) continue
    for (const { detail } of handle.prepare(`EXPLAIN QUERY PLAN ${sql}`).all()) {
      if (/^SCAN (carillon_|[a-z]\b)|^USE TEMP B-TREE FOR .*ORDER BY/.test(String(detail)))
        walks.push(`${detail}: ${sql.trim()}`)
    }
  }
  // What these look at is small: one row of a table, the names of tables, the jobs of recovery, the events of one
  // notification. Only the last one, of a deletion, reads a table that grows.
  const bounded = [
    /unmatched_receipts\) AS found/,
    /unmatched_receipts ORDER BY id LIMIT 100/,
    /carillon_schema_version/,
    /FROM carillon_r_\w+ LIMIT 1$/,
    /WHERE state = 3 AND lane IN/,
    /AND n\.id = \?/,
    /FROM sqlite_schema/,
    /DELETE FROM carillon_unmatched_receipts WHERE id IN/,
  ]
  const known = (walk: string): boolean => bounded.some((one) => one.test(walk.replace(/\s+/g, ' ')))
  expect(walks.filter((walk) => !known(walk))).toEqual([])
  expect(statements.size).toBeGreaterThan(40)
})

test('a notification that somebody has removed by hand takes its job along, and no delivery of its number', async () => {
  const endpoints = [await endpoint(storage), await endpoint(storage)]
  await accept(storage, notes(1))
  await deliver(storage)
  const [gone = '', last = ''] = await accept(storage, notes(2))
  // The second notification of the file, in which two deliveries wait.
  reader.prepare('DELETE FROM carillon_notifications WHERE id = ?').run(gone)
  expect((await claim(storage)).map(idOf)).toEqual([last])
  const events = await Promise.all(endpoints.map(({ id }) => claim(storage, 100, id)))
  expect(events.map(({ length }) => length)).toEqual([1, 1])
  expect(reader.prepare('SELECT count(*) AS left FROM carillon_jobs').get()?.left).toBe(3)
})

test('a delivery that somebody has removed by hand takes its job along, and no other of its endpoint', async () => {
  const { id } = await endpoint(storage)
  await accept(storage, notes(5))
  for (let left = 5; left > 0; left -= 1) await deliver(storage)
  reader.prepare('DELETE FROM carillon_deliveries WHERE id = (SELECT min(id) FROM carillon_deliveries)').run()
  expect(await claim(storage, 1, id)).toEqual([])
  expect(await claim(storage, 5, id)).toHaveLength(4)
})
