import type pg from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { postgres } from '../../adapters/storage/postgres/index.ts'
import type { Fact } from '../../src/core/notification/facts.ts'
import type { ClaimRequest } from '../../src/core/ports/storage/claim.ts'
import type { ReceiptRecord } from '../../src/core/ports/storage/receipts.ts'
import type { Settlement } from '../../src/core/ports/storage/settle.ts'
import type { Storage } from '../../src/core/ports/storage/storage.ts'
import {
  accept,
  ended,
  endpoint,
  idOf,
  LANE,
  note,
  notes,
  page,
  start,
} from '../../src/testing/storage/fixtures.ts'
import { CONTRACT_START, keeping, recipientId } from '../../src/testing/storage/record-fixtures.ts'
import { eventually } from '../support/eventually.ts'
import { describeWith } from '../support/left-out.ts'
import { ownPostgres } from '../support/own-postgres.ts'
import { onPostgres, uniqueSchema, whyNoPostgres } from '../support/postgres.ts'

const ORGANIZATION = 'org_default'

describeWith(whyNoPostgres(true), 'a storage that meets others', () => {
  const server = ownPostgres()

  async function open(schema: string, change: object = {}): Promise<Storage> {
    const storage = postgres({ connectionString: server.url, schema, ...change })
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

  it('sweeps past what waits to be told to an endpoint, and takes no lock that its settlement would meet', async () => {
    const schema = uniqueSchema()
    const storage = await open(schema, { statementTimeoutMs: 2_000 })
    const { id: hook } = await endpoint(storage)
    await accept(storage, notes(1))
    const { jobs } = await storage.claim(lanes)
    await storage.settle(jobs.map((job) => ended(job)))
    const step = { what: { organizationId: ORGANIZATION, olderThanMs: -60_000 }, most: 10 }
    await onPostgres(server.url, async (client) => {
      await client.query(`BEGIN; SELECT 1 FROM "${schema}".deliveries WHERE endpoint = '${hook}' FOR UPDATE`)
      expect((await storage.expire(step)).removed).toEqual({ notifications: 0, deliveries: 0 })
      await client.query('ROLLBACK')
    })
  })

  const transactions = (database: string) =>
    onPostgres(server.url, async (client) => {
      const { rows } = await client.query<{ committed: number; failed: number }>(
        `SELECT xact_commit::integer AS committed, (xact_rollback + deadlocks)::integer AS failed
         FROM pg_stat_database WHERE datname = $1`,
        [database],
      )
      return rows[0] ?? { committed: 0, failed: 0 }
    })

  const reportOf = (notificationId: string): ReceiptRecord => ({
    provider: 'smtp',
    organizationId: null,
    dedupeKey: notificationId,
    notificationId,
    fact: { type: 'delivered', provider: 'smtp' },
  })

  it('adds no fact to a notification while its job is being settled', async () => {
    const schema = uniqueSchema()
    const storage = await open(schema)
    const [id = ''] = await accept(storage, notes(1))
    await claimed(storage)
    const waiting = (client: pg.Client) => async () => {
      const { rows } = await client.query(
        `SELECT 1 FROM pg_locks AS l JOIN pg_stat_activity AS a ON a.pid = l.pid
         WHERE NOT l.granted AND a.query LIKE '%"${schema}".jobs%'`,
      )
      return rows.length > 0
    }
    let recorded = false
    let recording: Promise<unknown> | undefined
    await holding(schema, 'true', async (client) => {
      recording = storage.recordReceipts([reportOf(id)]).then(() => {
        recorded = true
      })
      await eventually(waiting(client))
      expect(recorded).toBe(false)
    })
    await recording
    expect((await storage.notifications.get(id))?.status).toBe('delivered')
  })

  it('keeps every fact of settlements, reports and cancellations that meet, and none of them fails', async () => {
    const database = uniqueSchema()
    await onPostgres(server.url, (client) => client.query(`CREATE DATABASE ${database}`))
    const url = new URL(server.url)
    url.pathname = database
    const there = { connectionString: url.href }
    const worker = await open('carillon', there)
    const [other, api] = [await open('carillon', there), await open('carillon', there)]
    const many = 60
    for (let round = 0; round < 8; round += 1) {
      const ids = await accept(worker, notes(many))
      const jobs = [...(await worker.claim({ ...lanes, lanes: [{ lane: LANE, free: many }] })).jobs]
      await start(worker, jobs)
      const first: Fact = { type: 'attempt_failed', attempt: 1, provider: 'smtp', code: 'provider_error' }
      const settlements = jobs.map(
        (job, index): Settlement =>
          index % 3 === 0
            ? { ...job, kind: 'notification', facts: [first], next: { kind: 'retry', delayMs: 60_000 } }
            : ended(job),
      )
      const half = jobs.length / 2
      const answers = await Promise.all([
        worker.settle(settlements.slice(half).reverse()),
        other.recordReceipts(ids.toReversed().map(reportOf)),
        worker.settle(settlements.slice(0, half)),
        ...ids.filter((_id, index) => index % 5 === 0).map((id) => api.notifications.cancel(id)),
        // What is settled meanwhile is nobody's any more.
        api.renew(jobs, 60_000),
      ])
      expect(answers.slice(0, 3).flat()).toSatisfy((all: { kind: string }[]) =>
        all.every(({ kind }) => kind === 'settled' || kind === 'recorded'),
      )
      for (const [index, id] of ids.entries()) {
        const timeline = await api.notifications.timeline(id)
        expect(timeline.map(({ sequence }) => sequence)).toEqual(timeline.map((_entry, place) => place + 1))
        // A cancellation after the settlement finds what waits for another attempt.
        const mayBeCancelled = index % 15 === 0
        const types = timeline
          .slice(1)
          .map(({ type }) => type)
          .filter((type) => !mayBeCancelled || type !== 'cancelled')
        expect(types.toSorted()).toEqual(['delivered', index % 3 === 0 ? 'attempt_failed' : 'sent'].sort())
      }
    }
    // What connections have counted is seen when they end. A transaction that met another and ran again would be among it.
    await Promise.all([worker.stop(), other.stop(), api.stop()])
    await eventually(async () => (await transactions(database)).committed > 8 * 6)
    expect((await transactions(database)).failed).toBe(0)
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
           DROP TRIGGER IF EXISTS fail ON "${schema}".jobs;
           CREATE TRIGGER fail AFTER INSERT OR UPDATE OR DELETE ON "${schema}".jobs
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

  it('writes what follows from reports and consents in one order, so that two sets cannot wait for each other', async () => {
    const schema = uniqueSchema()
    const storage = await open(schema)
    await storage.start(CONTRACT_START)
    const [low, high] = ['a@example.com', 'b@example.com'] as const
    const [notificationId = ''] = await accept(storage, [note({ to: high })])
    const insert = (client: pg.Client, to: string) =>
      client.query(
        `INSERT INTO "${schema}".r_contract_others (created_at, version, id, organization, value)
         VALUES (0, 1, $1, $2, '{}')`,
        [recipientId(to), ORGANIZATION],
      )
    const from = { provider: 'smtp', organizationId: null } as const
    const optOut = keeping(recipientId(low), ORGANIZATION, { reason: 'unsubscribe', source: null })
    const receipts: ReceiptRecord[] = [
      {
        ...from,
        dedupeKey: '1',
        notificationId,
        fact: { type: 'bounced', provider: 'smtp', suppress: 'hard_bounce' },
      },
      { ...from, dedupeKey: '2', consent: [optOut] },
    ]
    await onPostgres(server.url, async (client) => {
      await client.query("BEGIN; SET LOCAL lock_timeout = '300ms'")
      await insert(client, low)
      const recorded = storage.recordReceipts(receipts)
      const waiting = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query ~ '${schema}.*r_contract'`
      await onPostgres(server.url, (other) =>
        eventually(async () => (await other.query(waiting)).rows.length > 0),
      )
      // Fails where the set has this one already.
      await insert(client, high)
      await client.query('COMMIT')
      expect((await recorded).map(({ kind }) => kind)).toEqual(['recorded', 'applied'])
    })
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
