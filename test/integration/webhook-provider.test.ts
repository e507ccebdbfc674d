import { setImmediate as turn } from 'node:timers/promises'
import { Webhook } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type WebhookOptions, webhook } from '../../adapters/channels/webhook/send.ts'
import { LONGEST_HINT_MS, WEBHOOK_RETRY } from '../../src/core/delivery/retry-delay.ts'
import type { Message, Provider } from '../../src/core/ports/provider.ts'
import { webhookSigner } from '../../src/outgoing/webhook-signer.ts'
import { verifyWebhook } from '../../src/webhook-receiver/index.ts'
import { sendContext } from '../support/channel-context.ts'
import { certificate } from '../support/localhost-certificate.ts'
import {
  closedPort,
  httpReceiver,
  httpsReceiver,
  type ReceivedRequest,
  type Receiver,
  tcpReceiver,
} from '../support/receivers.ts'

const secret = webhookSigner().newSecret()
const development: WebhookOptions = { allow: ['127.0.0.0/8'], allowHttp: true }
const context = sendContext({ idempotencyKey: 'anything' })

let receiver: Receiver
let answer: { status: number; headers?: Record<string, string>; body?: string }
let channel: Provider
beforeAll(async () => {
  receiver = await httpReceiver((response) =>
    response.writeHead(answer.status, answer.headers).end(answer.body),
  )
  channel = webhook({ ...development, secret, headers: { Authorization: 'Bearer of-the-receiver' } })
})
beforeEach(() => {
  receiver.requests.length = 0
  answer = { status: 200 }
})
afterAll(async () => {
  await channel.close?.()
  await receiver.close()
})

const url = (path = '/hook') => `http://127.0.0.1:${receiver.port}${path}`
const message = (more: Partial<Message> = {}): Message => ({
  to: url(),
  subject: null,
  body: 'Hi Ada',
  format: 'text',
  ...more,
})

async function received(more: Partial<Message> = {}): Promise<ReceivedRequest> {
  receiver.requests.length = 0
  expect(await channel.send(message(more), context)).toMatchObject({ kind: 'accepted' })
  const [request] = receiver.requests
  if (request === undefined) throw new Error('no request arrived')
  return request
}

const signed = ({ headers }: ReceivedRequest): Record<string, string> => ({
  'webhook-id': String(headers['webhook-id']),
  'webhook-timestamp': String(headers['webhook-timestamp']),
  'webhook-signature': String(headers['webhook-signature']),
})

describe('a notification', () => {
  it('is posted as JSON, and delivered with the answer 200', async () => {
    expect(await channel.send(message({ subject: 'Hello' }), context)).toEqual({
      kind: 'accepted',
      status: 'delivered',
    })
    const [request] = receiver.requests
    expect(request).toMatchObject({
      method: 'POST',
      path: '/hook',
      headers: { 'content-type': 'application/json', authorization: 'Bearer of-the-receiver' },
    })
    expect(JSON.parse(String(request?.body))).toEqual({
      event: 'webhook.message',
      data: {
        id: context.notificationId,
        subject: 'Hello',
        body: 'Hi Ada',
        timestamp: '2026-11-21T12:00:00.000Z',
      },
    })
  })

  it.each([
    ['{"text":"Grüße 🎉","n":[1,2]}', { text: 'Grüße 🎉', n: [1, 2] }],
    [' {"a":1}\n', { a: 1 }],
    ['{"a":', '{"a":'],
    ['{{name}}', '{{name}}'],
    ['[1,2]', '[1,2]'],
    ['7', '7'],
    ['null', 'null'],
    ['"text"', '"text"'],
  ])('with the text %j has the body %j', async (body, expected) => {
    expect(JSON.parse(String((await received({ body })).body)).data.body).toEqual(expected)
  })

  it('keeps an object as it was written: numbers that JavaScript would round', async () => {
    const body = '{"order": 12345678901234567890, "price": 10.00}'
    const request = await received({ body })
    expect(String(request.body)).toContain(`"body":${body},`)
    expect(new Webhook(secret).verify(String(request.body), signed(request))).toBeDefined()
  })

  it('is posted as it was written also where it nests too deep to be written anew', async () => {
    const body = `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`
    expect(String((await received({ body })).body)).toContain(`"body":${body},`)
  })

  it('goes over a connection of its organization alone', async () => {
    const before = receiver.connections
    for (const organizationId of ['org_a', 'org_b', 'org_a', 'org_b']) {
      await channel.send(message(), { ...context, organizationId })
      // The connection is free one turn after its answer.
      await turn()
    }
    expect(receiver.connections - before).toBe(2)
  })

  it('is signed so that we and independent packages accept it, and repeats its id with every attempt', async () => {
    const request = await received({ body: '{"text":"Grüße 🎉"}' })
    const body = request.body.toString('utf8')
    expect(new Webhook(secret).verify(body, signed(request))).toEqual(JSON.parse(body))
    expect(new SvixWebhook(secret).verify(body, signed(request))).toEqual(JSON.parse(body))
    expect(verifyWebhook(request.body, request.headers, secret)).toEqual(JSON.parse(body))
    expect(() => new Webhook(webhookSigner().newSecret()).verify(body, signed(request))).toThrow()
    expect(() => new Webhook(secret).verify(`${body} `, signed(request))).toThrow()
    expect(request.headers['webhook-id']).toBe(context.notificationId)
    expect((await received()).headers['webhook-id']).toBe(context.notificationId)
  })

  it('is signed with every secret while they rotate, and not at all without one', async () => {
    const old = webhookSigner().newSecret()
    const rotating = webhook({ ...development, secret: [secret, old] })
    await rotating.send(message(), context)
    const unsigned = webhook(development)
    await unsigned.send(message(), context)
    const [both, none] = receiver.requests
    if (both === undefined || none === undefined) throw new Error('no requests arrived')
    for (const one of [secret, old]) {
      expect(new Webhook(one).verify(both.body.toString(), signed(both))).toBeDefined()
    }
    expect(none.headers).not.toHaveProperty('webhook-signature')
    expect(none.headers).toMatchObject({ 'webhook-id': context.notificationId })
    await rotating.close?.()
    await unsigned.close?.()
  })

  it('travels over TLS', async () => {
    const secure = await httpsReceiver((response) => response.end())
    const to = `https://127.0.0.1:${secure.port}/`
    const trusting = webhook({ allow: ['127.0.0.1'], ca: certificate })
    expect(await trusting.send(message({ to }), context)).toMatchObject({ kind: 'accepted' })
    const doubting = webhook({ allow: ['127.0.0.1'] })
    expect(await doubting.send(message({ to }), context)).toMatchObject({
      kind: 'retry',
      code: 'endpoint_error',
      scope: 'recipient',
    })
    expect(secure.requests).toHaveLength(1)
    await trusting.close?.()
    await doubting.close?.()
    await secure.close()
  })
})

