import type { RequestListener } from 'node:http'
import { createRequire } from 'node:module'
import { getRequestListener } from '@hono/node-server'
import type express from 'express'
import Fastify from 'fastify'
import type Koa from 'koa'
import { describe, expect, it, onTestFinished } from 'vitest'
import { webhook } from '../../adapters/channels/webhook/send.ts'
import { createNotifier } from '../../src/index.ts'
import { webhookSigner } from '../../src/outgoing/webhook-signer.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import {
  expressReceiver,
  fastifyReceiver,
  fetchReceiver,
  koaReceiver,
  type ReceiverOptions,
  type WebhookDelivery,
  type WebhookEvent,
} from '../../src/webhook-receiver/index.ts'
import { eventually } from '../support/eventually.ts'
import { EXPRESS } from '../support/express-host.ts'
import { serve } from '../support/serve.ts'

const require = createRequire(import.meta.url)
/** Comes without types of its own. */
const bodyParser = require('koa-bodyparser') as () => Koa.Middleware
const signer = webhookSigner()

type Listen = (options: ReceiverOptions) => Promise<RequestListener>

/** A framework: its receiver as its guide mounts it, and behind a parser that has consumed the body. */
interface Harness {
  readonly name: string
  readonly plain: Listen
  readonly parsed: Listen
  /** Behind a parser that keeps the bytes. */
  readonly kept?: Listen
}

function expressHarness(name: string, create: typeof express): Harness {
  const app = (...before: express.RequestHandler[]): Listen => {
    return async (options) => {
      const host = create().disable('x-powered-by')
      for (const each of before) host.use(each)
      return host.post('/events', expressReceiver(options))
    }
  }
  return {
    name,
    plain: app(),
    parsed: app(create.json(), (_req, _res, next) => {
      // As what looks something up does: by then Node has destroyed a stream that has ended.
      setTimeout(next, 5)
    }),
    kept: app(create.raw({ type: 'application/json' })),
  }
}

function koaHarness(name: string, KoaApp: typeof Koa): Harness {
  const app = (...before: Koa.Middleware[]): Listen => {
    return async (options) => {
      const host = new KoaApp()
      for (const each of before) host.use(each)
      return host.use(koaReceiver(options)).callback()
    }
  }
  const consume: Koa.Middleware = async (context, next) => {
    for await (const _chunk of context.req);
    Object.assign(context.request, { body: {} })
    await next()
  }
  return { name, plain: app(), parsed: app(consume), kept: app(bodyParser()) }
}

const fastifyHarness: Harness = {
  name: 'Fastify 5',
  plain: async (options) => {
    const app = Fastify()
    await app.register(fastifyReceiver(options), { prefix: '/events' })
    await app.ready()
    return app.routing
  },
  parsed: async (options) => {
    const app = Fastify()
    app.addHook('onRequest', async ({ raw }) => {
      for await (const _chunk of raw);
    })
    await app.register(fastifyReceiver(options), { prefix: '/events' })
    await app.ready()
    return app.routing
  },
}

const fetchHarness: Harness = {
  name: 'fetch',
  plain: async (options) => getRequestListener(fetchReceiver(options)),
  parsed: async (options) => {
    const receive = fetchReceiver(options)
    return getRequestListener(async (request) => {
      await request.json()
      return receive(request).catch((error: Error) => new Response(error.message, { status: 500 }))
    })
  },
}

const harnesses: readonly Harness[] = [
  ...EXPRESS.map(([name, create]) => expressHarness(name, create)),
  koaHarness('Koa 2', require('koa2') as typeof Koa),
  koaHarness('Koa 3', require('koa') as typeof Koa),
  fastifyHarness,
  fetchHarness,
]

const eventsAt = async (listener: RequestListener): Promise<string> =>
  `http://127.0.0.1:${await serve(listener)}/events`

const secret = signer.newSecret()
const example = JSON.stringify({ event: 'notification.sent', data: { to: 'å🎉' } })

function post(url: string, body: string, headers: Record<string, string> = {}): Promise<Response> {
  const signed = signer.headers('evt_1_2', Math.floor(Date.now() / 1000), body, [secret])
  return fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...signed, ...headers },
    body,
  })
}

async function codeOf(response: Response): Promise<unknown> {
  return ((await response.json()) as { error: { code: unknown } }).error.code
}

