import { connect } from 'node:net'
import pg from 'pg'
import { expect, it } from 'vitest'
import { createCommits } from '../../adapters/storage/postgres/commits.ts'
import { createConnection } from '../../adapters/storage/postgres/connection.ts'
import { postgres } from '../../adapters/storage/postgres/index.ts'
import { createNotifier } from '../../src/create-notifier.ts'
import { accept, claim, ended, endpoint, idOf, note, notes } from '../../src/testing/storage/fixtures.ts'
import { eventually } from '../support/eventually.ts'
import { describeWithOwnPostgres, ownPostgres } from '../support/own-postgres.ts'
import { onPostgres, uniqueSchema } from '../support/postgres.ts'
import { tcpReceiver } from '../support/receivers.ts'
import { holdsText, tappedPool } from '../support/tapped-pool.ts'

const ORGANIZATION = 'org_default'
const quota = { period: '2026-11', limit: 100_000 }
const server = ownPostgres()

describeWithOwnPostgres('a server that cannot be used', () => {
  it('is service_unavailable within the time limit, if no connection is free or none can be made', async () => {
    const pool = server.pool(1)
    const storage = await server.open(uniqueSchema(), {
      pool,
      connectionString: undefined,
      connectTimeoutMs: 2_000,
    })
    const held = await pool.connect()
    await expect(
      storage.accept([{ organizationId: ORGANIZATION, notifications: [note()] }]),
    ).rejects.toMatchObject({
      code: 'service_unavailable',
      cause: expect.any(Error),
    })
    held.release()
    expect((await storage.accept([{ organizationId: ORGANIZATION, notifications: [note()] }]))[0]?.kind).toBe(
      'accepted',
    )
    const nowhere = postgres({ connectionString: 'postgres://postgres@127.0.0.1:1/none' })
    await expect(nowhere.start()).rejects.toMatchObject({ code: 'service_unavailable' })
  })

  it('is left again if it answers only after the notifier has stopped', async () => {
    let answer = (): void => {}
    const answers = new Promise<void>((resolve) => (answer = resolve))
    const proxy = await tcpReceiver((client) => {
      void answers.then(() => {
        const upstream = connect(Number(new URL(server.url).port), '127.0.0.1')
        upstream.on('error', () => client.destroy()).on('close', () => client.destroy())
        client.on('close', () => upstream.destroy())
        client.pipe(upstream).pipe(client)
      })
    })
    const through = new URL(server.url)
    through.host = `127.0.0.1:${proxy.port}`
    const schema = uniqueSchema()
    const storage = postgres({ connectionString: through.href, schema, connectTimeoutMs: 60_000 })
    const notifier = createNotifier({ channels: {}, storage })
    const started = expect(notifier.start()).rejects.toMatchObject({ code: 'not_started' })
    await notifier.stop({ timeoutMs: 50 })
    await started
    answer()
    await proxy.drained()
    // It had opened, and stopped there.
    const { rows } = await onPostgres(server.url, (client) =>
      client.query(`SELECT (SELECT count(*)::integer FROM "${schema}".r_organizations) AS organizations,
        (SELECT count(*)::integer FROM "${schema}".r_secrets) AS secrets`),
    )
    expect(rows).toEqual([{ organizations: 1, secrets: 0 }])
    await proxy.close()
  })

  it('loses and repeats nothing that was answered before it crashed', async () => {
    const schema = uniqueSchema()
    const storage = await server.open(schema)
    const promised = new Set<string>()
    const settled = new Set<string>()
    let stopped = false
    async function acceptAlways(metered: boolean): Promise<void> {
      while (!stopped) {
        const notifications = notes(3)
        const request = { organizationId: ORGANIZATION, notifications, ...(metered ? { quota } : {}) }
        const answers = await storage.accept([request]).catch(() => [])
        if (answers[0]?.kind === 'accepted') for (const { id } of notifications) promised.add(id)
        else expect(answers).toEqual([])
      }
    }
    async function deliverAlways(): Promise<void> {
      while (!stopped) {
        const jobs = await claim(storage, 20).catch(() => [])
        const answers = await storage.settle(jobs.map((job) => ended(job))).catch(() => [])
        for (const [index, answer] of answers.entries()) {
          // A commit whose answer was lost was looked up: nothing of it is told to be another's.
          expect(answer.kind).toBe('settled')
          settled.add(idOf(jobs[index]) ?? '')
        }
      }
    }
    const work = [
      acceptAlways(false),
      acceptAlways(false),
      acceptAlways(true),
      deliverAlways(),
      deliverAlways(),
    ]
    for (let crash = 0; crash < 4; crash += 1) {
      const before = promised.size
      await eventually(() => promised.size > before + 50)
      await server.crash()
    }
    const before = settled.size
    await eventually(() => settled.size > before)
    stopped = true
    await Promise.all(work)

    const { rows } = await onPostgres(server.url, (client) =>
      client.query(
        `SELECT n.id, s.status, (SELECT count(*)::integer FROM "${schema}".events AS e WHERE e.notification = n.id) AS events,
           (SELECT count(*)::integer FROM "${schema}".jobs AS j WHERE j.subject = n.id) AS jobs
         FROM "${schema}".notifications AS n LEFT JOIN "${schema}".states AS s ON s.notification = n.id`,
      ),
    )
    const stored = new Map(rows.map((row) => [row.id, row]))
    for (const id of promised) expect(stored.has(id), id).toBe(true)
    for (const id of settled) expect(stored.get(id)).toMatchObject({ status: 'sent', events: 1, jobs: 0 })
    for (const row of stored.values()) {
      expect([row.events, row.jobs], row.id).toEqual(row.status === null ? [0, 1] : [1, 0])
    }
  })
})

