import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { postgresStorage } from '../../adapters/storage/postgres/index.ts'
import { type PostgresServer, startPostgres } from '../../examples/servers/postgres.ts'
import { createNotifier } from '../../src/create-notifier.ts'
import type { Storage } from '../../src/ports/storage/storage.ts'
import { recordingChannel } from '../../src/testing/recording-channel.ts'
import { accept, note } from '../../src/testing/storage/fixtures.ts'
import { eventually } from '../support/eventually.ts'
import { describeWith } from '../support/left-out.ts'
import { onPostgres, uniqueSchema, whyNoPostgres } from '../support/postgres.ts'

describeWith(whyNoPostgres(true), 'the connection that listens', () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server?.remove())

  async function open(schema: string): Promise<Storage> {
    const storage = postgresStorage({ connectionString: server.url, schema })
    onTestFinished(() => storage.stop())
    await storage.start()
    return storage
  }

  async function listeners(): Promise<number[]> {
    const { rows } = await onPostgres(server.url, (client) =>
      client.query("SELECT pid FROM pg_stat_activity WHERE query LIKE 'LISTEN carillon%'"),
    )
    return rows.map(({ pid }) => pid)
  }

  it.each([
    [
      'it alone is ended',
      async (pid: number) => {
        await onPostgres(server.url, (client) => client.query('SELECT pg_terminate_backend($1)', [pid]))
      },
    ],
    [
      'the server crashes',
      async () => {
        await server.stop('immediate')
        await server.start()
      },
    ],
  ])('is opened again, hears of what came meanwhile, and of what comes then: %s', async (_, lose) => {
    const schema = uniqueSchema()
    const [a, b] = [await open(schema), await open(schema)]
    let heard = 0
    const end = b.onWork?.(() => {
      heard += 1
    })
    const [pid = 0] = await eventually(async () => {
      const found = await listeners()
      return found.length === 1 ? found : null
    })
    await eventually(() => heard > 0)
    const before = heard
    await lose(pid)
    await eventually(async () => {
      const found = await listeners()
      return found.length === 1 && !found.includes(pid)
    })
    await eventually(() => heard > before)
    const again = heard
    await eventually(() => accept(a, [note()]))
    await eventually(() => heard > again)
    end?.()
    await eventually(async () => (await listeners()).length === 0)
  })

  it('may be missing: what another process accepts is found by polling, also what is due again', async () => {
    const schema = uniqueSchema()
    const email = recordingChannel({
      send: (_message, { attempt }) =>
        attempt === 1
          ? { kind: 'retry', code: 'provider_error', scope: 'message', retryAfterMs: 300 }
          : { kind: 'accepted', providerMessageId: 'm' },
    })
    const make = () => {
      const notifier = createNotifier({
        storage: postgresStorage({ connectionString: server.url, schema, listen: false }),
        channels: { email },
        delivery: { pollMs: 200 },
      })
      onTestFinished(() => notifier.stop())
      return notifier
    }
    const [api, worker] = [make(), make()]
    await worker.start()
    await api.start({ deliver: false })
    expect(await listeners()).toEqual([])
    const { id } = await api.send({ channel: 'email', to: 'ada@example.com', body: 'x' })
    await eventually(async () => (await api.notifications.get(id)).status === 'sent')
    expect(email.calls).toHaveLength(2)
  })
})