describe('an answer', () => {
  it.each([201, 202, 204, 299])('%i is success only where the option says so', async (status) => {
    answer = { status }
    expect(await channel.send(message(), context)).toMatchObject({ kind: 'retry', code: 'endpoint_error' })
    const lenient = webhook({ ...development, successStatus: '2xx' })
    expect(await lenient.send(message(), context)).toMatchObject({ kind: 'accepted', status: 'delivered' })
    await lenient.close?.()
  })

  it('410 ends the notification', async () => {
    answer = { status: 410 }
    expect(await channel.send(message(), context)).toEqual({
      kind: 'rejected',
      code: 'endpoint_gone',
      scope: 'recipient',
      message: 'The endpoint answered 410 Gone.',
      providerCode: '410',
    })
  })

  it.each([301, 302, 307, 400, 401, 403, 404, 422, 429, 500, 502, 503, 504])(
    '%i is tried again',
    async (status) => {
      answer = { status, headers: { location: url('/elsewhere') } }
      expect(await channel.send(message(), context)).toMatchObject({
        kind: 'retry',
        code: 'endpoint_error',
        scope: 'recipient',
        providerCode: String(status),
      })
      expect(receiver.requests.map(({ path }) => path)).toEqual(['/hook'])
    },
  )

  it.each([
    [429, '120', 120_000],
    [503, '7', 7_000],
    [503, '31536000', LONGEST_HINT_MS],
    [503, 'soon', undefined],
    [503, 'Wed, 21 Oct 2015 07:28:00 GMT', undefined],
    [500, '7', undefined],
  ])('%i with Retry-After: %s waits %j ms', async (status, value, retryAfterMs) => {
    answer = { status, headers: { 'retry-after': value } }
    const outcome = await channel.send(message(), context)
    expect(outcome).toMatchObject({ kind: 'retry' })
    expect('retryAfterMs' in outcome ? outcome.retryAfterMs : null).toBe(retryAfterMs)
  })

  it('with a Retry-After that is a date waits until then', async () => {
    answer = { status: 429, headers: { 'retry-after': new Date(Date.now() + 3_600_000).toUTCString() } }
    const outcome = await channel.send(message(), context)
    const waits = 'retryAfterMs' in outcome ? outcome.retryAfterMs : undefined
    expect(waits).toBeGreaterThan(3_000_000)
    expect(waits).toBeLessThanOrEqual(3_600_000)
  })

  it('that is an error page with the status 200 is delivered all the same', async () => {
    answer = { status: 200, body: '<html>Internal error</html>' }
    expect(await channel.send(message(), context)).toMatchObject({ kind: 'accepted' })
  })
})

