import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { inspect } from 'node:util'
import { Redis } from 'ioredis'
import pg from 'pg'
import { afterAll, expect, it, onTestFinished } from 'vitest'
import { bullmqQueue } from '../../adapters/queue/bullmq/index.ts'
import { graphileWorkerQueue } from '../../adapters/queue/graphile-worker/index.ts'
import { postgres } from '../../adapters/storage/postgres/index.ts'
import { sqlite } from '../../adapters/storage/sqlite/index.ts'
import { startRedis } from '../../examples/servers/redis.ts'
import { createNotifier } from '../../src/create-notifier.ts'
import type { NotifierOptions } from '../../src/options.ts'
import type { Queue, QueueWorker } from '../../src/ports/queue.ts'
import type { Notifier } from '../../src/services/notifier.ts'
import { recordingProvider } from '../../src/testing/recording-provider.ts'
import { eventually } from '../support/eventually.ts'
import { describeWith } from '../support/left-out.ts'
import {
  onPostgres,
  sharedPostgres,
  stopSharedPostgres,
  uniqueSchema,
  whyNoPostgres,
} from '../support/postgres.ts'
import { describeOwnRedis } from '../support/redis.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

afterAll(stopSharedPostgres)

const directory = temporaryDirectory()
const schema = uniqueSchema()
const engineSchema = uniqueSchema()
/** What is delivered has come through the engine. */
const NEVER_MS = 3_600_000
const HELLO = { channel: 'email', to: 'ada@example.com', body: 'Hello' } as const

async function storage() {
  return postgres({ connectionString: await sharedPostgres(), schema, maxConnections: 4 })
}

async function started(options: Partial<NotifierOptions>): Promise<Notifier> {
  const notifier = createNotifier({
    channels: { email: recordingProvider() },
    delivery: { pollMs: NEVER_MS },
    ...options,
  })
  notifier.on('error', () => {})
  onTestFinished(() => notifier.stop({ deadlineMs: 1_000 }))
  await notifier.start()
  return notifier
}

it('a storage that is of one machine is refused with a queue engine', async () => {
  const notifier = createNotifier({
    channels: { email: recordingProvider() },
    storage: sqlite({ file: `${directory}/one.db` }),
    queue: bullmqQueue({ url: 'redis://127.0.0.1:1' }),
  })
  await expect(notifier.start()).rejects.toMatchObject({
    code: 'invalid_configuration',
    details: { option: 'queue' },
  })
  await notifier.stop()
})

