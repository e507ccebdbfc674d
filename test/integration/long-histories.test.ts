import type { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { postgres } from '../../adapters/storage/postgres/index.ts'
import { MAX_SCANNED } from '../../adapters/storage/scan.ts'
import type { Notification } from '../../src/core/notification/notification.ts'
import { listSummaries } from '../../src/core/notification/notifications.ts'
import type { Page, PageRequest } from '../../src/core/ports/storage/page.ts'
import type { Storage } from '../../src/core/ports/storage/storage.ts'
import { ALL_ORGANIZATIONS } from '../../src/core/tenancy/all-organizations.ts'
import { accept, endpoint, note, notes, page, readAll } from '../../src/testing/storage/fixtures.ts'
import { describeEachWith } from '../support/left-out.ts'
import { onPostgres, sharedPostgres, uniqueSchema, whyNoPostgres } from '../support/postgres.ts'
import { openSqlite } from '../support/sqlite-handle.ts'
import { temporaryFile } from '../support/sqlite-harness.ts'
import { tappedPool } from '../support/tapped-pool.ts'

const organizationId = 'org_default'
const all = { organizationId: ALL_ORGANIZATIONS }
const hook = 'wh_long'
const rare = { channel: 'sms', to: '+4917' } as const
/** Six times what a page looks at. */
const LENGTH = 6 * MAX_SCANNED
/** Of both lists that the log is made of, where they end and what is above; and of one a row of another table for each. */
const MOST = 5 * MAX_SCANNED + 100

interface History {
  readonly storage: Storage
  run(sql: string): Promise<unknown>
  /** How many rows, of tables and indexes, the call has looked at. */
  lookedAtBy(call: () => Promise<unknown>): Promise<number>
  /** So many of another organization wait. */
  makeJobs(count: number): Promise<unknown>
  close(): Promise<void>
}

/** What lies above two notifications, of which the first was cancelled and the second waits: all of it is `sent`, or failed. */
interface Long extends History {
  readonly cancelled: string
  readonly queued: string
}

async function fill(history: History, filler: (from: number) => string): Promise<Long> {
  const { storage } = history
  const [cancelled = '', queued = ''] = await accept(storage, [note(rare), note()])
  await storage.notifications.cancel(cancelled)
  await endpoint(storage, { id: hook })
  const from = ((await storage.notifications.get(queued))?.createdAt ?? 0) + 1
  await history.run(filler(from))
  return { ...history, cancelled, queued }
}

async function onSqlite(): Promise<Long> {
  const { file, remove } = temporaryFile()
  const { storage, handle } = await openSqlite({ file })
  vi.restoreAllMocks()
  const run = async (sql: string): Promise<unknown> => handle.exec(sql)
  return fill(
    {
      storage,
      run,
      lookedAtBy: countOn(handle),
      makeJobs: (count) =>
        run(`
          WITH RECURSIVE filler (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM filler WHERE n < ${count})
          INSERT INTO carillon_jobs (id, organization, lane, high, state, due_at)
          SELECT 1000000 + 2 * n, 'org_other', 'l', 0, 0, 0 FROM filler`),
      async close() {
        await storage.stop()
        remove()
      },
    },
    (from) => `
      WITH RECURSIVE filler (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM filler WHERE n < ${LENGTH})
      INSERT INTO carillon_notifications (seq, id, organization, channel, recipient, created_at, high, content, failed)
      SELECT 10 + n, 'notif_' || (${from} + n), '${organizationId}', 'email', 'x', ${from} + n, 0, '{}', n % 2 FROM filler;
      INSERT INTO carillon_events (notification, sequence, organization, at, status, fact, provider)
      SELECT seq, 2, organization, created_at, iif(failed, 'failed', 'sent'), '{"type":"sent"}', 'p'
      FROM carillon_notifications WHERE seq > 10;
      INSERT INTO carillon_deliveries (id, event_id, event_type, organization, endpoint, created_at, state, payload)
      SELECT seq, 'evt_' || seq, 'notification.sent', organization, '${hook}', created_at, iif(seq = 11, 'failed', 'pending'), '{}'
      FROM carillon_notifications WHERE seq > 10`,
  )
}

/** Views that stand before the tables, on the storage's own connection, count each row that a statement passes by. */
function countOn(handle: DatabaseSync): History['lookedAtBy'] {
  let rows = 0
  handle.function('looked_at', { varargs: true }, () => {
    rows += 1
    return 1
  })
  return async (call) => {
    const tables = ['notifications', 'events', 'deliveries', 'jobs'].map((name) => `carillon_${name}`)
    for (const table of tables) {
      const sql = `CREATE TEMP VIEW ${table} AS SELECT * FROM main.${table} AS t`
      const key = table === 'carillon_events' ? 't.notification' : 't.rowid'
      handle.exec(`${sql} WHERE looked_at(${key})`)
    }
    rows = 0
    try {
      await call()
      return rows
    } finally {
      for (const table of tables) handle.exec(`DROP VIEW temp.${table}`)
    }
  }
}

async function onPostgresql(): Promise<Long> {
  const url = await sharedPostgres()
  const real = new pg.Pool({ connectionString: url, max: 4 })
  real.on('error', () => {})
  const schema = uniqueSchema()
  let explains = false
  let rows = 0
  const pool = tappedPool(real, async (client, query) => {
    if (explains && query.text.trimStart().startsWith('SELECT')) {
      const text = `EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ${query.text}`
      const explained = await client.query({ text, values: query.values ?? [] })
      rows += rowsOf(explained.rows[0]['QUERY PLAN'][0].Plan)
    }
    return client.query(query)
  })
  const storage = postgres({ pool: pool as never, schema })
  await storage.start()
  const run = (sql: string): Promise<unknown> =>
    onPostgres(url, (client) => client.query(sql.replaceAll('carillon_', `"${schema}".`)))
  const lookedAtBy = async (call: () => Promise<unknown>): Promise<number> => {
    rows = 0
    explains = true
    await call()
    explains = false
    return rows
  }
  return fill(
    {
      storage,
      run,
      lookedAtBy,
      makeJobs: (count) =>
        run(`
          INSERT INTO carillon_jobs (id, place, organization, lane, high, state, due_at, subject)
          SELECT 1000000 + 2 * n, n, 'org_other', 'l', false, 0, 0, 'n' || n FROM generate_series(1, ${count}) AS n`),
      async close() {
        await storage.stop()
        await real.end()
      },
    },
    (from) => `
      INSERT INTO carillon_notifications
        (seq, created_at, high, id, organization, channel, lane, recipient, content)
      SELECT 10 + n, ${from} + n, false, 'notif_' || (${from} + n), '${organizationId}', 'email', 'l', 'x', '{}'
      FROM generate_series(1, ${LENGTH}) AS n;
      INSERT INTO carillon_states
        (created_at, seq, organization, sequence, published, notification, status, fold, provider)
      SELECT created_at, seq, organization, 2, 2, id, CASE WHEN seq % 2 = 1 THEN 'failed' ELSE 'sent' END, '{}', 'p'
      FROM carillon_notifications WHERE seq > 10;
      INSERT INTO carillon_events (at, seq, sequence, notification, organization, status, fact)
      SELECT created_at, seq, 2, id, organization, 'sent', '{"type":"sent"}' FROM carillon_notifications WHERE seq > 10;
      INSERT INTO carillon_deliveries
        (seq, created_at, event_id, endpoint, event_type, organization, state, payload)
      SELECT seq, created_at, 'evt_' || created_at, '${hook}', 'notification.sent', organization,
        CASE WHEN seq = 11 THEN 'failed' ELSE 'pending' END, '{}'
      FROM carillon_notifications WHERE seq > 10`,
  )
}

interface Plan {
  readonly Plans?: readonly Plan[]
  readonly 'Relation Name'?: string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
}

function rowsOf(plan: Plan): number {
  const scanned = plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0)
  const own = plan['Relation Name'] !== undefined ? scanned * plan['Actual Loops'] : 0
  return (plan.Plans ?? []).reduce((sum, child) => sum + rowsOf(child), own)
}

