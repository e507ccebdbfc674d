import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import type { PostgresTransaction } from '../../adapters/storage/postgres/transaction-handles.ts'
import { MAX_SCANNED } from '../../adapters/storage/scan.ts'
import type { NotificationFilter } from '../../src/core/ports/storage/notifications.ts'
import type { PageRequest } from '../../src/core/ports/storage/page.ts'
import type { Storage } from '../../src/core/ports/storage/storage.ts'
import { ALL_ORGANIZATIONS } from '../../src/core/tenancy/all-organizations.ts'
import { accept, claim, ended, idOf, note, page, readAll } from '../../src/testing/storage/fixtures.ts'
import { eventually } from '../support/eventually.ts'
import { describeWithOwnPostgres, ownPostgres } from '../support/own-postgres.ts'
import { onPostgres, uniqueSchema } from '../support/postgres.ts'

const server = ownPostgres()
const own = { organizationId: 'org_default' }
const all = { organizationId: ALL_ORGANIZATIONS }
const STEP = 65_536

type Asked = Partial<NotificationFilter> & { readonly organizationId: string }

async function connected(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  onTestFinished(() => client.end())
  return client
}

async function opened() {
  const schema = uniqueSchema()
  const storage: Storage<PostgresTransaction> = await server.open(schema)
  const client = await connected()
  const query = async (sql: string): Promise<Record<string, unknown>[]> =>
    (await client.query(sql.replaceAll('carillon.', `"${schema}".`))).rows
  const ids = async (filter: Asked, limit = 100): Promise<string[]> =>
    (await readAll((request) => storage.notifications.list(filter, request), limit)).map(({ id }) => id)
  /** Addresses in runs and waiting, with small letters. */
  const entries = async (of = 'true') => {
    const [row] = await query(`
      SELECT (SELECT count(*)::integer FROM carillon.addresses WHERE ${of}) AS written,
        (SELECT count(*)::integer FROM (SELECT unnest(addresses) AS address FROM carillon.new_addresses) AS w
          WHERE ${of}) AS waiting`)
    return row
  }
  return { storage, query, ids, entries, write: () => sweep(storage) }
}

/** Writes a step of runs, as it does while expired data is removed. */
async function sweep(storage: Storage): Promise<string | null> {
  const what = { receiptsOlderThanMs: 1, unmatchedOlderThanMs: 1, longestMs: null }
  return (await storage.expire({ what, most: 100 })).next
}

/** Stores `count` numbered ones in accepts of a thousand. Each 1,000th is Ada's, of two organizations in turn. */
const fill = (count: number, from = 1): string => `
  WITH made AS (
    SELECT n, 'notif_' || lpad((1764000000000 + n)::text, 13, '0') || lpad(n::text, 16, '0') AS id,
      CASE WHEN n % 1000 = 0 THEN 'Ada@Example.com' ELSE md5(n::text) || '@example.com' END AS recipient,
      CASE WHEN n % 2000 = 0 THEN 'org_b' ELSE 'org_default' END AS organization
    FROM generate_series(${from}, ${from + count - 1}) AS n),
  stored AS (
    INSERT INTO carillon.notifications (seq, created_at, high, id, organization, channel, lane, recipient, content)
    SELECT n, n, false, id, organization, 'email', 'email', recipient, '{"body":"Hi"}' FROM made)
  INSERT INTO carillon.new_addresses (entries, first_id, last_id, ids, addresses)
  SELECT count(*), min(id), max(id), array_agg(id), array_agg(recipient) FROM made GROUP BY n / 1000`

const numbers = (found: readonly string[]): number[] => found.map((id) => Number(id.slice(-16)))

