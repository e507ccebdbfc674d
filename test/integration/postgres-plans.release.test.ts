import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { postgres } from '../../adapters/storage/postgres/index.ts'
import type { ClaimedJob } from '../../src/core/ports/storage/claim.ts'
import type { DelayedOf } from '../../src/core/ports/storage/notifications.ts'
import type { Storage } from '../../src/core/ports/storage/storage.ts'
import {
  accept,
  claim,
  deliver,
  ended,
  endpoint,
  note,
  notes,
  page,
  retried,
} from '../../src/testing/storage/fixtures.ts'
import { CONTRACT_START, itemKind } from '../../src/testing/storage/record-fixtures.ts'
import { eventually } from '../support/eventually.ts'
import { describeWithOwnPostgres, ownPostgres } from '../support/own-postgres.ts'
import { onPostgres, uniqueSchema } from '../support/postgres.ts'
import { tappedPool } from '../support/tapped-pool.ts'

const organizationId = 'org_default'
const quota = { period: '2026-11', limit: 100_000 }
const ROWS = 50_000
const NAMED = 20

/** As the first month of a large organization: every notification has failed. */
const FILL = `
  CREATE TEMPORARY TABLE made AS
    SELECT n AS seq, 'notif_' || lpad((extract(epoch FROM now()) * 1000 + n)::bigint::text, 13, '0') || lpad(n::text, 16, '0') AS id
    FROM generate_series(1, ${ROWS}) AS n;
  INSERT INTO carillon.notifications (seq, created_at, high, id, organization, channel, lane, recipient, content)
    SELECT seq, seq, false, id, '${organizationId}', 'email', 'email', 'ada@example.com', '{"body":"x"}' FROM made;
  INSERT INTO carillon.states (created_at, seq, organization, sequence, published, notification, status, fold)
    SELECT seq, seq, '${organizationId}', 2, 1, id, 'failed', '{"own":50,"handovers":{}}' FROM made;
  INSERT INTO carillon.events (at, seq, sequence, notification, organization, status, fact)
    SELECT seq, seq, 2, id, '${organizationId}', 'failed', '{"type":"failed","attempt":1}' FROM made;
  INSERT INTO carillon.unmatched_receipts (received_at, hash, provider, message_id, fact)
    SELECT 9000000000000, sha256(id::bytea), 'smtp', id, '{"type":"delivered"}' FROM made`

/** Many wait for their time, and many for others are delayed. */
const WAIT = `
  DELETE FROM carillon.jobs;
  INSERT INTO carillon.jobs
    (id, place, due_at, state, high, lane, organization, subject, delayed_address, delayed_person)
  SELECT 2 * seq, 2 * seq, 9000000000000, 1, false, 'email', organization, id,
    CASE WHEN seq > ${ROWS - NAMED} THEN 'email bob' WHEN seq % 2 = 0 THEN 'email carol' END,
    CASE WHEN seq > ${ROWS - NAMED} THEN NULL WHEN seq BETWEEN ${ROWS / 2} AND ${ROWS / 2 + 2 * NAMED - 1} AND seq % 2 = 0 THEN 'ada' END
  FROM carillon.notifications`

interface Plan {
  readonly 'Node Type': string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly Plans?: readonly Plan[]
}

/** Rows that its scans have met, also where a condition has left them out. */
function metBy(plan: Plan): number {
  const { 'Actual Rows': rows, 'Actual Loops': loops, 'Rows Removed by Filter': removed = 0 } = plan
  const own = plan['Node Type'].includes('Scan') ? (rows + removed) * loops : 0
  return (plan.Plans ?? []).reduce((sum, part) => sum + metBy(part), own)
}

/** The statistics stay those of empty tables. */
const server = ownPostgres(['autovacuum = off'])

