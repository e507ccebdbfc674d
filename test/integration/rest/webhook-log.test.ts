import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { inMemory } from '../../support/in-memory.ts'
import {
  closedPort,
  httpReceiver,
  type ReceivedRequest,
  type Receiver,
  tcpReceiver,
} from '../../support/receivers.ts'
import { type Host, startHost } from '../../support/rest-host.ts'

let host: Host
afterEach(() => host.close())

interface LoggedAttempt {
  readonly status: number | null
  readonly request: { readonly url: string; readonly headers: Record<string, string> } | null
}

interface Delivery {
  readonly eventId: string
  readonly attempts: readonly LoggedAttempt[]
}

/** What arrived, but for what is not told of it: the signature, and what HTTP adds to every request. */
function arrived({ method, path, headers }: ReceivedRequest): object {
  const { 'webhook-signature': signature, host: at, connection, 'content-length': length, ...own } = headers
  expect([method, signature?.slice(0, 3)]).toEqual(['POST', 'v1,'])
  return { url: `http://${at}${path}`, headers: own }
}

describe('the delivery log of a webhook endpoint', () => {
  async function start(url: string) {
    const storage = inMemory()
    host = await startHost({ storage, webhooks: { allow: ['127.0.0.1/32'], allowHttp: true } })
    const headers = await host.key('Full Access')
    const request = (method: string, path: string, body?: object) =>
      host.call({ method, path, headers, body })
    const { json } = await request('POST', '/v1/webhooks', { url })
    const path = `/v1/webhooks/${json?.id}`
    let attempts: readonly LoggedAttempt[] = []
    /** Waits for as many attempts; `act` makes the next one happen. */
    async function attempted(act: (eventId: unknown) => Promise<unknown>): Promise<LoggedAttempt> {
      const { length } = attempts
      const read = async () => (await request('GET', `${path}/deliveries`)).json?.items as Delivery[]
      await act((await read())[0]?.eventId)
      attempts = await eventually(async () => {
        const [delivery] = await read()
        return delivery?.attempts.length === length + 1 ? delivery.attempts : undefined
      })
      return attempts[length] as LoggedAttempt
    }
    return {
      storage,
      request,
      path,
      id: String(json?.id),
      send: () =>
        attempted(() => host.notifier.send({ channel: 'email', to: 'ada@example.com', body: 'Hi' })),
      redeliver: () => attempted((eventId) => request('POST', `${path}/deliveries/${eventId}/redeliver`)),
    }
  }
  const open = async (receiver: Receiver): Promise<Receiver> => {
    onTestFinished(receiver.close)
    return receiver
  }

  it('says of each attempt what the receiver got, but for the signature', async () => {
    const receiver = await open(await httpReceiver((response) => response.writeHead(500).end()))
    const at = `http://127.0.0.1:${receiver.port}`
    const { send, redeliver, request, path } = await start(`${at}/first?token=t&x=%20`)
    const first = await send()
    await request('PATCH', path, { url: `${at}/second` })
    const second = await redeliver()
    const test = await request('POST', `${path}/test`)
    const got = receiver.requests.map(arrived)
    expect(got).toHaveLength(3)
    expect([first.request, second.request, test.json?.request]).toEqual(got)
    expect([first.request?.url, second.request?.url]).toEqual([`${at}/first?token=t&x=%20`, `${at}/second`])
    expect(Object.keys(first.request?.headers ?? {}).sort()).toEqual([
      'accept-encoding',
      'content-type',
      'user-agent',
      'webhook-id',
      'webhook-timestamp',
    ])
  })

  it('says what was sent where no answer came, and nothing where nothing was', async () => {
    const hangsUp = await open(
      await tcpReceiver((socket) => void socket.once('data', () => socket.destroy())),
    )
    const closed = await closedPort()
    const { send, redeliver, storage, id, request, path } = await start(`http://127.0.0.1:${closed}/`)
    const { update, rotateSecret } = storage.webhookEndpoints
    const unreachable = await send()
    // An address that was open when it was registered.
    await update(id, { url: 'http://127.0.0.2:8080/' })
    const refused = await redeliver()
    await update(id, { url: `http://127.0.0.1:${hangsUp.port}/` })
    const broken = await redeliver()
    await rotateSecret(id, { secret: 'sealed with another secret', overlapMs: 0, most: 1 })
    const unsigned = await redeliver()
    const logged = [unreachable, refused, broken, unsigned]
    expect(logged.map(({ status }) => status)).toEqual([null, null, null, null])
    expect(logged.map((attempt) => attempt.request?.url ?? null)).toEqual([
      null,
      null,
      `http://127.0.0.1:${hangsUp.port}/`,
      null,
    ])
    expect((await request('POST', `${path}/test`)).json?.request).toBeNull()
  })
})
