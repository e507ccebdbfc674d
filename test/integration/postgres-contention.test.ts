import type pg from 'pg'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { postgresStorage } from '../../adapters/storage/postgres/index.ts'
import { type PostgresServer, startPostgres } from '../../examples/servers/postgres.ts'
import type { ClaimRequest } from '../../src/ports/storage/claim.ts'
import type { Storage } from '../../src/ports/storage/storage.ts'
import { accept, ended, idOf, LANE, note, notes, page } from '../../src/testing/storage/fixtures.ts'
import { eventually } from '../support/eventually.ts'
import { describeWith } from '../support/left-out.ts'
import { onPostgres, uniqueSchema, whyNoPostgres } from '../support/postgres.ts'

const ORGANIZATION = 'org_default'

describeWith(whyNoPostgres(true), 'a storage that meets others', () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server?.remove())

  async function open(schema: string, change: object = {}): Promise<Storage> {
    const storage = postgresStorage({ connectionString: server.url, schema, ...change })
    onTestFinished(() => storage.stop())
    await storage.start()
    return storage
  }

  /** Runs `work` while another transaction keeps the rows of jobs that are given. */
  function holding(schema: string, which: string, work: (client: pg.Client) => Promise<void>): Promise<void> {
    return onPostgres(server.url, async (client) => {
      await client.query(`BEGIN; SELECT id FROM "${schema}".jobs WHERE ${which} FOR UPDATE`)
      await work(client)
      await client.query('ROLLBACK')
    })
  }

  const lanes = { lanes: [{ lane: LANE, free: 100 }], leaseMs: 60_000 }

  async function claimed(storage: Storage, request: ClaimRequest = lanes): Promise<string[]> {
    const { jobs } = await storage.claim(request)
    return jobs.map((job) => idOf(job) ?? '').sort()
  }

  it.each(['lane', 'id'])(
    'claims by %s past what another transaction keeps, and does not wait for it',
    async (by) => {
      const schema = uniqueSchema()
      const storage = await open(schema)
      const kept = await accept(storage, notes(3))
      const free = await accept(storage, [...notes(4), note({ priority: 'high' })])
      await holding(schema, `subject = ANY ('{${kept}}')`, async (client) => {
        const { rows } = await client.query(`SELECT id::text AS id FROM "${schema}".jobs`)
        const ids = rows.map(({ id }) => id as string)
        const request = by === 'id' ? { ids, leaseMs: 60_000 } : lanes
        expect(await claimed(storage, request)).toEqual(free.toSorted())
      })
      expect(await claimed(storage)).toEqual(kept.toSorted())
    },
  )

  it('takes expired leases back past what another transaction keeps', async () => {
    const schema = uniqueSchema()
    const storage = await open(schema)
    const ids = await accept(storage, notes(4))
    await claimed(storage, { ...lanes, leaseMs: 1 })
    const kept = ids.slice(0, 2)
    await new Promise((resolve) => setTimeout(resolve, 20))
    await holding(schema, `subject = ANY ('{${kept}}')`, async () => {
      expect(await claimed(storage)).toEqual(ids.slice(2).sort())
    })
    expect(await claimed(storage)).toEqual(kept.toSorted())
  })

  it.each([
    ['serialization failures', '40001'],
    ['deadlocks', '40P01'],
  ])('runs again what failed by %s, and stores it once', async (_, state) => {
    const schema = uniqueSchema()
    const storage = await open(schema)
    /** Fails the next changes of the jobs; numbers of a sequence are not rolled back. */
    const failTwice = () =>
      onPostgres(server.url, async (client) => {
        await client.query(
          `CREATE SEQUENCE IF NOT EXISTS "${schema}".failures;
           SELECT setval('"${schema}".failures', 1, false);
           CREATE OR REPLACE FUNCTION "${schema}".fail() RETURNS trigger LANGUAGE plpgsql AS $$
           BEGIN
             IF nextval('"${schema}".failures') <= 2 THEN
               RAISE EXCEPTION 'met another' USING ERRCODE = '${state}';
             END IF;
             RETURN NULL;
           END $$;
           CREATE OR REPLACE TRIGGER fail AFTER INSERT OR UPDATE OR DELETE ON "${schema}".jobs
             FOR EACH STATEMENT EXECUTE FUNCTION "${schema}".fail()`,
        )
      })
    const failures = () =>
      onPostgres(server.url, async (client) => {
        const { rows } = await client.query(`SELECT last_value::integer AS count FROM "${schema}".failures`)
        return rows[0].count
      })
    async function failing<Answer>(call: () => Promise<Answer>): Promise<Answer> {
      await failTwice()
      const answer = await call()
      expect(await failures()).toBeGreaterThan(2)
      return answer
    }
    const idempotency = { organizationId: ORGANIZATION, operation: 'send', key: 'k' } as const
    const record = { ...idempotency, fingerprint: 'f', result: 'r', ttlMs: 60_000 }
    const request = { organizationId: ORGANIZATION, notifications: notes(2), idempotency: record }
    expect(await failing(() => storage.accept([request]))).toMatchObject([{ kind: 'accepted', admitted: 2 }])
    await failing(() => accept(storage, notes(2)))
    const { jobs } = await failing(() => storage.claim(lanes))
    expect(jobs).toHaveLength(4)
    const refs = jobs.map(({ jobId, token }) => ({ jobId, token, provider: 'smtp' }))
    expect(await failing(() => storage.startAttempts(refs))).toEqual(jobs.map(() => true))
    const settled = await failing(() => storage.settle(jobs.map((job) => ended(job))))
    expect(settled.map(({ kind }) => kind)).toEqual(jobs.map(() => 'settled'))
    const { items } = await storage.notifications.list({ organizationId: ORGANIZATION }, page())
    expect(items.map(({ status }) => status)).toEqual(jobs.map(() => 'sent'))
  })

  it('keeps no connection to a server that writes no more', async () => {
    const url = new URL(server.url)
    url.searchParams.set('application_name', 'once')
    const storage = await open(uniqueSchema(), {
      connectionString: url.href,
      maxConnections: 1,
      listen: false,
    })
    const backends = () =>
      onPostgres(server.url, async (client) => {
        const { rows } = await client.query(
          "SELECT pid FROM pg_stat_activity WHERE application_name = 'once'",
        )
        return rows.map(({ pid }) => pid as number)
      })
    const writes = (off: boolean) =>
      onPostgres(server.url, async (client) => {
        await client.query(`ALTER SYSTEM SET default_transaction_read_only = ${off ? 'on' : 'off'}`)
        await client.query('SELECT pg_reload_conf()')
      })
    await accept(storage, [note()])
    const [before = 0] = await backends()
    expect(before).toBeGreaterThan(0)
    await writes(true)
    // In use all the time, it would not be closed for being idle.
    await eventually(async () => {
      await expect(accept(storage, [note()])).rejects.toMatchObject({ code: 'service_unavailable' })
      return !(await backends()).includes(before)
    })
    await writes(false)
    await eventually(() => accept(storage, [note()]))
  })
})