it('a process that has stopped leaves what an engine still hands over, so that the engine can end', async () => {
  let worker: QueueWorker | undefined
  // As an engine does that had the refs on their way when it was stopped: it ends after their `handle`.
  const queue: Queue = {
    name: 'late',
    async open() {},
    async enqueue() {},
    async work(given) {
      worker = given
      return () => new Promise(() => {})
    },
    async close() {},
  }
  const notifier = createNotifier({ channels: { email: recordingProvider() }, queue })
  notifier.on('error', () => {})
  await notifier.start()
  await notifier.stop({ deadlineMs: 0 })
  await worker?.handle([{ jobId: 'late', lane: 'email' }])
  expect(worker).toBeDefined()
}, 20_000)

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
    const { id } = await api.send(HELLO)
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
      await expect(api.send({ ...HELLO, to: 'lost@example.com' })).rejects.toMatchObject({
        code: 'service_unavailable',
      })
      await client.query(`ALTER FUNCTION "${engineSchema}".add_jobs_away RENAME TO add_jobs`)
      const stored = await client.query(
        `SELECT 1 FROM "${schema}".notifications WHERE recipient = 'lost@example.com'`,
      )
      expect(stored.rows).toHaveLength(0)
    })
  })

  it('says at the start that its database is away, or what it refuses', async () => {
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

  it('says so when the storage is in another database, and takes jobs after the commit there', async () => {
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
    const notifier = await started({
      channels: { email },
      storage: await storage(),
      queue: graphileWorkerQueue({ ...away, inTransaction: false }),
    })
    await notifier.send({ ...HELLO, to: 'there@example.com' })
    await email.waitFor({ to: 'there@example.com' }, { withinMs: 45_000 })
  })

  it("a send inside the caller's transaction comes through the engine when that has committed", async () => {
    const url = await sharedPostgres()
    const email = recordingProvider()
    const store = await storage()
    const notifier = createNotifier({
      channels: { email },
      storage: store,
      queue: graphileWorkerQueue({ connectionString: url, schema: engineSchema, pollMs: 100 }),
      delivery: { pollMs: NEVER_MS },
    })
    onTestFinished(() => notifier.stop({ deadlineMs: 1_000 }))
    await notifier.start()
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    onTestFinished(() => client.end())
    for (const [end, to] of [
      ['ROLLBACK', 'never@example.com'],
      ['COMMIT', 'joined@example.com'],
    ] as const) {
      await client.query('BEGIN')
      await notifier.send({ ...HELLO, to }, { tx: client })
      await client.query(end)
    }
    await email.waitFor({ to: 'joined@example.com' }, { withinMs: 45_000 })
    expect(email.messages.map(({ to }) => to)).not.toContain('never@example.com')
  })

  it('a connection that is lost while a job is ended ends neither the process nor the work', async () => {
    const url = await sharedPostgres()
    const own = uniqueSchema()
    const email = recordingProvider()
    const notifier = await started({
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
      await notifier.send({ ...HELLO, to: 'lost@example.com' })
      await email.waitFor({ to: 'lost@example.com' }, { withinMs: 45_000 })
      await eventually(() => errors.length > 0)
      await client.query(`DROP TRIGGER lose ON "${own}"._private_jobs`)
    })
    await notifier.send({ ...HELLO, to: 'found@example.com' })
    await email.waitFor({ to: 'found@example.com' }, { withinMs: 45_000 })
  })

  it('a database that goes while a process stops does not end it by an error that nobody handles', async () => {
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
      const notifier = await started({
        queue: graphileWorkerQueue({ connectionString: there.href, inTransaction: false, pollMs: 10 }),
      })
      await notifier.sendBatch(Array.from({ length: 100 }, () => HELLO))
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

  it('a connection that is lost while it begins to listen and the process stops ends it neither', async () => {
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

    const notifier = await started({ queue: graphileWorkerQueue({ pool, inTransaction: false }) })
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

  it('events for endpoints come through the engine, too', async () => {
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
    await started(await parts())
    const api = createNotifier({ channels: { email: recordingProvider() }, ...(await parts()) })
    onTestFinished(() => api.stop())
    await api.start({ deliver: false })
    const { port } = server.address() as AddressInfo
    const { id } = await api.organizations.create({ name: 'Listening' })
    const tenant = api.organization(id)
    await tenant.webhooks.create({ url: `http://127.0.0.1:${port}/`, events: ['notification.sent'] })
    await tenant.send(HELLO)
    await eventually(() => got.includes('notification.sent'))
  })
})

describeWith(whyNoPostgres(), 'on PostgreSQL', () => {
  describeOwnRedis('bullmqQueue', () => {
    it('starts, delivers and stops while Redis is away, and goes on when it comes', async () => {
      const server = await startRedis()
      onTestFinished(() => server.remove())
      await server.kill()
      const email = recordingProvider()
      const parts = { storage: await storage(), queue: bullmqQueue({ url: server.url, name: 'late' }) }
      const notifier = await started({ channels: { email }, ...parts })
      await notifier.send(HELLO)
      await eventually(async () => (await notifier.health()).queue?.takes === false)
      // Far sooner than the next look: what the engine does not take, the process that delivers takes itself.
      await notifier.send({ ...HELLO, to: 'early@example.com' })
      await email.waitFor({ to: 'early@example.com' }, { withinMs: 45_000 })

      await server.start()
      await eventually(async () => {
        await notifier.send(HELLO)
        return (await notifier.health()).queue?.takes
      })
      const before = email.calls.length
      await notifier.send({ ...HELLO, to: 'late@example.com' })
      await email.waitFor({ to: 'late@example.com' }, { withinMs: 45_000 })
      expect(email.calls.length).toBeGreaterThan(before)

      await server.kill()
      await notifier.stop({ deadlineMs: 3_000 })
    })

    it("takes the settings of the application's client, and leaves it as it is", async () => {
      const server = await startRedis()
      onTestFinished(() => server.remove())
      const client = new Redis(server.url, { lazyConnect: true, db: 3 })
      onTestFinished(() => client.disconnect())
      const email = recordingProvider()
      const queue = bullmqQueue({ client, prefix: 'ours:bull' })
      const notifier = await started({ channels: { email }, storage: await storage(), queue })
      await notifier.send({ ...HELLO, to: 'client@example.com' })
      await email.waitFor({ to: 'client@example.com' }, { withinMs: 45_000 })
      expect(client.status).toBe('wait')
      expect((await client.keys('*')).every((key) => key.startsWith('ours:bull:carillon:'))).toBe(true)
      await notifier.stop()
      expect(client.status).toBe('ready')
      expect(await client.keys('ours:bull:carillon:[0-9]*')).toEqual([])
    })

    it("heeds no commandTimeout of the application's client while it waits for a job", async () => {
      const server = await startRedis()
      onTestFinished(() => server.remove())
      const client = new Redis(server.url, { commandTimeout: 100 })
      onTestFinished(() => client.disconnect())
      const email = recordingProvider()
      const queue = bullmqQueue({ client, name: 'patient' })
      const notifier = await started({ channels: { email }, storage: await storage(), queue })
      const errors: Error[] = []
      notifier.on('error', (error) => errors.push(error))
      await notifier.send({ ...HELLO, to: 'first@example.com' })
      await email.waitFor({ to: 'first@example.com' }, { withinMs: 45_000 })
      // Longer than that: the worker waits at the server.
      await sleep(500)
      await notifier.send({ ...HELLO, to: 'patient@example.com' })
      await email.waitFor({ to: 'patient@example.com' }, { withinMs: 5_000 })
      expect(errors).toEqual([])
    })

    it('says why no connection comes, also in a process that only accepts', async () => {
      const server = await startRedis()
      onTestFinished(() => server.remove())
      const client = new Redis(server.url)
      await client.config('SET', 'requirepass', 'secret')
      client.disconnect()
      const errors: Error[] = []
      const parts = { storage: await storage(), queue: bullmqQueue({ url: server.url, name: 'refused' }) }
      const api = createNotifier({ channels: { email: recordingProvider() }, ...parts })
      api.on('error', (error) => errors.push(error))
      onTestFinished(() => api.stop({ deadlineMs: 1_000 }))
      await api.start({ deliver: false })
      await api.send(HELLO)
      await eventually(() => errors.length > 0)
      expect(errors[0]).toMatchObject({
        message: expect.stringContaining('took no announcement'),
        cause: {
          message: expect.stringContaining('is not ready'),
          cause: { message: expect.stringContaining('NOAUTH') },
        },
      })
    })

    it('tells nobody the password that Redis refuses', async () => {
      const server = await startRedis()
      onTestFinished(() => server.remove())
      const client = new Redis(server.url)
      await client.config('SET', 'requirepass', 'secret')
      client.disconnect()
      const errors: Error[] = []
      const url = server.url.replace('127.', ':confidential@127.')
      const queue = bullmqQueue({ url, name: 'refused' })
      const notifier = await started({ storage: await storage(), queue })
      notifier.on('error', (error) => errors.push(error))
      await notifier.send(HELLO)
      await eventually(() => errors.length >= 2)
      const told = inspect(errors, { depth: Number.POSITIVE_INFINITY })
      expect(told.match(/WRONGPASS/g)?.length).toBeGreaterThanOrEqual(2)
      expect(told).not.toContain('confidential')
    })

    it('a Redis that hangs keeps no sender waiting, and no stop for long', async () => {
      const server = await startRedis()
      onTestFinished(() => server.remove())
      const email = recordingProvider()
      const parts = { storage: await storage(), queue: bullmqQueue({ url: server.url, name: 'hanging' }) }
      const notifier = await started({ channels: { email }, ...parts, delivery: { pollMs: 1_000 } })
      await notifier.send({ ...HELLO, to: 'before@example.com' })
      await email.waitFor({ to: 'before@example.com' }, { withinMs: 45_000 })
      server.signal('SIGSTOP')
      onTestFinished(() => server.signal('SIGCONT'))
      // It answers to none of them before the test has ended.
      for (let count = 0; count < 20; count += 1)
        await notifier.send({ ...HELLO, to: `h${count}@example.com` })
      await email.waitFor({ to: 'h19@example.com' }, { withinMs: 45_000 })
      await notifier.stop({ deadlineMs: 2_000 })
    })
  })
})
