import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { graphileWorkerQueue } from '../../adapters/queue/graphile-worker/index.ts'
import { createNotifier } from '../../src/create-notifier.ts'
import type { NotifierOptions } from '../../src/options.ts'
import { recordingProvider } from '../../src/testing/recording-provider.ts'
import { mapStorage } from '../map-storage/index.ts'
import { createState } from '../map-storage/state.ts'
import { eventually } from '../support/eventually.ts'
import { describeWith } from '../support/left-out.ts'
import { WAIT_MS } from '../support/patience.ts'
import { onPostgres, sharedPostgres, uniqueSchema, whyNoPostgres } from '../support/postgres.ts'
import { hello, NEVER_MS, schema, startNotifier, storage } from '../support/queue-notifier.ts'

const systemTime = { now: () => Date.now() }

const engineSchema = uniqueSchema()

describeWith(whyNoPostgres(), 'graphileWorkerQueue', () => {
  it('adds its job in the transaction that stores the notification', async () => {
    const url = await sharedPostgres()
    const queue = graphileWorkerQueue({ connectionString: url, schema: engineSchema })
    const api = createNotifier({
      channels: { email: recordingProvider() },
      storage: await storage(),
      queue,
    })
    onTestFinished(() => api.stop())
    await api.start({ deliver: false })
    const { id } = await api.send(hello)
    await onPostgres(url, async (client) => {
      const { rows } = await client.query(
        `SELECT n.xmin::text AS stored, j.xmin::text AS added, j.payload
         FROM "${schema}".notifications AS n, "${engineSchema}"._private_jobs AS j WHERE n.id = $1`,
        [id],
      )
      expect(rows).toHaveLength(1)
      expect(rows[0].added).toBe(rows[0].stored)
      expect(Object.keys(rows[0].payload)).toEqual(['email'])

      // What the engine does not take is not accepted.
      await client.query(`ALTER FUNCTION "${engineSchema}".add_jobs RENAME TO add_jobs_away`)
      await expect(api.send({ ...hello, to: 'lost@example.com' })).rejects.toMatchObject({
        code: 'service_unavailable',
      })
      await client.query(`ALTER FUNCTION "${engineSchema}".add_jobs_away RENAME TO add_jobs`)
      const stored = await client.query(
        `SELECT 1 FROM "${schema}".notifications WHERE recipient = 'lost@example.com'`,
      )
      expect(stored.rows).toHaveLength(0)
    })
  })

  it('reports at the start that its database is down or refuses it', async () => {
    const nobody = new URL(await sharedPostgres())
    nobody.username = 'nobody_of_this_name'
    for (const [connectionString, code, cause] of [
      ['postgres://root@127.0.0.1:1/none', 'service_unavailable', 'ECONNREFUSED'],
      [nobody.href, 'invalid_configuration', 'nobody_of_this_name'],
    ] as const) {
      const queue = graphileWorkerQueue({ connectionString, schema: engineSchema, inTransaction: false })
      const notifier = createNotifier({
        channels: { email: recordingProvider() },
        storage: await storage(),
        queue,
      })
      await expect(notifier.start()).rejects.toMatchObject({
        name: 'NotifierError',
        code,
        message: expect.stringContaining('graphileWorkerQueue'),
        cause: { message: expect.stringContaining(cause) },
      })
      await notifier.stop()
    }
  })

  it('refuses a storage in another database, unless it takes jobs after the commit there', async () => {
    const url = await sharedPostgres()
    const other = `other_${engineSchema}`
    await onPostgres(url, (client) => client.query(`CREATE DATABASE ${other}`))
    onTestFinished(() =>
      onPostgres(url, async (client) => void (await client.query(`DROP DATABASE ${other} WITH (FORCE)`))),
    )
    const there = new URL(url)
    there.pathname = `/${other}`
    const away = { connectionString: there.href, pollMs: 100 }
    const refused = createNotifier({
      channels: { email: recordingProvider() },
      storage: await storage(),
      queue: graphileWorkerQueue(away),
    })
    await expect(refused.start()).rejects.toMatchObject({
      code: 'invalid_configuration',
      details: { option: 'inTransaction' },
    })
    await refused.stop()

    const email = recordingProvider()
    const notifier = await startNotifier({
      channels: { email },
      storage: await storage(),
      queue: graphileWorkerQueue({ ...away, inTransaction: false }),
    })
    await notifier.send({ ...hello, to: 'there@example.com' })
    await email.waitFor({ to: 'there@example.com' }, { withinMs: WAIT_MS })
  })

  it("brings a send of the caller's transaction after its commit", async () => {
    const url = await sharedPostgres()
    const email = recordingProvider()
    const store = await storage()
    const notifier = createNotifier({
      channels: { email },
      storage: store,
      queue: graphileWorkerQueue({ connectionString: url, schema: engineSchema, pollMs: 100 }),
      delivery: { pollMs: NEVER_MS },
    })
    onTestFinished(() => notifier.stop({ timeoutMs: 1_000 }))
    await notifier.start()
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    onTestFinished(() => client.end())
    for (const [end, to] of [
      ['ROLLBACK', 'never@example.com'],
      ['COMMIT', 'joined@example.com'],
    ] as const) {
      await client.query('BEGIN')
      await notifier.send({ ...hello, to }, { tx: client })
      await client.query(end)
    }
    await email.waitFor({ to: 'joined@example.com' }, { withinMs: WAIT_MS })
    expect(email.messages.map(({ to }) => to)).not.toContain('never@example.com')
  })

  it('survives a connection that is lost while a job ends', async () => {
    const url = await sharedPostgres()
    const own = uniqueSchema()
    const email = recordingProvider()
    const notifier = await startNotifier({
      channels: { email },
      storage: await storage(),
      queue: graphileWorkerQueue({ connectionString: url, schema: own, pollMs: 100 }),
    })
    const errors: Error[] = []
    notifier.on('error', (error) => errors.push(error))
    await onPostgres(url, async (client) => {
      await client.query(
        `CREATE FUNCTION "${own}".lose() RETURNS trigger LANGUAGE plpgsql AS
           $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN OLD; END $$;
         CREATE TRIGGER lose BEFORE DELETE ON "${own}"._private_jobs FOR EACH ROW EXECUTE FUNCTION "${own}".lose()`,
      )
      await notifier.send({ ...hello, to: 'lost@example.com' })
      await email.waitFor({ to: 'lost@example.com' }, { withinMs: WAIT_MS })
      await eventually(() => errors.length > 0)
      await client.query(`DROP TRIGGER lose ON "${own}"._private_jobs`)
    })
    await notifier.send({ ...hello, to: 'found@example.com' })
    await email.waitFor({ to: 'found@example.com' }, { withinMs: WAIT_MS })
  })

  it('raises no unhandled error if its database goes down during a stop', async () => {
    const url = await sharedPostgres()
    const other = `gone_${engineSchema}`
    await onPostgres(url, (client) => client.query(`CREATE DATABASE ${other}`))
    onTestFinished(() =>
      onPostgres(url, async (client) => void (await client.query(`DROP DATABASE ${other} WITH (FORCE)`))),
    )
    const there = new URL(url)
    there.pathname = `/${other}`
    const uncaught: Error[] = []
    const hear = (error: Error): void => void uncaught.push(error)
    process.on('uncaughtException', hear)
    onTestFinished(() => void process.off('uncaughtException', hear))
    for (let round = 0; round < 8; round += 1) {
      const notifier = await startNotifier({
        storage: mapStorage(createState(systemTime)),
        queue: graphileWorkerQueue({ connectionString: there.href, inTransaction: false, pollMs: 10 }),
      })
      await notifier.sendBatch(Array.from({ length: 100 }, () => hello))
      await onPostgres(url, async (client) => {
        let stopped = false
        const stopping = notifier.stop().finally(() => {
          stopped = true
        })
        while (!stopped) {
          await client.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [
            other,
          ])
        }
        await stopping
      })
    }
    expect(uncaught).toEqual([])
  })

  it('raises no unhandled error if a listening connection is lost during a stop', async () => {
    const url = await sharedPostgres()
    let unlisten = (): void => {}
    const unlistened = new Promise<void>((resolve) => {
      unlisten = resolve
    })
    // Listening takes as long as the test wants.
    class Slow extends pg.Client {
      override query(...given: unknown[]): never {
        const text = String(given[0])
        if (text.startsWith('UNLISTEN')) unlisten()
        const asked = text.startsWith('LISTEN') ? ['SELECT pg_sleep(600)'] : given
        return (super.query as (...asked: unknown[]) => never).apply(this, asked)
      }
    }
    const application_name = uniqueSchema()
    const pool = new pg.Pool({ connectionString: url, application_name, Client: Slow } as pg.PoolConfig)
    onTestFinished(() => pool.end())
    pool.on('error', () => {})
    // With it graphile-worker hears no errors of connections.
    pool.on('connect', () => {})
    const unheard: unknown[] = []
    const hear = (error: unknown): void => void unheard.push(error)
    for (const event of ['uncaughtException', 'unhandledRejection']) {
      process.on(event, hear)
      onTestFinished(() => void process.off(event, hear))
    }

    const notifier = await startNotifier({
      storage: mapStorage(createState(systemTime)),
      queue: graphileWorkerQueue({ pool, inTransaction: false }),
    })
    await onPostgres(url, async (client) => {
      const listening = `FROM pg_stat_activity WHERE application_name = $1 AND query LIKE '%pg_sleep%'`
      await eventually(
        async () => (await client.query(`SELECT 1 ${listening}`, [application_name])).rows.length === 1,
      )
      const stopping = notifier.stop()
      await unlistened
      await client.query(`SELECT pg_terminate_backend(pid) ${listening}`, [application_name])
      await stopping
    })
    await sleep(0)
    expect(unheard).toEqual([])
    expect(pool.totalCount).toBe(pool.idleCount)
  })

  it('brings the events for webhook endpoints too', async () => {
    const url = await sharedPostgres()
    const got: string[] = []
    const server = createServer((request, response) => {
      let text = ''
      request.on('data', (chunk) => {
        text += chunk
      })
      request.on('end', () => {
        got.push(JSON.parse(text).event)
        response.end()
      })
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    const parts = async (): Promise<Partial<NotifierOptions>> => ({
      storage: await storage(),
      queue: graphileWorkerQueue({ connectionString: url, schema: engineSchema, pollMs: 100 }),
      webhooks: { allowHttp: true, allow: ['127.0.0.0/8'] },
    })
    await startNotifier(await parts())
    const api = createNotifier({ channels: { email: recordingProvider() }, ...(await parts()) })
    onTestFinished(() => api.stop())
    await api.start({ deliver: false })
    const { port } = server.address() as AddressInfo
    const { id } = await api.organizations.create({ name: 'Listening' })
    const tenant = api.organization(id)
    await tenant.webhooks.create({ url: `http://127.0.0.1:${port}/`, events: ['notification.sent'] })
    await tenant.send(hello)
    await eventually(() => got.includes('notification.sent'))
  })
})