type Read = (long: Long, request: PageRequest) => Promise<Page<unknown>>

const notifications =
  (filter: object): Read =>
  ({ storage }, request) =>
    storage.notifications.list({ organizationId, ...filter }, request)

const logs =
  (filter: object): Read =>
  ({ storage }, request) =>
    storage.logs.list({ organizationId, ...filter }, request)

/** Lists, and how many there are of each at the very end of the history, and nowhere else. */
const LISTS: readonly (readonly [string, number, Read])[] = [
  ['notifications that were cancelled', 1, notifications({ status: 'cancelled' })],
  ['notifications of a channel', 1, notifications({ channel: rare.channel })],
  ['notifications of a template', 0, notifications({ templateId: 'tpl_1' })],
  ['dead letters of a provider', 0, notifications({ status: 'failed', provider: 'other' })],
  ['the log of what was cancelled', 1, logs({ status: 'cancelled' })],
  ['the log of a channel', 2, logs({ channel: rare.channel })],
  ['cancelled notifications of all organizations', 1, notifications({ ...all, status: 'cancelled' })],
  ['notifications of all organizations on a channel', 1, notifications({ ...all, channel: rare.channel })],
  ['dead letters of all organizations', 0, notifications({ ...all, status: 'failed', provider: 'other' })],
  ['the log of all organizations by status', 1, logs({ ...all, status: 'cancelled' })],
  ['the log of all organizations by channel', 2, logs({ ...all, channel: rare.channel })],
  [
    'deliveries that have failed',
    1,
    ({ storage }, request) =>
      storage.webhookEndpoints.deliveries({ endpointId: hook, state: 'failed' }, request),
  ],
]

