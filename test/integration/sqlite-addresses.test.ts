import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { MAX_SCANNED } from '../../adapters/storage/scan.ts'
import { sqlite } from '../../adapters/storage/sqlite/index.ts'
import type { NotificationFilter } from '../../src/core/ports/storage/notifications.ts'
import type { Storage } from '../../src/core/ports/storage/storage.ts'
import { ALL_ORGANIZATIONS } from '../../src/core/tenancy/all-organizations.ts'
import { accept, claim, note, page, readAll } from '../../src/testing/storage/fixtures.ts'
import { temporaryFile } from '../support/sqlite-harness.ts'

const RUN = 8_192
const own = { organizationId: 'org_default' }
const all = { organizationId: ALL_ORGANIZATIONS }
/** Not a multiple of a run. */
const LENGTH = 3 * RUN + 1_000

let storage: Storage
let handle: DatabaseSync
let close: () => Promise<void>

beforeEach(async () => {
  const { file, remove } = temporaryFile()
  storage = sqlite({ file })
  await storage.start()
  handle = new DatabaseSync(file)
  close = async () => {
    await storage.stop()
    handle.close()
    remove()
  }
})
afterEach(() => close())

/** Every 1,000th is Ada's, of two organizations in turn; ids and times are in the order of numbers, or in another one. */
function fill(from: number, count: number, at = (n: number): number => n): void {
  const insert = handle.prepare(`
    INSERT INTO carillon_notifications (seq, id, organization, channel, recipient, created_at, high, content)
    VALUES (?, ?, ?, 'email', ?, ?, 0, '{"body":"Hi"}')`)
  handle.exec('BEGIN')
  for (let n = from; n < from + count; n += 1) {
    const to = n % 1_000 === 0 ? 'Ada@example.com' : `person-${(n * 7_919) % 100_003}@example.com`
    insert.run(
      n,
      `notif_${String(at(n)).padStart(34, '0')}`,
      n % 2_000 === 0 ? 'org_b' : own.organizationId,
      to,
      at(n),
    )
  }
  handle.exec('COMMIT')
}

const numbersOf = async (filter: Partial<NotificationFilter> & { organizationId: string }, limit = 100) => {
  const found = await readAll((request) => storage.notifications.list(filter, request), limit)
  return found.map(({ id }) => Number(id.slice('notif_'.length)))
}

const entries = (): unknown => handle.prepare('SELECT count(*) AS count FROM carillon_addresses').get()?.count

/** Numbers of Ada's in an organization. */
const adas = (isOwn: boolean): number[] =>
  Array.from({ length: LENGTH }, (_, n) => n).filter(
    (n) => n > 0 && n % 1_000 === 0 && (n % 2_000 !== 0) === isOwn,
  )

it('finds what is in runs and behind them, in one organization and over all, on the first page', async () => {
  fill(1, LENGTH)
  const ofOwn = adas(true).reverse()
  const ofAll = [...adas(true), ...adas(false)].sort((a, b) => b - a)
  for (const filter of [{ to: 'ada@EXAMPLE.com' }, { toPrefix: 'ADA@' }]) {
    const first = await storage.notifications.list({ ...own, ...filter }, page())
    expect(first.items.map(({ createdAt }) => createdAt)).toEqual(ofOwn)
    expect(first.nextCursor).toBeNull()
    for (const limit of [1, 4, 100]) {
      expect(await numbersOf({ ...own, ...filter }, limit)).toEqual(ofOwn)
      expect(await numbersOf({ ...all, ...filter }, limit)).toEqual(ofAll)
    }
    const skipped = await storage.notifications.list({ ...own, ...filter }, page({ limit: 3, offset: 2 }))
    expect(skipped.items.map(({ createdAt }) => createdAt)).toEqual(ofOwn.slice(2, 5))
    expect(await numbersOf({ ...own, ...filter, from: 5_000, until: 9_000 })).toEqual([7_000, 5_000])
    expect(await numbersOf({ ...all, ...filter, status: 'cancelled' })).toEqual([])
  }
  expect(entries()).toBe(3 * RUN - 1)
})

it('lists by time and by id, not by the order of runs', async () => {
  fill(1, LENGTH, (n) => LENGTH - n + 1)
  const ofOwn = adas(true).map((n) => LENGTH - n + 1)
  const ofAll = [...adas(true), ...adas(false)].sort((a, b) => a - b).map((n) => LENGTH - n + 1)
  for (const limit of [3, 100]) {
    expect(await numbersOf({ ...own, to: 'ada@example.com' }, limit)).toEqual(ofOwn)
    expect(await numbersOf({ ...all, to: 'ada@example.com' }, limit)).toEqual(ofAll)
  }
})

