import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { postgres } from '../../adapters/storage/postgres/index.ts'
import type { Storage } from '../../src/core/ports/storage/storage.ts'
import { createNotifier } from '../../src/create-notifier.ts'
import { recordingProvider } from '../../src/testing/recording-provider.ts'
import { accept, note, TEN } from '../../src/testing/storage/fixtures.ts'
import { CONTRACT_START, keeping, write } from '../../src/testing/storage/record-fixtures.ts'
import { eventually } from '../support/eventually.ts'
import { describeWithOwnPostgres, ownPostgres } from '../support/own-postgres.ts'
import { onPostgres, uniqueSchema } from '../support/postgres.ts'

// It turns SSL on.
const server = ownPostgres(['ssl = off'])

describeWithOwnPostgres('a start that no retry can mend', () => {
  const startAt = (change: (url: URL) => void): Promise<void> => {
    const url = new URL(server.url)
    change(url)
    return postgres({ connectionString: url.href }).start()
  }

  it.each<[string, (url: URL) => void, string, string]>([
    ['a missing database', (url) => (url.pathname = '/nowhere'), '3D000', '"nowhere" does not exist'],
    ['a missing role', (url) => (url.username = 'nobody-here'), '28000', '"nobody-here" does not exist'],
  ])('reports %s as a fault of the configuration', async (_name, change, code, says) => {
    await expect(startAt(change)).rejects.toMatchObject({
      code: 'invalid_configuration',
      retryable: false,
      message: expect.stringContaining(says),
      cause: { code },
    })
  })

  it('reports a role without the right to create a schema as a fault, but not an unreachable server', async () => {
    await onPostgres(server.url, (client) => client.query('CREATE ROLE reader LOGIN'))
    await expect(startAt((url) => (url.username = 'reader'))).rejects.toMatchObject({
      code: 'invalid_configuration',
      cause: { code: '42501' },
    })
    await expect(startAt((url) => (url.port = '1'))).rejects.toMatchObject({
      code: 'service_unavailable',
      retryable: true,
      cause: { code: 'ECONNREFUSED' },
    })
  })

  it('reports an untrusted or missing certificate, and a server without TLS', async () => {
    const certificate = new URL('../fixtures/localhost.cert.pem', import.meta.url)
    const key = new URL('../fixtures/localhost.key.pem', import.meta.url)
    const refused = async (host: string, authority: string, says: RegExp): Promise<void> => {
      const change = (url: URL): void => {
        url.host = `${host}:${server.port}`
        url.search = String(new URLSearchParams({ sslmode: 'verify-full', sslrootcert: authority }))
      }
      await expect(startAt(change)).rejects.toMatchObject({
        code: 'invalid_configuration',
        message: expect.stringMatching(says),
      })
    }
    await refused('127.0.0.1', certificate.pathname, /does not support SSL/)
    await refused('127.0.0.1', '/nowhere/ca.pem', /no such file .*\/nowhere\/ca\.pem/)
    await onPostgres(server.url, async (client) => {
      for (const [name, file] of [
        ['crt', certificate],
        ['key', key],
      ] as const) {
        const lines = readFileSync(file, 'utf8').trim().split('\n')
        await client.query(
          `COPY (SELECT unnest('{${lines}}'::text[])) TO PROGRAM 'umask 077; cat > server.${name}'`,
        )
      }
      await client.query('ALTER SYSTEM SET ssl = on')
      await client.query('SELECT pg_reload_conf()')
    })
    await eventually(async () => {
      const { rows } = await onPostgres(server.url, (client) => client.query('SHOW ssl'))
      return rows[0].ssl === 'on'
    })
    await refused('127.0.0.1', key.pathname, /self-signed certificate/)
    await refused('0x7f.1', certificate.pathname, /does not match certificate/)
  })
})

describeWithOwnPostgres('the schema', () => {
  it('is created once by eight storages that start together, with partitions for three months', async () => {
    const schema = uniqueSchema()
    const storages = await Promise.all(TEN.slice(0, 8).map(() => server.open(schema)))
    await Promise.all(storages.map((storage) => storage.start(CONTRACT_START)))
    const kept = await Promise.all(
      storages.map((storage, index) =>
        write(storage, keeping('k', null, { reason: String(index), source: null })),
      ),
    )
    expect(new Set(kept.map(([record]) => JSON.stringify(record?.value))).size).toBe(1)
    const { rows } = await onPostgres(server.url, (client) =>
      client.query(
        `SELECT count(*)::integer AS parts FROM pg_inherits WHERE inhparent = '"${schema}".notifications'::regclass`,
      ),
    )
    expect(rows).toEqual([{ parts: 4 }])
    const notifier = createNotifier({
      storage: storages[0] as Storage,
      channels: { email: recordingProvider() },
    })
    await notifier.start({ deliver: false })
    const { id } = await notifier.send({ channel: 'email', to: 'ada@example.com', body: 'x' })
    const { createdAt } = await notifier.notifications.get(id)
    const month = new Date(createdAt).toISOString().slice(0, 7).replace('-', '_')
    const found = await onPostgres(server.url, (client) =>
      client.query(`SELECT id FROM "${schema}".notifications_${month}`),
    )
    expect(found.rows).toEqual([{ id }])
    await notifier.stop()
  })

  it('can be used while a backup reads it, and gets missing partitions later', async () => {
    const schema = uniqueSchema()
    await server.open(schema)
    const inTwoMonths = new Date()
    inTwoMonths.setUTCMonth(inTwoMonths.getUTCMonth() + 2, 1)
    const month = `notifications_${inTwoMonths.toISOString().slice(0, 7).replace('-', '_')}`
    const exists = async (): Promise<boolean> => {
      const { rows } = await onPostgres(server.url, (client) =>
        client.query('SELECT to_regclass($1) IS NOT NULL AS exists', [`"${schema}".${month}`]),
      )
      return rows[0].exists
    }
    await onPostgres(server.url, async (client) => {
      await client.query(`DROP TABLE "${schema}".${month}`)
      await client.query(`BEGIN; SELECT count(*) FROM "${schema}".notifications`)
      const storage = await server.open(schema)
      expect((await accept(storage, [note()])).length).toBe(1)
      expect(await exists()).toBe(false)
      await client.query('COMMIT')
    })
    await server.open(schema)
    expect(await exists()).toBe(true)
  })

  it('is refused when it is newer than the code', async () => {
    const schema = uniqueSchema()
    await server.open(schema)
    await onPostgres(server.url, (client) =>
      client.query(`INSERT INTO "${schema}".schema_version (version) VALUES (999)`),
    )
    const late = postgres({ connectionString: server.url, schema })
    await expect(late.start()).rejects.toMatchObject({ code: 'invalid_configuration' })
    await late.stop()
  })
})
