import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { postgres } from '../../adapters/storage/postgres/index.ts'
import { type PostgresServer, startPostgres } from '../../examples/servers/postgres.ts'
import type { Storage } from '../../src/ports/storage/storage.ts'
import { page } from '../../src/testing/storage/fixtures.ts'
import { describeWith } from '../support/left-out.ts'
import { onPostgres, whyNoPostgres } from '../support/postgres.ts'
import { tappedPool } from '../support/tapped-pool.ts'

const organizationId = 'org_default'
const ROWS = 50_000
const NAMED = 20

/** As the first month of a large organization: every notification has failed. */
const FILL = `
  CREATE TEMPORARY TABLE made AS
    SELECT n AS seq, 'notif_' || lpad((extract(epoch FROM now()) * 1000 + n)::bigint::text, 13, '0') || lpad(n::text, 16, '0') AS id
    FROM generate_series(1, ${ROWS}) AS n;
  INSERT INTO carillon.notifications (seq, created_at, high, id, organization, channel, lane, recipient, content)
    SELECT seq, seq, false, id, '${organizationId}', 'email', 'email', 'ada@example.com', '{"body":"x"}' FROM made;
  INSERT INTO carillon.states (created_at, seq, organization, sequence, announced, notification, status, fold)
    SELECT seq, seq, '${organizationId}', 2, 1, id, 'failed', '{"own":50,"handovers":{}}' FROM made;
  INSERT INTO carillon.events (at, seq, sequence, notification, organization, status, fact)
    SELECT seq, seq, 2, id, '${organizationId}', 'failed', '{"type":"failed","attempt":1}' FROM made;
  INSERT INTO carillon.unmatched_receipts (received_at, hash, provider, message_id, fact)
    SELECT 9000000000000, sha256(id::bytea), 'smtp', id, '{"type":"delivered"}' FROM made`

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

describeWith(whyNoPostgres(true), 'what is named among a great many, which nobody has analyzed', () => {
  let server: PostgresServer
  let real: pg.Pool
  let storage: Storage
  let ids: readonly string[]
  let met = 0

  beforeAll(async () => {
    server = await startPostgres(['autovacuum = off'])
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
    await server?.remove()
  })

  describe.each(['force_custom_plan', 'force_generic_plan'])('with %s', (mode) => {
    beforeAll(() => real.query(`SET plan_cache_mode = ${mode}`))

    async function metIn(call: () => Promise<unknown>): Promise<number> {
      met = 0
      await call()
      expect(met).toBeGreaterThan(0)
      return met
    }

    it('is listed without going through the others', async () => {
      const { list } = storage.notifications
      const few = async (status?: 'failed'): Promise<void> => {
        const { items } = await list({ organizationId, ids, status }, page())
        expect(items).toHaveLength(NAMED)
      }
      expect(await metIn(() => few())).toBeLessThan(20 * NAMED)
      expect(await metIn(() => few('failed'))).toBeLessThan(20 * NAMED)
    })

    it('is found in the log', async () => {
      const one = async (): Promise<void> => {
        const { items } = await storage.logs.list({ organizationId, notificationId: ids[0] }, page())
        expect(items).toHaveLength(2)
      }
      expect(await metIn(one)).toBeLessThan(100)
    })

    it('is retried', async () => {
      const asked = { filter: { organizationId, ids }, lanes: { email: 'email' }, most: 1_000, dryRun: true }
      const retry = async (): Promise<void> => {
        expect((await storage.notifications.retry(asked)).retried).toBe(NAMED)
      }
      expect(await metIn(retry)).toBeLessThan(50 * NAMED)
    })

    it('reports without a match that stay are not gone through for those that go', async () => {
      const expire = async (): Promise<void> => {
        const asked = { receiptsOlderThanMs: null, unmatchedOlderThanMs: 0, most: 100 }
        expect((await storage.retention.expire(asked)).unmatched).toEqual([])
      }
      expect(await metIn(expire)).toBeLessThan(1_000)
    })
  })
})