it('finds each of more matches than a page examines, and of more than it gathers', async () => {
  fill(1, RUN + 10)
  const matches = (most: number): void =>
    void handle.exec(`UPDATE carillon_notifications SET recipient = 'many@example.com' WHERE seq <= ${most}`)
  matches(MAX_SCANNED + 300)
  for (const filter of [{ to: 'many@example.com' }, { toPrefix: 'many' }]) {
    expect((await numbersOf({ ...own, ...filter })).length).toBe(MAX_SCANNED + 300 - 1)
    expect(await numbersOf({ ...own, ...filter, status: 'failed' })).toEqual([])
  }
  expect((await numbersOf({ ...all, to: 'many@example.com' })).length).toBe(MAX_SCANNED + 300)
  fill(RUN + 100, 3_000)
  const wide = await numbersOf({ ...own, toPrefix: 'p' })
  expect(new Set(wide).size).toBe(wide.length)
  expect(wide.length).toBeGreaterThan(4 * MAX_SCANNED)
})

it('forgets what is removed, and finds what gets the number of something removed', async () => {
  fill(1, 2 * RUN + 5)
  expect(await numbersOf({ ...all, to: 'ada@example.com' })).toHaveLength(16)
  const isIndexed = (): void => {
    const sql = 'SELECT count(*) AS count FROM carillon_notifications WHERE seq < ?'
    expect(entries()).toBe(handle.prepare(sql).get(2 * RUN)?.count)
  }
  const what = { ...own, olderThanMs: 0 }
  let { next: after } = await storage.expire({ what, most: 100 })
  expect(await numbersOf({ ...all, to: 'ada@example.com' })).toHaveLength(16)
  isIndexed()
  while (after !== null) ({ next: after } = await storage.expire({ what, most: 100, after }))
  expect(await numbersOf({ ...all, to: 'ada@example.com' })).toEqual(adas(false).reverse().slice(-8))
  expect(entries()).toBe(4)

  // It gets the number of one that was in a run.
  const [id] = await accept(storage, [note({ to: 'Eve@example.com' })])
  expect(handle.prepare('SELECT max(seq) AS seq FROM carillon_notifications').get()?.seq).toBe(16_001)
  const found = await storage.notifications.list({ ...own, to: 'eve@example.com' }, page())
  expect(found.items.map((item) => item.id)).toEqual([id])
})

it('finds a message by the address that an attempt begins with, in a run too', async () => {
  const [id] = await accept(storage, [note({ to: 'Old@example.com' })])
  fill(2, RUN + 10)
  const idsOf = async (to: string): Promise<string[]> =>
    (await storage.notifications.list({ ...own, to }, page())).items.map((item) => item.id)
  expect(await idsOf('old@example.com')).toEqual([id])
  const [job] = await claim(storage)
  const [begun] = await storage.startAttempts([
    { jobId: job?.jobId ?? '', token: job?.token ?? 0, provider: 'smtp', to: 'New@example.com' },
  ])
  expect(begun).toBe(true)
  expect([await idsOf('old@example.com'), await idsOf('new@example.com')]).toEqual([[], [id]])
  const addresses = handle
    .prepare("SELECT address FROM carillon_addresses WHERE address LIKE '%@example.com' AND notification = 1")
    .all()
  expect(addresses.map(({ address }) => address)).toEqual(['new@example.com'])
})

it('writes runs while expired data is removed, one a step', async () => {
  fill(1, LENGTH)
  const what = { receiptsOlderThanMs: 1, unmatchedOlderThanMs: 1, longestMs: null }
  const counts: unknown[] = []
  for (let next: string | null = ''; next !== null; ) {
    ;({ next } = await storage.expire({ what, most: 100 }))
    counts.push(entries())
  }
  expect(counts).toEqual([RUN - 1, 2 * RUN - 1, 3 * RUN - 1, 3 * RUN - 1])
})

it('finds an address while another program holds the lock, by walking', { timeout: 30_000 }, async () => {
  fill(1, RUN + 10)
  handle.exec('BEGIN IMMEDIATE')
  const found = await numbersOf({ ...own, to: 'ada@example.com' })
  handle.exec('ROLLBACK')
  expect(found).toEqual([7_000, 5_000, 3_000, 1_000])
  expect(entries()).toBe(0)
})

it('reads a page within the call unless a run is missing, so that its caller shares out the turns', async () => {
  fill(1, RUN + 10)
  const ofAda = () => storage.notifications.list({ ...own, to: 'ada@example.com' }, page())
  await ofAda()
  const asked = ofAda()
  handle.exec('DELETE FROM carillon_notifications')
  expect((await asked).items).toHaveLength(4)
  expect((await ofAda()).items).toEqual([])
})