describe.each(harnesses)('$name', ({ name, plain, parsed, kept }) => {
  it('takes the events of a notifier, each once it is handled, and gets those again that it failed', async () => {
    const clock = fakeClock()
    const notifier = createNotifier({
      clock,
      channels: { email: { name: 'own', send: async () => ({ kind: 'accepted' }) } },
      webhooks: { allow: ['127.0.0.1/32'], allowHttp: true },
    })
    onTestFinished(() => notifier.stop())
    const taken: [WebhookEvent, WebhookDelivery][] = []
    const failures: unknown[] = []
    let listener: RequestListener = (_req, res) => res.end()
    const url = await eventsAt((req, res) => listener(req, res))
    await notifier.start()
    const endpoint = await notifier.webhooks.create({ url })
    listener = await plain({
      secret: endpoint.secret,
      now: clock.now,
      handle: async (event, delivery) => {
        taken.push([event, delivery])
        if (taken.length === 1) throw new Error('The database is away.')
      },
      onError: (error, { id }) => failures.push([id, error]),
    })
    const { id } = await notifier.send({ channel: 'email', to: 'ada@example.com', body: 'Hi' })
    const delivery = () => notifier.webhooks.deliveries(endpoint.id).then(({ items }) => items[0])
    const failed = await eventually(async () => {
      await clock.advance(0)
      return (await delivery())?.attempts[0]
    })
    expect(failed).toMatchObject({ status: 500 })
    const done = await eventually(async () => {
      await clock.advance(2_000)
      const last = await delivery()
      return last?.status === 'delivered' ? last : undefined
    })
    expect(done.attempts.map(({ status }) => status)).toEqual([500, 200])
    const [[first, attempt1], [again, attempt2]] = taken as [(typeof taken)[0], (typeof taken)[0]]
    expect(first).toMatchObject({ event: 'notification.sent', data: { id, to: 'ada@example.com' } })
    expect(again).toEqual(first)
    expect(attempt2.id).toBe(attempt1.id)
    expect(attempt2.timestamp.getTime()).toBeGreaterThan(attempt1.timestamp.getTime())
    expect(failures).toEqual([[attempt1.id, expect.objectContaining({ message: 'The database is away.' })]])
    expect(await notifier.webhooks.test(endpoint.id)).toMatchObject({ succeeded: true })
    expect(taken.at(-1)?.[0]).toMatchObject({ event: 'webhook.test' })
  })

  it('takes a notification of the webhook channel', async () => {
    const channel = webhook({ secret, allow: ['127.0.0.1'], allowHttp: true })
    const notifier = createNotifier({ channels: { webhook: channel } })
    onTestFinished(() => notifier.stop())
    await notifier.start()
    const taken: [unknown, string][] = []
    const listener = await plain({
      secret,
      handle(event, delivery) {
        if (event.event === 'webhook.message') taken.push([event.data.body, delivery.id])
      },
    })
    const to = await eventsAt(listener)
    const { id } = await notifier.send({ channel: 'webhook', to, body: '{"order":4711}' })
    expect(await notifier.waitFor(id)).toMatchObject({ status: 'delivered' })
    expect(taken).toEqual([[{ order: 4711 }, id]])
  })

  it('answers only after the handler has resolved', async () => {
    let finish: () => void = () => {}
    const finished = new Promise<void>((resolve) => {
      finish = resolve
    })
    let began = false
    let answered = false
    const url = await eventsAt(
      await plain({
        secret,
        handle: () => {
          began = true
          return finished
        },
      }),
    )
    const response = post(url, example).then((given) => {
      answered = true
      return given
    })
    await eventually(() => began)
    // A whole other exchange fits in between.
    expect((await post(url, example, { 'webhook-id': 'evt_9_9' })).status).toBe(401)
    expect(answered).toBe(false)
    finish()
    expect((await response).status).toBe(200)
  })

  it('answers 401 to what is not signed with its secret, 400 to what is no event, and handles neither', async () => {
    const events: WebhookEvent[] = []
    const url = await eventsAt(await plain({ secret, handle: (event) => void events.push(event) }))
    const forged = await post(url, example, { 'webhook-signature': 'v1,AAAA' })
    expect([forged.status, await codeOf(forged)]).toEqual([401, 'invalid_webhook_signature'])
    const old = signer.headers('evt_1', Math.floor(Date.now() / 1000) - 400, example, [secret])
    const late = await post(url, example, old)
    expect([late.status, await codeOf(late)]).toEqual([401, 'webhook_timestamp_out_of_range'])
    const empty = await post(url, '[]')
    expect([empty.status, await codeOf(empty)]).toEqual([400, 'invalid_json'])
    const bare = await fetch(url, { method: 'POST' })
    expect([bare.status, await codeOf(bare)]).toEqual([401, 'invalid_webhook_signature'])
    expect(events).toEqual([])
    expect((await post(url, example)).status).toBe(200)
    expect(events).toEqual([JSON.parse(example)])
  })

  it('answers 413 above its limit, declared or not, and goes on', async () => {
    const url = await eventsAt(await plain({ secret, handle: () => {}, maxBodyBytes: 200 }))
    const padded = (size: number): string => {
      const empty = JSON.stringify({ event: 'x', data: { pad: '' } })
      return empty.replace('""', `"${'x'.repeat(size - empty.length)}"`)
    }
    expect((await post(url, padded(200))).status).toBe(200)
    const refused = await post(url, padded(201))
    expect([refused.status, await codeOf(refused)]).toEqual([413, 'payload_too_large'])
    const signed = signer.headers('evt_1', Math.floor(Date.now() / 1000), padded(100_000), [secret])
    const chunked = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...signed },
      body: new Blob([padded(100_000)]).stream(),
      duplex: 'half',
    })
    expect(chunked.status).toBe(413)
    expect((await post(url, example)).status).toBe(200)
  })

  it('says what to do when a body parser has consumed the bytes, to the sender and to the operator', async () => {
    const warnings: string[] = []
    const warned = ({ message }: Error): unknown => warnings.push(message)
    process.on('warning', warned)
    onTestFinished(() => void process.off('warning', warned))
    const events: WebhookEvent[] = []
    const url = await eventsAt(await parsed({ secret, handle: (event) => void events.push(event) }))
    const response = await post(url, example)
    expect(response.status).toBe(500)
    const { error } = (await response.json()) as { error: { code: string; message: string } }
    expect(error.code).toBe('body_already_read')
    const remedy = /Register this route|Use this middleware|exclude this route|Pass the request before/
    expect(error.message).toMatch(remedy)
    expect(warnings).toContain(error.message)
    expect(events).toEqual([])
  })

  it('answers an empty body the same behind a body parser: nothing was consumed', async () => {
    for (const listen of [plain, parsed]) {
      if (listen === parsed && name === 'fetch') continue
      const url = await eventsAt(await listen({ secret, handle: () => {} }))
      const signed = signer.headers('evt_1', Math.floor(Date.now() / 1000), '', [secret])
      const headers = { 'content-type': 'application/json', ...signed }
      const response = await fetch(url, { method: 'POST', headers })
      const text = await response.text()
      expect([response.status, text]).toEqual([400, expect.not.stringContaining('closed')])
    }
  })

  if (kept === undefined) return
  it('takes the bytes from a parser that keeps them', async () => {
    const events: WebhookEvent[] = []
    const listener = await kept({
      secret,
      handle: (event) => void events.push(event),
      maxBodyBytes: 200,
    })
    const url = await eventsAt(listener)
    expect((await post(url, example)).status).toBe(200)
    expect((await post(url, example, { 'webhook-id': 'evt_7' })).status).toBe(401)
    expect((await post(url, JSON.stringify({ event: 'x', data: { pad: 'x'.repeat(200) } }))).status).toBe(413)
    expect(events).toEqual([JSON.parse(example)])
  })
})

it('a failure that nobody listens for becomes a warning of the process', async () => {
  const warned = new Promise<Error>((resolve) => process.once('warning', resolve))
  const url = await eventsAt(
    getRequestListener(
      fetchReceiver({
        secret,
        handle: () => {
          throw new Error('The database is away.')
        },
      }),
    ),
  )
  const response = await post(url, example)
  expect(response.status).toBe(500)
  expect(await response.text()).not.toContain('database')
  expect(await warned).toMatchObject({
    name: 'CarillonWebhookWarning',
    message: expect.stringContaining('The database is away.'),
  })
})

it.each([
  ['no handler', { secret, handle: undefined }],
  ['a bad secret', { secret: 'whsec_', handle: () => {} }],
  ['a limit of nothing', { secret, handle: () => {}, maxBodyBytes: 0 }],
])('with %s a receiver is refused when it is made', (_, options) => {
  for (const make of [expressReceiver, koaReceiver, fastifyReceiver, fetchReceiver]) {
    expect(() => make(options as unknown as ReceiverOptions)).toThrow(
      expect.objectContaining({ code: 'invalid_configuration' }),
    )
  }
})