const STORAGES = [
  ['SQLite', onSqlite],
  ['PostgreSQL', onPostgresql],
] as const

describeEachWith(
  STORAGES,
  (name) => (name === 'PostgreSQL' ? whyNoPostgres() : null),
  'a long history on %s',
  (_, open) => {
    let long: Long

    beforeAll(async () => {
      long = await open()
    })

    afterAll(() => long?.close())

    it.each(LISTS)('is looked at in parts, each row in one of them: %s', async (_name, atTheEnd, read) => {
      const first = page({ limit: 10 })
      expect(await long.lookedAtBy(() => read(long, first))).toBeLessThan(MOST)
      const { items, nextCursor } = await read(long, first)
      expect([items, nextCursor]).toEqual([[], expect.any(String)])
      expect(await readAll((request) => read(long, request), 10)).toHaveLength(atTheEnd)
      // What is skipped is looked at as well, and not only that: so many are not found there.
      await expect(read(long, { limit: 10, offset: 1 })).rejects.toMatchObject({
        code: 'invalid_parameter',
        details: { field: 'offset' },
      })
    })

    it('is looked at in parts within a time as well, on every page', async () => {
      const read = notifications({ channel: rare.channel, from: 0, until: Number.MAX_SAFE_INTEGER })
      for (let request = page({ limit: 10 }), pages = 0; ; pages += 1) {
        expect(await long.lookedAtBy(() => read(long, request))).toBeLessThan(MOST)
        const { nextCursor } = await read(long, request)
        if (nextCursor === null) return expect(pages).toBeGreaterThan(2)
        request = page({ limit: 10, cursor: nextCursor })
      }
    })

    it('ends at the earlier of a time and a cursor', async () => {
      const { createdAt = 0 } = (await long.storage.notifications.get(long.queued)) ?? {}
      const all = { limit: 2, offset: 0 }
      const before = await notifications({ until: createdAt + 4 })(long, all)
      const idsOf = ({ items }: Page<unknown>): unknown => items.map((item) => (item as Notification).id)
      expect(idsOf(before)).toEqual([`notif_${createdAt + 3}`, `notif_${createdAt + 2}`])
      const request = { ...all, cursor: before.nextCursor ?? '' }
      const below = await notifications({ until: createdAt + 4 })(long, request)
      expect(idsOf(below)).toEqual([long.queued, long.cancelled])
      expect(await notifications({ until: createdAt })(long, request)).toEqual(
        await notifications({ until: createdAt })(long, all),
      )
    })

    it('is gone through once by a retry, however many its steps are', async () => {
      const most = 1_000
      const request = { filter: { organizationId, from: 1 }, lanes: {}, dryRun: true, most }
      let after: string | undefined
      const step = async (): Promise<void> => {
        after = (await long.storage.notifications.retry({ ...request, after })).next ?? undefined
      }
      do {
        expect(await long.lookedAtBy(step)).toBeLessThan(6 * most)
      } while (after !== undefined)
    })

    it('is looked at in parts for a page of the notifier, too', async () => {
      const read = () =>
        listSummaries(
          'notifications',
          long.storage,
          { organizationId, channel: rare.channel },
          page({ limit: 100 }),
          {
            channels: [],
          },
        )
      expect(await long.lookedAtBy(read)).toBeLessThan(MOST)
      expect(await read()).toMatchObject({ items: [], hasMore: true })
    })

    it.each<readonly [string, Read]>([
      ['notifications', notifications(all)],
      ['dead letters', notifications({ ...all, status: 'failed' })],
      [
        'dead letters within a time',
        notifications({ ...all, status: 'failed', from: 0, until: 9_999_999_999_999 }),
      ],
      ['the log', logs(all)],
      ['failures', ({ storage }, request) => storage.notifications.failures(all, request)],
    ])('costs pages over all organizations what they show, wherever they are: %s', async (_name, read) => {
      let cursor: string | undefined
      for (let pages = 0; pages < 30; pages += 1) {
        const request = page({ limit: 50, cursor })
        const { items, nextCursor } = await read(long, request)
        expect(items).toHaveLength(50)
        // A notification with its state, its events and the place of the newest.
        if (pages % 10 === 0 || pages === 29) {
          expect(await long.lookedAtBy(() => read(long, request))).toBeLessThan(50 * 8)
        }
        cursor = nextCursor ?? undefined
      }
    })

    it('is counted over all organizations up to a limit, and only in its time', async () => {
      const { createdAt = 0 } = (await long.storage.notifications.get(long.queued)) ?? {}
      const from = createdAt + 10
      const count = (until: number) => () => long.storage.logs.count({ ...all, from, until }, 100)
      expect(await count(from + 50)()).toMatchObject({ accepted: 50, exact: true })
      expect(await long.lookedAtBy(count(from + 50))).toBeLessThan(150)
      expect(await count(from + LENGTH)()).toMatchObject({ accepted: 100, exact: false })
      expect(await long.lookedAtBy(count(from + LENGTH))).toBeLessThan(300)
    })

    it('is no reason to stop before a page is full', async () => {
      const read = notifications({ status: 'sent' })
      const { items, nextCursor } = await read(long, { limit: 100, offset: MAX_SCANNED / 2 })
      expect([items.length, nextCursor]).toEqual([100, expect.any(String)])
      const all = await readAll((request) => notifications({ channel: 'email' })(long, request), 1_000)
      expect(new Set(all.map((item) => (item as Notification).id)).size).toBe(LENGTH + 1)
      expect(all).toHaveLength(LENGTH + 1)
    })

    it('is not looked at for one notification, nor for chosen ones', async () => {
      const chosen = { notificationId: long.cancelled, status: 'cancelled' }
      expect(await long.lookedAtBy(() => logs(chosen)(long, page()))).toBeLessThan(100)
      expect((await logs(chosen)(long, page())).items).toHaveLength(1)
      const ids = notifications({ ids: [long.cancelled], channel: rare.channel })
      expect(await long.lookedAtBy(() => ids(long, page()))).toBeLessThan(100)
      expect((await ids(long, page())).items).toHaveLength(1)
    })

    it('is not looked at for what waits, unless much does', async () => {
      const read = notifications({ status: 'queued', channel: 'email' })
      const only = { items: [{ id: long.queued }], nextCursor: null }
      expect(await long.lookedAtBy(() => read(long, page()))).toBeLessThan(100)
      expect(await read(long, page())).toMatchObject(only)
      await long.makeJobs(2 * MAX_SCANNED)
      expect(await long.lookedAtBy(() => read(long, page()))).toBeLessThan(MOST)
      expect(await readAll((request) => read(long, request), 10)).toMatchObject(only.items)
    })
  },
)

it('of what waits on SQLite the contents of a page are read, and no others', async () => {
  const { file, remove } = temporaryFile()
  const { storage, handle } = await openSqlite({ file })
  vi.restoreAllMocks()
  const waiting = await accept(storage, notes(200))
  let contents = 0
  handle.function('content_read', (content) => {
    contents += 1
    return content
  })
  const columns = handle.prepare("SELECT name FROM pragma_table_info('carillon_notifications')").all()
  const shown = columns.map(({ name }) =>
    name === 'content' ? 'content_read(t.content) AS content' : `t.${name}`,
  )
  handle.exec(
    `CREATE TEMP VIEW carillon_notifications AS SELECT ${shown} FROM main.carillon_notifications AS t`,
  )
  const { items } = await storage.notifications.list(
    { organizationId, status: 'queued' },
    page({ limit: 10 }),
  )
  expect(items.map(({ id }) => id)).toEqual(waiting.slice(-10).toReversed())
  expect(contents).toBeGreaterThanOrEqual(10)
  expect(contents).toBeLessThan(50)
  await storage.stop()
  remove()
})