describeWithOwnPostgres('a COMMIT whose answer is lost', () => {
  /** A pool that, once armed, loses the answer to the first query with this text in it, after the server has done it. */
  function losing(part: string) {
    const real = server.pool(4)
    let armed = false
    return {
      pool: tappedPool(real, async (client, query) => {
        const result = await client.query(query)
        if (!armed || !holdsText(query, part)) return result
        armed = false
        throw new Error('Connection terminated unexpectedly')
      }),
      arm() {
        armed = true
      },
      /** Whether nothing that was to be lost came by. */
      armed: () => armed,
    }
  }

  /** How often another process is told of work from now on. */
  async function listen(schema: string): Promise<() => number> {
    const other = await server.open(schema)
    let heard = 0
    other.onWork?.(() => {
      heard += 1
    })
    await eventually(() => heard === 1)
    return () => heard - 1
  }

  const idempotency = { organizationId: ORGANIZATION, operation: 'send', key: 'k', fingerprint: 'f' } as const

  it.each([
    ['COMMIT', { quota, idempotency: { ...idempotency, result: '{}', ttlMs: 60_000 } }],
    ['insert_1(', { quota }],
  ])('is looked up before an accept is answered, and other processes are told: %s', async (part, more) => {
    const { pool, arm, armed } = losing(part)
    const schema = uniqueSchema()
    const storage = await server.open(schema, { pool, connectionString: undefined })
    const told = await listen(schema)
    const notifications = notes(3)
    arm()
    const answers = await storage.accept([{ organizationId: ORGANIZATION, notifications, ...more }])
    expect(armed()).toBe(false)
    expect(answers).toMatchObject([{ kind: 'accepted', admitted: 3 }])
    expect((await claim(storage, 10)).map(idOf)).toEqual(notifications.map(({ id }) => id))
    expect(await storage.quotaUsed(ORGANIZATION, quota.period)).toBe(3)
    await eventually(() => told() > 0)
  })

  it('is looked up before a settlement is answered, and other processes are told of the events', async () => {
    const { pool, arm, armed } = losing('COMMIT')
    const schema = uniqueSchema()
    const before = await server.open(schema)
    await endpoint(before)
    await accept(before, notes(2))
    await before.stop()
    const storage = await server.open(schema, { pool, connectionString: undefined })
    const jobs = await claim(storage, 2)
    const told = await listen(schema)
    arm()
    const answers = await storage.settle(jobs.map((job) => ended(job)))
    expect(armed()).toBe(false)
    expect(answers.map((answer) => answer.kind === 'settled' && answer.events.length)).toEqual([1, 1])
    await eventually(() => told() > 0)
  })

  it('is looked up for ten seconds, also at a silent host', async () => {
    const { pool, arm, armed } = losing('COMMIT')
    const silent = await tcpReceiver(() => {})
    const nobody = new pg.Pool({ connectionString: `postgres://postgres@127.0.0.1:${silent.port}/none` })
    let started = false
    let tries = 0
    const connect = (): Promise<unknown> => {
      if (!started || armed()) return pool.connect()
      tries += 1
      return nobody.connect()
    }
    const storage = await server.open(uniqueSchema(), {
      pool: { connect },
      connectionString: undefined,
      connectTimeoutMs: 2_000,
    })
    started = true
    arm()
    const request = {
      organizationId: ORGANIZATION,
      notifications: notes(1),
      idempotency: { ...idempotency, result: '{}', ttlMs: 60_000 },
    }
    await expect(storage.accept([request])).rejects.toMatchObject({ code: 'service_unavailable' })
    // Of two seconds each.
    expect(tries).toBeGreaterThan(1)
    expect(tries).toBeLessThan(7)
    await silent.close()
  })

  it('is looked up by what is stored on a server that has replaced another one', async () => {
    const schema = uniqueSchema()
    const [id = ''] = await accept(await server.open(schema), [note()])
    const pool = server.pool(4)
    const connection = createConnection({
      schema,
      connectTimeoutMs: 5_000,
      statementTimeoutMs: 5_000,
      time: () => null,
    })
    connection.use(pool)
    const commits = createCommits(connection)
    const watch = (xid: string, id: string) => commits.watch(xid, { id, change: null })
    // No transaction has had this number.
    const unknown = '9007199254740993'
    const known = await Promise.all([watch(unknown, id), watch(unknown, 'notif_0')])
    expect(known).toEqual([true, false])
    const { rows } = await pool.query('SELECT pg_current_xact_id()::text AS xid')
    const watched = watch(rows[0].xid, 'notif_0')
    expect(await watched).toBe(false)
    commits.stop()
  })
})