describe('no answer', () => {
  const hasty = () => webhook({ ...development, secret, timeoutMs: 800 })

  it('in time: nobody knows whether it was received', async () => {
    const silent = await tcpReceiver((socket) => socket.resume())
    const one = hasty()
    const outcome = await one.send(message({ to: `http://127.0.0.1:${silent.port}/` }), context)
    expect(outcome).toMatchObject({ kind: 'ambiguous', code: 'endpoint_timeout', providerCode: 'timeout' })
    await one.close?.()
    await silent.close()
  })

  it('because the handshake hangs: nothing was sent', async () => {
    const silent = await tcpReceiver((socket) => socket.resume())
    const one = hasty()
    const outcome = await one.send(message({ to: `https://127.0.0.1:${silent.port}/` }), context)
    expect(outcome).toMatchObject({ kind: 'retry', code: 'endpoint_timeout', scope: 'recipient' })
    await one.close?.()
    await silent.close()
  })

  it('because the connection breaks', async () => {
    const rude = await tcpReceiver((socket) => socket.once('data', () => socket.resetAndDestroy()))
    const outcome = await channel.send(message({ to: `http://127.0.0.1:${rude.port}/` }), context)
    expect(outcome).toMatchObject({ kind: 'ambiguous', code: 'endpoint_error' })
    await rude.close()
  })

  it('because nobody is there', async () => {
    const outcome = await channel.send(message({ to: `http://127.0.0.1:${await closedPort()}/` }), context)
    expect(outcome).toMatchObject({ kind: 'retry', code: 'endpoint_error', scope: 'recipient' })
  })

  it('because the attempt is aborted', async () => {
    const abort = new AbortController()
    const silent = await tcpReceiver((socket) => socket.once('data', () => abort.abort()))
    const outcome = await channel.send(
      message({ to: `http://127.0.0.1:${silent.port}/` }),
      sendContext({ signal: abort.signal }),
    )
    expect(outcome).toMatchObject({ kind: 'ambiguous', code: 'endpoint_timeout' })
    await silent.close()
  })
})

describe('an address that is not public', () => {
  const strict = webhook({ secret })
  afterAll(() => strict.close?.())

  it.each([
    'https://127.0.0.1/',
    'https://[::ffff:7f00:1]/',
    'https://169.254.169.254/latest/meta-data/',
    'https://localhost./',
    'https://example.com:22/',
    'https://user:pw@example.com/',
    'http://example.com/',
    'file:///etc/passwd',
    'nonsense',
  ])('%s is not accepted as a recipient, and nothing is sent to it', async (to) => {
    expect(strict.accepts?.(to)).toBe(false)
    expect(await strict.send(message({ to }), context)).toMatchObject({
      kind: 'rejected',
      code: 'blocked_address',
      scope: 'recipient',
    })
  })

  it('is refused under the name of this machine too', async () => {
    const open = webhook({ allowHttp: true })
    const to = url().replace('127.0.0.1', 'localhost')
    expect(await open.send(message({ to }), context)).toMatchObject({ code: 'blocked_address' })
    expect(receiver.requests).toEqual([])
    await open.close?.()
  })

  it('differs from a public one', () => {
    expect(strict.accepts?.('https://example.com/hook')).toBe(true)
    expect(channel.accepts?.(url())).toBe(true)
  })
})

describe('webhook', () => {
  it('retries by the schedule of webhooks and counts on webhook-id against duplicates', () => {
    expect(webhook()).toMatchObject({
      name: 'webhook',
      kind: { name: 'webhook' },
      retry: WEBHOOK_RETRY,
      onAmbiguous: 'retry',
      maxConcurrent: 50,
    })
  })

  it('keeps secrets out of every outcome', async () => {
    for (const status of [200, 302, 410, 500]) {
      answer = { status, headers: { location: `/${secret}` }, body: secret }
      const outcome = await channel.send(message({ to: url('/hook?token=in-the-url') }), context)
      expect(JSON.stringify(outcome)).not.toMatch(/whsec_|of-the-receiver|in-the-url/)
    }
  })

  it.each<[string, Record<string, unknown>]>([
    ['secret', { secret: 'correct horse' }],
    ['secret', { secret: ['whsec_dG9vIHNob3J0'] }],
    ['secret', { secret: [] }],
    ['name', { name: 'My Hook' }],
    ['timeoutMs', { timeoutMs: 0 }],
    ['allow', { allow: ['10.0.0.0/99'] }],
    ['allow', { allow: '127.0.0.0/8' }],
    ['allowHttp', { allowHttp: 'yes' }],
    ['successStatus', { successStatus: '3xx' }],
    ['headers', { headers: { 'webhook-id': 'x' } }],
    ['headers', { headers: { Host: 'x' } }],
    ['headers', { headers: { 'x-a': 'a\r\nb: c' } }],
    ['headers', { headers: { 'x a': 'a' } }],
    ['maxConcurrent', { maxConcurrent: 0 }],
    ['secrets', { secrets: 'correct horse' }],
  ])('names the option "%s" that is wrong in %j', (option, wrong) => {
    expect(() => webhook(wrong as WebhookOptions)).toThrowError(
      expect.objectContaining({
        code: 'invalid_configuration',
        details: { option: expect.stringMatching(`^${option}`) },
        message: expect.not.stringContaining('correct horse'),
      }),
    )
  })
})
