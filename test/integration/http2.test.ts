import { once } from 'node:events'
import { connect, constants, createSecureServer, type Http2SecureServer } from 'node:http2'
import type { AddressInfo } from 'node:net'
import Fastify from 'fastify'
import twilioProvider from 'twilio'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { twilio } from '../../adapters/channels/twilio/send.ts'
import { notifierPlugin } from '../../adapters/http/fastify.ts'
import { notifierFetch } from '../../adapters/http/fetch.ts'
import { notifierHandler } from '../../adapters/http/node.ts'
import { createNotifier, type Notifier } from '../../src/index.ts'
import { recordingProvider } from '../../src/testing/recording-provider.ts'
import { certificate as cert, key } from '../support/localhost-certificate.ts'

const TOKEN = 'correct-horse-battery-staple'
const PATH = '/receipts/sms/twilio?carillon_id=notif_17637264000000000000000000001'
const fields = { MessageSid: `SM${'a'.repeat(32)}`, MessageStatus: 'delivered', To: '+4915112345678' }
const closers: (() => unknown)[] = []
let notifier: Notifier

beforeEach(async () => {
  const sms = twilio({
    accountSid: `AC${'0'.repeat(32)}`,
    authToken: TOKEN,
    from: '+15005550006',
    receipts: {},
  })
  notifier = createNotifier({ channels: { sms } })
  await notifier.start({ deliver: false })
  closers.push(() => notifier.stop())
})
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

async function serveNode(): Promise<number> {
  const server: Http2SecureServer = createSecureServer({ key, cert }, notifierHandler(notifier) as never)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  closers.push(() => new Promise((resolve) => server.close(resolve)))
  return (server.address() as AddressInfo).port
}

async function serveFastify(): Promise<number> {
  const app = Fastify({ http2: true, https: { key, cert } })
  await app.register(notifierPlugin(notifier) as never)
  closers.push(() => app.close())
  return Number(new URL(await app.listen({ port: 0, host: '127.0.0.1' })).port)
}

/** What a provider that signs the address posts, as it is signed for a server of this name. */
function report(authority: string): { signature: string; body: string } {
  const signature = twilioProvider.getExpectedTwilioSignature(TOKEN, `https://${authority}${PATH}`, fields)
  return { signature, body: new URLSearchParams(fields).toString() }
}

it.each([
  ['node:http2', serveNode],
  ['Fastify', serveFastify],
])('the name that a request over HTTP/2 is for is known, %s', async (_name, serve) => {
  const port = await serve()
  const session = connect(`https://localhost:${port}`, { ca: cert })
  closers.push(() => new Promise<void>((resolve) => session.close(resolve)))
  async function post(authority: string): Promise<number> {
    const { signature, body } = report(authority)
    const stream = session.request({
      [constants.HTTP2_HEADER_METHOD]: 'POST',
      [constants.HTTP2_HEADER_PATH]: PATH,
      'content-type': 'application/x-www-form-urlencoded',
      'x-twilio-signature': signature,
    })
    stream.end(body)
    const [headers] = await once(stream, 'response')
    stream.resume()
    await once(stream, 'close')
    return Number(headers[':status'])
  }
  expect(await post(`localhost:${port}`)).toBe(200)
  expect(await post('other.example')).toBe(401)
})

it('the name that a Request without a Host header is for is that of its URL', async () => {
  const answer = notifierFetch(notifier)
  const { signature, body } = report('app.example')
  const headers = { 'content-type': 'application/x-www-form-urlencoded', 'x-twilio-signature': signature }
  const connection = { remoteAddress: '192.0.2.7', encrypted: true }
  const response = await answer(
    new Request(`https://app.example${PATH}`, { method: 'POST', headers, body }),
    connection,
  )
  expect(response?.status).toBe(200)
})

it('a channel finds that name among the headers of a Request, too', async () => {
  const seen: unknown[] = []
  const own = createNotifier({
    channels: {
      sms: {
        ...recordingProvider({ name: 'own' }),
        parseReceipts: async ({ headers }) => {
          seen.push(headers.host)
          return { kind: 'receipts', receipts: [] }
        },
      },
    },
  })
  await own.start({ deliver: false })
  closers.push(() => own.stop())
  const request = new Request('https://app.example/receipts/sms/own', { method: 'POST', body: '{}' })
  await notifierFetch(own)(request, { remoteAddress: '192.0.2.7', encrypted: true })
  expect(seen).toEqual(['app.example'])
})