describeWithOwnPostgres('addresses', () => {
  it('are found in runs and behind them, in one organization and over all, on the first page', async () => {
    const { storage, query, ids, entries, write } = await opened()
    await query(fill(STEP + 5_000))
    expect(await write()).toBe('more')
    expect(await write()).toBeNull()
    await query(fill(3_000, 80_000))
    expect(await entries()).toEqual({ written: STEP + 5_000, waiting: 3_000 })
    const adas = [82_000, 81_000, 80_000, ...Array.from({ length: 70 }, (_, n) => (70 - n) * 1_000)]
    const ofOwn = adas.filter((n) => n % 2_000 !== 0)
    for (const filter of [{ to: 'ada@EXAMPLE.com' }, { toPrefix: 'ADA@' }]) {
      const first = await storage.notifications.list({ ...own, ...filter }, page())
      expect(numbers(first.items.map(({ id }) => id))).toEqual(ofOwn)
      expect(first.nextCursor).toBeNull()
      for (const limit of [4, 100]) {
        expect(numbers(await ids({ ...own, ...filter }, limit))).toEqual(ofOwn)
        expect(numbers(await ids({ ...all, ...filter }, limit))).toEqual(adas)
      }
      const skipped = await storage.notifications.list({ ...own, ...filter }, page({ limit: 3, offset: 2 }))
      expect(numbers(skipped.items.map(({ id }) => id))).toEqual(ofOwn.slice(2, 5))
      expect(numbers(await ids({ ...own, ...filter, from: 5_000, until: 9_000 }))).toEqual([7_000, 5_000])
      expect(await ids({ ...all, ...filter, status: 'cancelled' })).toEqual([])
    }
  })

  it('that wait are written when someone looks for one', async () => {
    const { query, ids, entries } = await opened()
    await query(fill(6_000))
    expect(await ids({ ...own, to: 'ada@example.com' })).toHaveLength(3)
    await eventually(async () => ((await entries())?.waiting === 0 ? true : null))
    expect(await ids({ ...own, to: 'ada@example.com' })).toHaveLength(3)
  })

  it('with more matches than a page examines, or than are gathered, are found all', async () => {
    const { query, ids, write } = await opened()
    await query(fill(10_000).replace('n % 1000 = 0', `n <= ${MAX_SCANNED + 300}`))
    await write()
    for (const filter of [{ to: 'ada@example.com' }, { toPrefix: 'ada@' }]) {
      expect(await ids({ ...own, ...filter })).toHaveLength(MAX_SCANNED + 300 - 1)
      expect(await ids({ ...all, ...filter })).toHaveLength(MAX_SCANNED + 300)
      expect(await ids({ ...own, ...filter, status: 'failed' })).toEqual([])
    }
    expect(new Set(await ids({ ...all, toPrefix: '' })).size).toBe(10_000)
  })

  it('of an accept that commits after a later one was written are found', async () => {
    const { storage, ids, entries, write } = await opened()
    const client = await connected()
    await client.query('BEGIN')
    const late = note({ to: 'ada@example.com' })
    const joined = await storage.join?.(client)
    await joined?.accept({ ...own, notifications: [late] })
    const [early] = await accept(storage, [note({ to: 'ada@example.com' })])
    await write()
    expect(await entries()).toEqual({ written: 1, waiting: 0 })
    expect(await ids({ ...own, to: 'ada@example.com' })).toEqual([early])
    await client.query('COMMIT')
    expect(new Set(await ids({ ...own, to: 'ada@example.com' }))).toEqual(new Set([early, late.id]))
    await write()
    expect(await entries()).toEqual({ written: 2, waiting: 0 })
    expect(new Set(await ids({ ...own, to: 'ada@example.com' }))).toEqual(new Set([early, late.id]))
  })

  it('go with their notifications, in a run or not, and a full run with its last one', async () => {
    const { storage, query, ids, entries, write } = await opened()
    await accept(
      storage,
      ['Ada@example.com', 'bob@example.com'].map((to) => note({ to })),
    )
    await write()
    await accept(
      storage,
      ['Ada@example.com', 'eve@example.com'].map((to) => note({ to })),
    )
    const jobs = await claim(storage, 4)
    const settle = (from: number, until: number) =>
      storage.settle(jobs.slice(from, until).map((job) => ended(job)))
    const remove = () => storage.expire({ what: { ...own, olderThanMs: 0 }, most: 100 })
    await settle(0, 3)
    await remove()
    expect(await entries()).toEqual({ written: 0, waiting: 1 })
    expect(await ids({ ...own, toPrefix: '' })).toEqual([idOf(jobs[3])])
    await query('UPDATE carillon.address_runs SET entries = 1000000')
    await write()
    expect(await entries()).toEqual({ written: 1, waiting: 0 })
    expect(await query('SELECT entries::integer FROM carillon.address_runs')).toEqual([{ entries: 1 }])
    await settle(3, 4)
    await remove()
    expect(await entries()).toEqual({ written: 0, waiting: 0 })
  })

  it('change with the address that an attempt begins with, in a run or not', async () => {
    const { storage, ids, entries, write } = await opened()
    const given = await accept(storage, [note({ to: 'Old@example.com' })])
    await write()
    given.push(...(await accept(storage, [note({ to: 'Old@example.com' }), note({ to: 'bob@example.com' })])))
    const jobs = await claim(storage, 3)
    const starts = jobs.map(({ jobId, token }, at) => ({
      ...{ jobId, token, provider: 'smtp' },
      ...(at === 2 ? {} : { to: 'New@example.com' }),
    }))
    expect(await storage.startAttempts(starts)).toEqual([true, true, true])
    const check = async (): Promise<void> => {
      expect(await ids({ ...own, to: 'old@example.com' })).toEqual([])
      expect(new Set(await ids({ ...own, to: 'new@example.com' }))).toEqual(new Set(given.slice(0, 2)))
      expect(await entries("lower(address) = 'old@example.com'")).toEqual({ written: 0, waiting: 0 })
    }
    await check()
    await write()
    await check()
    expect(await entries()).toEqual({ written: 3, waiting: 0 })
  })

  it('go with what is erased of a notification, in a run or not', async () => {
    const { storage, ids, entries, write } = await opened()
    const given = await accept(storage, [note()])
    await write()
    given.push(...(await accept(storage, [note(), note({ to: 'bob@example.com' })])))
    const erased = await storage.custody.erase({ ...own, ids: given.slice(0, 2) })
    expect(erased.erased).toHaveLength(2)
    expect(await entries()).toEqual({ written: 0, waiting: 1 })
    expect(await ids({ ...own, to: 'ada@example.com' })).toEqual([])
    expect(await ids({ ...own, to: 'bob@example.com' })).toEqual(given.slice(2))
  })

  it('of about the maximum length are found, and go with their notifications', async () => {
    const { storage, ids, entries, write } = await opened()
    // Not compressible.
    const start = randomBytes(2_000).toString('base64')
    const [one, other] = [1, 2].map(() => start + randomBytes(1_000).toString('base64'))
    const given = await accept(
      storage,
      [one, other].map((to = '') => note({ to })),
    )
    for (const written of [false, true]) {
      if (written) await write()
      expect(await entries()).toEqual({ written: written ? 2 : 0, waiting: written ? 0 : 2 })
      expect(await ids({ ...own, to: other })).toEqual(given.slice(1))
      expect(await ids({ ...own, toPrefix: one?.slice(0, -1) })).toEqual(given.slice(0, 1))
      expect(new Set(await ids({ ...own, toPrefix: start.toUpperCase() }))).toEqual(new Set(given))
    }
    await storage.custody.erase({ ...own, ids: given })
    expect(await entries()).toEqual({ written: 0, waiting: 0 })
  })

  it('are each in one run after writers in a race with removals', async () => {
    const { storage, query, entries } = await opened()
    await query(fill(20_000))
    const removal = async (): Promise<void> => {
      const what = { ...own, olderThanMs: 0 }
      let { next: after } = await storage.expire({ what, most: 100 })
      for (let steps = 0; after !== null && steps < 20; steps += 1)
        ({ next: after } = await storage.expire({ what, most: 100, after }))
    }
    await Promise.all([removal(), ...Array.from({ length: 4 }, () => sweep(storage)), removal()])
    const [left] = await query('SELECT count(*)::integer AS written FROM carillon.notifications')
    expect(left?.written).toBeLessThan(20_000)
    await sweep(storage)
    expect(await entries()).toEqual({ ...left, waiting: 0 })
  })

  it('are found once after a crash while they are written', async () => {
    const schema = uniqueSchema()
    const storage = await server.open(schema)
    await onPostgres(server.url, (client) =>
      client.query(fill(STEP + 1).replaceAll('carillon.', `"${schema}".`)),
    )
    const writing = sweep(storage).catch(() => null)
    await server.crash()
    await writing
    for (let turn = 0; turn < 2; turn += 1) {
      const list = (request: PageRequest) =>
        storage.notifications.list({ ...all, to: 'ada@example.com' }, request)
      expect(await readAll(list, 100)).toHaveLength(65)
      await sweep(storage)
    }
  })
})
