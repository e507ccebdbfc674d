import { expect, it, onTestFinished } from 'vitest'
import { postgres } from '../../adapters/storage/postgres/index.ts'
import { createNotifier } from '../../src/create-notifier.ts'
import { servedNotifier } from '../../src/served-notifier.ts'
import { recordingProvider } from '../../src/testing/recording-provider.ts'
import { accept, note } from '../../src/testing/storage/fixtures.ts'
import { eventually } from '../support/eventually.ts'
import { describeWithOwnPostgres, ownPostgres } from '../support/own-postgres.ts'
import { onPostgres, uniqueSchema } from '../support/postgres.ts'
import { httpReceiver } from '../support/receivers.ts'

const server = ownPostgres()

describeWithOwnPostgres('the connection that listens', () => {
  async function listeners(): Promise<number[]> {
    const { rows } = await onPostgres(server.url, (client) =>
      client.query("SELECT pid FROM pg_stat_activity WHERE query LIKE 'LISTEN carillon%'"),
    )
    return rows.map(({ pid }) => pid)
  }

  it.each([
    [
      'it was terminated',
      async (pid: number) => {
        await onPostgres(server.url, (client) => client.query('SELECT pg_terminate_backend($1)', [pid]))
      },
    ],
    [
      'the server crashed',
      async () => {
        await server.crash()
      },
    ],
  ])('is opened again, and hears of work from the meantime and afterwards: %s', async (_, lose) => {
    const schema = uniqueSchema()
    const [a, b] = [await server.open(schema), await server.open(schema)]
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

  it('is reported as impossible if the pool reaches the server and the address does not', async () => {
    const pool = server.pool(10)
    const connectionString = 'postgres://postgres@127.0.0.1:1/postgres'
    const notifier = createNotifier({
      storage: postgres({ pool, connectionString, schema: uniqueSchema() }),
      channels: { email: recordingProvider() },
    })
    onTestFinished(() => notifier.stop())
    const errors: Error[] = []
    notifier.on('error', (error) => errors.push(error))
    await notifier.start()
    await eventually(() => errors.length > 0)
    expect(errors[0]).toMatchObject({
      message: expect.stringContaining('the connection that listens'),
      cause: { message: expect.stringContaining('ECONNREFUSED') },
    })
  })

  it('may be missing, as polls find the notifications and retries of other processes', async () => {
    const schema = uniqueSchema()
    const email = recordingProvider({
      send: (_message, { attempt }) =>
        attempt === 1
          ? { kind: 'retry', code: 'provider_error', scope: 'message', retryAfterMs: 300 }
          : { kind: 'accepted', providerMessageId: 'm' },
    })
    const make = () => {
      const notifier = createNotifier({
        storage: postgres({ connectionString: server.url, schema, listen: false }),
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

  it('brings retries, and events for receipts, from an accepting process without a poll', async () => {
    const schema = uniqueSchema()
    const receiver = await httpReceiver((response) => response.writeHead(200).end())
    onTestFinished(receiver.close)
    const email = recordingProvider({
      send: (_message, { attempt, notificationId }) =>
        attempt === 1
          ? { kind: 'rejected', code: 'provider_error', scope: 'message' }
          : { kind: 'accepted', providerMessageId: `m-${notificationId}` },
      parseReceipts: async ({ body }) => ({
        kind: 'receipts',
        receipts: JSON.parse(new TextDecoder().decode(body)),
      }),
    })
    const make = () => {
      const notifier = createNotifier({
        storage: postgres({ connectionString: server.url, schema }),
        channels: { email },
        delivery: { pollMs: 60_000 },
        webhooks: { allow: ['127.0.0.1/32'], allowHttp: true },
      })
      onTestFinished(() => notifier.stop())
      return notifier
    }
    const [api, worker] = [make(), make()]
    await worker.start()
    await api.start({ deliver: false })
    const statusOf = async (id: string) => (await api.notifications.get(id)).status
    await api.webhooks.create({
      url: `http://127.0.0.1:${receiver.port}/`,
      events: ['notification.delivered'],
    })

    const { id } = await api.send({ channel: 'email', to: 'ada@example.com', body: 'x' })
    await eventually(async () => (await statusOf(id)) === 'failed')
    await api.notifications.retry(id)
    await eventually(async () => (await statusOf(id)) === 'sent')

    const receipts = [{ dedupeKey: 'one', fact: { type: 'delivered', providerMessageId: `m-${id}` } }]
    const body = new TextEncoder().encode(JSON.stringify(receipts))
    const arrival = { method: 'POST', target: '/', host: undefined, headers: {}, body }
    await servedNotifier(api).receipts.take({ channel: 'email', provider: 'recorder' }, arrival)
    await eventually(() => receiver.requests.length > 0)
  })
})