describeWithOwnPostgres('a few rows among very many, without statistics', () => {
  let real: pg.Pool
  let storage: Storage
  let ids: readonly string[]
  let met = 0

  beforeAll(async () => {
    real = new pg.Pool({ connectionString: server.url, max: 1 })
    const pool = tappedPool(real, async (client, query) => {
      if (/^\s*(?:SELECT|WITH)\b/.test(query.text) && query.values !== undefined) {
        const text = `EXPLAIN (ANALYZE, FORMAT JSON) ${query.text}`
        await client.query('SAVEPOINT explained').catch(() => {})
        const { rows } = await client.query({ text, values: query.values })
        await client.query('ROLLBACK TO explained').catch(() => {})
        met += metBy(rows[0]['QUERY PLAN'][0].Plan)
      }
      return client.query(query)
    })
    storage = postgres({ pool })
    await storage.start()
    await onPostgres(server.url, async (client) => {
      await client.query(FILL)
      const { rows } = await client.query(`SELECT id FROM made ORDER BY seq LIMIT ${NAMED}`)
      ids = rows.map(({ id }) => id)
    })
  })

  afterAll(async () => {
    await storage?.stop()
    await real?.end()
  })

  describe.each(['force_custom_plan', 'force_generic_plan'])('with %s', (mode) => {
    beforeAll(() => real.query(`SET plan_cache_mode = ${mode}`))

    async function metIn(call: () => Promise<unknown>): Promise<number> {
      met = 0
      await call()
      expect(met).toBeGreaterThan(0)
      return met
    }

    it('are listed without reading the others', async () => {
      const { list } = storage.notifications
      const few = async (status?: 'failed'): Promise<void> => {
        const { items } = await list({ organizationId, ids, status }, page())
        expect(items).toHaveLength(NAMED)
      }
      expect(await metIn(() => few())).toBeLessThan(20 * NAMED)
      expect(await metIn(() => few('failed'))).toBeLessThan(20 * NAMED)
    })

    it('tell their states', async () => {
      const states = async (): Promise<void> => {
        const found = await storage.notifications.states(ids)
        expect(found.filter((state) => state !== null)).toHaveLength(NAMED)
      }
      expect(await metIn(states)).toBeLessThan(20 * NAMED)
    })

    it('are found in the log', async () => {
      const one = async (): Promise<void> => {
        const { items } = await storage.logs.list({ organizationId, notificationId: ids[0] }, page())
        expect(items).toHaveLength(2)
      }
      expect(await metIn(one)).toBeLessThan(100)
    })

    it('are retried', async () => {
      const asked = { filter: { organizationId, ids }, lanes: { email: 'email' }, most: 1_000, dryRun: true }
      const retry = async (): Promise<void> => {
        expect((await storage.notifications.retry(asked)).retried).toBe(NAMED)
      }
      expect(await metIn(retry)).toBeLessThan(50 * NAMED)
    })

    it('are judged again without reading what is not delayed, or is for others', async () => {
      await onPostgres(server.url, (client) => client.query(WAIT))
      const { judgeAgain } = storage.notifications
      const few = async (of: DelayedOf): Promise<void> => {
        expect(await judgeAgain({ organizationId, of, most: NAMED })).toMatchObject({ moved: NAMED })
      }
      expect(await metIn(() => few({ by: 'recipient', recipient: 'ada' }))).toBeLessThan(20 * NAMED)
      expect(await metIn(() => few({ by: 'address', address: 'email bob' }))).toBeLessThan(20 * NAMED)
      expect(await metIn(() => few({ by: 'all' }))).toBeLessThan(20 * NAMED)
      await onPostgres(server.url, (client) => client.query('DELETE FROM carillon.jobs'))
    })

    it('expire without reading the unmatched reports that stay', async () => {
      const expire = async (): Promise<void> => {
        const what = { receiptsOlderThanMs: null, unmatchedOlderThanMs: 0, longestMs: null }
        expect((await storage.expire({ what, most: 100 })).unmatched).toEqual([])
      }
      expect(await metIn(expire)).toBeLessThan(1_000)
    })
  })
})

describeWithOwnPostgres('the work for each message', () => {
  it('uses indexes, also with the statistics of empty tables', async () => {
    const schema = uniqueSchema()
    const storage = await server.open(schema, { maxConnections: 1, listen: false })
    await storage.start(CONTRACT_START)
    await onPostgres(server.url, (client) => client.query('ANALYZE'))
    const cycle = async (notifications = notes(0)): Promise<void> => {
      const accepted = [{ organizationId, notifications, quota }]
      if (notifications.length > 0) await storage.accept(accepted)
      await storage.records.get(itemKind, [{ key: 'nobody' }, { id: 'nobody' }])
      const jobs = await claim(storage, 100)
      const refs = jobs.map(({ jobId, token }) => ({ jobId, token, provider: 'smtp' }))
      await storage.startAttempts(refs.length > 0 ? refs : [{ jobId: '2', token: 1, provider: 'smtp' }])
      const unknown = { jobId: '2', token: 1 } as ClaimedJob
      const settlements = (jobs.length > 0 ? jobs : [unknown]).map((job, index) =>
        index % 2 === 0 ? ended(job) : retried(job, 0),
      )
      const answers = await storage.settle(settlements)
      if (jobs.length > 0) expect(answers.map(({ kind }) => kind)).toEqual(jobs.map(() => 'settled'))
    }
    // Plans are made, and kept, now: of nothing, and of a single row.
    for (let round = 0; round < 4; round += 1) await cycle()
    for (let round = 0; round < 4; round += 1) await cycle([note()])
    await storage.accept([{ organizationId, notifications: notes(20_000) }])
    await onPostgres(server.url, (client) =>
      client.query(`
        INSERT INTO "${schema}".r_contract_items (created_at, version, id, organization, key, value)
        SELECT 1, 1, n::text, '${organizationId}', n::text, '{}' FROM generate_series(1, 20000) AS n`),
    )
    const read = async (): Promise<Record<string, number>> => {
      const { rows } = await onPostgres(server.url, (client) =>
        client.query<{ relname: string; read: number }>(
          `SELECT relname, (coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)
             + (SELECT coalesce(sum(idx_tup_read), 0) FROM pg_stat_user_indexes AS i WHERE i.relid = t.relid))::integer AS read
           FROM pg_stat_user_tables AS t WHERE schemaname = $1`,
          [schema],
        ),
      )
      return Object.fromEntries(rows.map((row) => [row.relname, row.read]))
    }
    const before = await read()
    for (let round = 0; round < 5; round += 1) await cycle()
    // What a session has read is told some seconds after it.
    const more = await eventually(async () => {
      const after = await read()
      const counts = Object.entries(after).map(
        ([table, count]) => [table, count - (before[table] ?? 0)] as const,
      )
      return counts.some(([table, count]) => table === 'jobs' && count >= 500) ? counts : null
    })
    expect(more.filter(([, count]) => count > 20_000)).toEqual([])
  })
})

describeWithOwnPostgres('a long log of deliveries', () => {
  it('is not read as a whole to count held deliveries or delete those of an endpoint', async () => {
    const schema = uniqueSchema()
    const storage = await server.open(schema, { maxConnections: 1, listen: false })
    const { id: hook } = await endpoint(storage)
    await onPostgres(server.url, (client) =>
      client.query(`
        INSERT INTO "${schema}".deliveries
          (seq, created_at, event_id, endpoint, event_type, organization, state, payload)
        SELECT n, n, 'evt_' || lpad((extract(epoch FROM now()) * 1000 + n)::bigint::text, 13, '0'), '${hook}',
          'notification.sent', '${organizationId}', CASE WHEN n % 2 = 0 THEN 'held' ELSE 'failed' END, '{}'
        FROM generate_series(1, 100000) AS n ORDER BY random();
        ANALYZE "${schema}".deliveries`),
    )
    /** Entries of indexes that are read by twenty such calls, which need so many each. */
    async function readBy(needed: number, call: () => Promise<unknown>): Promise<number> {
      const read = async (): Promise<number> => {
        const { rows } = await onPostgres(server.url, (client) =>
          client.query<{ read: number }>(
            `SELECT sum(idx_tup_read)::integer AS read FROM pg_stat_user_indexes
             WHERE schemaname = $1 AND relname LIKE 'deliveries%'`,
            [schema],
          ),
        )
        return rows[0]?.read ?? 0
      }
      const before = await read()
      for (let round = 0; round < 20; round += 1) await call()
      // What a session has read is told some seconds after it.
      return eventually(async () => {
        const more = (await read()) - before
        return more >= 20 * needed ? more : null
      })
    }
    expect(await readBy(10_000, () => storage.countJobs('all', 10_000))).toBeLessThan(20 * 20_000)
    expect(await readBy(100, () => storage.webhookEndpoints.delete(hook, 100))).toBeLessThan(20 * 5_000)
  })

  it('is swept without compiling a plan whose estimate grows with it', async () => {
    const real = server.pool(2)
    const compiled: unknown[] = []
    const pool = tappedPool(real, async (client, query) => {
      // Functions of the migration have it, too.
      if (!/^\s*SELECT[^;]*LATERAL/.test(query.text)) return client.query(query)
      await client.query('SET LOCAL jit_above_cost = 0')
      const text = `EXPLAIN (ANALYZE, FORMAT JSON) ${query.text}`
      const { rows } = await client.query({ text, values: query.values ?? [] })
      compiled.push(rows[0]['QUERY PLAN'][0].JIT)
      return client.query(query)
    })
    const storage = await server.open(uniqueSchema(), { pool, connectionString: undefined })
    await accept(storage, [note()])
    await deliver(storage)
    const { removed } = await storage.expire({ what: { organizationId, olderThanMs: 0 }, most: 10 })
    expect(removed).toMatchObject({ notifications: 1 })
    expect(compiled).toEqual([undefined, undefined])
  })
})
