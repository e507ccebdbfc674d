import Fastify from 'fastify'
import Koa from 'koa'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { notifierRouter } from '../../adapters/http/express.ts'
import { notifierPlugin } from '../../adapters/http/fastify.ts'
import { notifierFetch } from '../../adapters/http/fetch.ts'
import { notifierMiddleware } from '../../adapters/http/koa.ts'
import { type HttpApiOptions, notifierHandler } from '../../adapters/http/node.ts'
import { readWebBody } from '../../adapters/http/web-body.ts'
import type { BodyLimits } from '../../src/core/rest/message.ts'
import { createNotifier, type Notifier } from '../../src/index.ts'
import { EXPRESS } from '../support/express-host.ts'
import { faultLogger } from '../support/fault-logger.ts'
import { type Answer, call, codeOf } from '../support/http-client.ts'
import { serve, serveFastify } from '../support/serve.ts'

/** What the adapters do in their own ways; that they answer alike is in parity.test.ts. */
const mail = { channel: 'email', to: 'ada@example.com', subject: 'Hello', body: 'Hi Ada' }
const faults: unknown[] = []
let notifier: Notifier
let headers: { authorization: string }
const http: HttpApiOptions = {
  https: 'allow-loopback',
  trustedProxies: ['loopback'],
}

beforeEach(async () => {
  notifier = createNotifier({
    logger: faultLogger(faults),
    channels: { email: { name: 'mail', send: async () => ({ kind: 'accepted' }) } },
  })
  await notifier.start({ deliver: false })
  const { secret } = await notifier.apiKeys.create({ name: 'test', permission: 'Full Access' })
  headers = { authorization: `Bearer ${secret}` }
  faults.length = 0
  onTestFinished(() => notifier.stop())
})

function notify(port: number, more: Record<string, string> = {}, path = '/v1/notify'): Promise<Answer> {
  return call(port, { method: 'POST', path, headers: { ...headers, ...more }, body: mail })
}

describe('carillon/fastify', () => {
  it("runs behind the application's hooks, which may refuse, and before those that change answers", async () => {
    const app = Fastify()
    const seen: unknown[] = []
    app.addHook('preHandler', async (request, reply) => {
      if (request.headers['x-stop'] !== undefined) return reply.code(418).send({ stopped: true })
    })
    app.addHook('onSend', async (_request, reply, payload) => {
      seen.push(payload)
      reply.header('X-Late', 'yes')
    })
    app.register(notifierPlugin(notifier, http))
    const port = await serveFastify(app)
    for (const type of ['application/json', 'nonsense']) {
      const stopped = await notify(port, { 'x-stop': '1', 'content-type': type })
      expect([stopped.status, stopped.json]).toEqual([418, { stopped: true }])
    }
    expect((await notifier.notifications.list()).items).toEqual([])
    const answer = await notify(port)
    expect([answer.status, answer.headers['x-late']]).toEqual([201, 'yes'])
    expect(seen.at(-1)).toBe(answer.text)
  })

  it('can be there several times, and beside a route for everything', async () => {
    const app = Fastify()
    app.register(notifierPlugin(notifier, http), { prefix: '/a' })
    app.register(notifierPlugin(notifier, { ...http, errorFormat: 'flat' }), { prefix: '/tenants/:tenant/' })
    app.register(notifierPlugin(notifier, http))
    app.all('/*', async (request) => ({ rest: request.url, body: request.body }))
    const port = await serveFastify(app)
    for (const prefix of ['/a', '/%61', '/tenants/x%2Fy', '']) {
      expect([prefix, (await notify(port, {}, `${prefix}/v1/notify`)).status]).toEqual([prefix, 201])
    }
    const flat = await call(port, { path: '/tenants/7/v1/templates' })
    expect(flat.json).toMatchObject({ code: 'MISSING_AUTHORIZATION' })
    const rest = await call(port, { method: 'POST', path: '/b/v1/notify', body: { a: 1 } })
    expect(rest.json).toEqual({ rest: '/b/v1/notify', body: { a: 1 } })
  })

  it("leaves the application's parsers alone", async () => {
    const app = Fastify()
    app.addContentTypeParser('text/own', { parseAs: 'string' }, (_request, body, done) =>
      done(null, `<${body}>`),
    )
    app.register(notifierPlugin(notifier, http))
    app.post('/own', async (request) => ({ body: request.body }))
    const port = await serveFastify(app)
    const own = { method: 'POST', body: 'x', headers: { ...headers, 'content-type': 'text/own' } }
    expect((await call(port, { ...own, path: '/own' })).json).toEqual({ body: '<x>' })
    expect(codeOf(await call(port, { ...own, path: '/v1/notify' }))).toBe('unsupported_media_type')
    const unknown = await call(port, { ...own, path: '/own', headers: { 'content-type': 'text/other' } })
    expect(unknown.json).toMatchObject({ code: 'FST_ERR_CTP_INVALID_MEDIA_TYPE' })
  })

  it('names itself and the versions of Fastify that it is for', () => {
    const meta = Reflect.get(notifierPlugin(notifier), Symbol.for('plugin-meta'))
    expect(meta).toEqual({ name: 'carillon', fastify: '5.x' })
  })
})

describe('carillon/node', () => {
  it('answers 404 itself where nothing comes after it', async () => {
    const port = await serve(notifierHandler(notifier, { ...http, prefix: '/n/' }))
    expect((await notify(port, {}, '/n/v1/notify')).status).toBe(201)
    for (const path of ['/v1/notify', '/n', '/nv1/notify', '/n/v2', '/']) {
      const answer = await notify(port, {}, path)
      expect([path, answer.status, answer.text]).toEqual([path, 404, 'Not Found'])
    }
    const head = await call(port, { method: 'HEAD', path: '/' })
    expect([head.status, head.text, head.headers['content-length']]).toEqual([404, '', '9'])
  })
})

describe('carillon/fetch', () => {
  const connection = { remoteAddress: '127.0.0.1', encrypted: false }
  const request = (path: string, init: RequestInit = {}): Request =>
    new Request(`http://localhost${path}`, {
      method: 'POST',
      body: JSON.stringify(mail),
      headers: { ...headers, 'content-type': 'application/json' },
      ...init,
    })

  it('answers without any server', async () => {
    const answer = notifierFetch(notifier, { ...http, prefix: '/api/notify' })
    expect((await answer(request('/api/notify/v1/notify'), connection))?.status).toBe(201)
    const remote = { remoteAddress: '192.0.2.1', encrypted: false }
    expect((await answer(request('/api/notify/v1/notify'), remote))?.status).toBe(403)
    const secure = await answer(request('/api/notify/v1/notify'), {
      remoteAddress: undefined,
      encrypted: true,
    })
    expect(secure?.status).toBe(201)
    expect(secure?.headers.get('strict-transport-security')).toBe('max-age=31536000')
  })

  it('says that it got a Promise', () => {
    const promised = Promise.resolve(notifier) as never
    expect(() => notifierFetch(promised, http)).toThrow('got a Promise: await it first')
  })

  it('says what is missing when it is called without the connection', async () => {
    const answer = notifierFetch(notifier, http) as (request: Request, connection?: unknown) => unknown
    for (const wrong of [undefined, null, '127.0.0.1'])
      await expect(answer(request('/v1/notify'), wrong)).rejects.toMatchObject({
        code: 'invalid_configuration',
        details: { option: 'connection' },
      })
  })

  it('answers in a route handler of Next.js, which tells of the connection only in headers', async () => {
    // What Next.js passes: a Request with more on it, the headers its server writes, and a context in place of a connection.
    class NextRequest extends Request {
      readonly nextUrl = new URL(this.url)
    }
    const answer = notifierFetch(notifier, { prefix: '/n', trustedProxies: ['loopback'] })
    const next = { remoteAddress: '127.0.0.1', encrypted: false }
    const POST = async (request: NextRequest, _context: unknown): Promise<Response> =>
      (await answer(request, next)) ?? new Response('Not Found', { status: 404 })
    const context = { params: Promise.resolve({ path: ['v1', 'notify'] }) }
    const sent = (path: string, proto: string): NextRequest =>
      new NextRequest(`http://localhost:3000${path}`, {
        method: 'POST',
        headers: {
          ...headers,
          'content-type': 'application/json',
          'x-forwarded-for': '198.51.100.7',
          'x-forwarded-proto': proto,
        },
        body: JSON.stringify(mail),
      })
    expect((await POST(sent('/n/v1/notify', 'https'), context)).status).toBe(201)
    expect((await POST(sent('/n/v1/notify', 'http'), context)).status).toBe(403)
    expect((await POST(sent('/elsewhere', 'https'), context)).status).toBe(404)
    const bare = answer as (request: Request, context: unknown) => Promise<unknown>
    await expect(bare(sent('/n/v1/notify', 'https'), context)).rejects.toThrow(/Next\.js/)
    const unknown = { remoteAddress: undefined, encrypted: true }
    expect((await answer(sent('/n/v1/notify', 'https'), unknown))?.status).toBe(201)
  })

  it("leaves a request that is not the API's untouched", async () => {
    const answer = notifierFetch(notifier, { ...http, prefix: '/n' })
    for (const path of ['/v1/notify', '/n/v2', '/nv1/notify', '']) {
      const other = request(path)
      expect(await answer(other, connection)).toBeNull()
      expect(other.bodyUsed).toBe(false)
      expect(await other.json()).toEqual(mail)
    }
  })
})

describe('a body on a web stream', () => {
  /** Pieces of ten bytes; counts how many were asked for. */
  function stream(pieces: number, pulled = { count: 0 }): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          if (pulled.count === pieces) return controller.close()
          pulled.count += 1
          controller.enqueue(new Uint8Array(10))
        },
      },
      { highWaterMark: 0 },
    )
  }
  const within = (bytes: number, timeoutMs = 60_000): BodyLimits => ({ bytes, timeoutMs })
  const post = (body: ReadableStream | string, init: RequestInit = {}): Request =>
    new Request('http://localhost/', { method: 'POST', body, duplex: 'half', ...init } as RequestInit)

  it('is read to its end, within its limit', async () => {
    expect(await readWebBody(post(stream(5)), within(50))).toHaveLength(50)
    expect(await readWebBody(post(stream(0)), within(50))).toHaveLength(0)
    expect(await readWebBody(new Request('http://localhost/', { method: 'POST' }), within(50))).toHaveLength(
      0,
    )
  })

  it('is not read any further than its limit', async () => {
    const pulled = { count: 0 }
    await expect(readWebBody(post(stream(1000, pulled)), within(49))).rejects.toMatchObject({
      code: 'payload_too_large',
    })
    expect(pulled.count).toBeLessThan(10)
    const declared = post(stream(1000, pulled), { headers: { 'content-length': '50' } })
    await expect(readWebBody(declared, within(49))).rejects.toMatchObject({ code: 'payload_too_large' })
    expect(declared.bodyUsed).toBe(false)
  })

  it('ends at its deadline, however steadily it comes', async () => {
    const steady = new ReadableStream<Uint8Array>({
      async pull(controller) {
        await new Promise((resolve) => setTimeout(resolve, 5))
        controller.enqueue(new Uint8Array(1))
      },
    })
    await expect(readWebBody(post(steady), within(1_000_000, 60))).rejects.toMatchObject({
      code: 'request_timeout',
    })
  })

  it('ends with the client, and when nothing comes for too long', async () => {
    const silent = (): ReadableStream<Uint8Array> => new ReadableStream({})
    await expect(readWebBody(post(silent()), within(50), 20)).rejects.toMatchObject({
      code: 'request_timeout',
    })
    const controller = new AbortController()
    const aborted = readWebBody(post(silent(), { signal: controller.signal }), within(50))
    controller.abort()
    await expect(aborted).rejects.toMatchObject({ code: 'invalid_json' })
    await expect(readWebBody(post('x', { signal: controller.signal }), within(50))).rejects.toMatchObject({
      code: 'invalid_json',
    })
    const broken = new ReadableStream({
      start: (stream) => stream.error(new Error('reset')),
    })
    await expect(readWebBody(post(broken), within(50))).rejects.toMatchObject({ code: 'invalid_json' })
  })
})

describe('a body that the application has read and thrown away', () => {
  async function expectClearError(
    answer: Pick<Answer, 'status'> | null | undefined,
    remedy = 'Mount Carillon before',
  ): Promise<void> {
    expect(answer?.status).toBe(500)
    expect(faults).toMatchObject([
      { error: { code: 'body_already_read', message: expect.stringContaining(remedy) } },
    ])
  }

  it('in node:http', async () => {
    const handler = notifierHandler(notifier, http)
    const port = await serve((req, res) => req.resume().on('end', () => handler(req, res)))
    await expectClearError(await notify(port))
  })

  it('in Koa', async () => {
    const app = new Koa()
    app.use(async (ctx, next) => {
      for await (const _chunk of ctx.req);
      await next()
    })
    app.use(notifierMiddleware(notifier, http))
    await expectClearError(await notify(await serve(app.callback())))
  })

  it('in Fastify', async () => {
    const app = Fastify()
    app.addHook('preParsing', async (request) => {
      for await (const _chunk of request.raw);
    })
    app.register(notifierPlugin(notifier, http))
    await expectClearError(await notify(await serveFastify(app)))
  })

  it('in fetch', async () => {
    const request = new Request('http://localhost/v1/notify', {
      method: 'POST',
      body: '{}',
      headers: { ...headers, 'content-type': 'application/json' },
    })
    await request.text()
    await expectClearError(
      await notifierFetch(notifier, http)(request, { remoteAddress: '::1', encrypted: false }),
      'Pass the request before',
    )
  })
})

describe("the application's own policy for HTTPS", () => {
  const own = 'max-age=1; includeSubDomains'
  const proxied = { 'x-forwarded-for': '192.0.2.1', 'x-forwarded-proto': 'https' }

  it.each(EXPRESS)('counts in %s', async (_name, framework) => {
    const app = framework()
    app.use((_req, res, next) => {
      res.setHeader('Strict-Transport-Security', own)
      next()
    })
    app.use(notifierRouter(notifier, http))
    const answer = await notify(await serve(app), proxied)
    expect(answer.headers['strict-transport-security']).toBe(own)
  })

  it('counts in Koa', async () => {
    const app = new Koa()
    app.use(async (ctx, next) => {
      ctx.set('Strict-Transport-Security', own)
      await next()
    })
    app.use(notifierMiddleware(notifier, http))
    const answer = await notify(await serve(app.callback()), proxied)
    expect(answer.headers['strict-transport-security']).toBe(own)
  })

  it('counts in Fastify', async () => {
    const app = Fastify()
    app.addHook('onRequest', async (_request, reply) => {
      reply.header('Strict-Transport-Security', own)
    })
    app.register(notifierPlugin(notifier, http))
    const port = await serveFastify(app)
    expect((await notify(port, proxied)).headers['strict-transport-security']).toBe(own)
    const refused = await call(port, {
      method: 'POST',
      path: '/v1/notify',
      headers: { ...headers, ...proxied, 'transfer-encoding': 'chunked' },
      body: 'x'.repeat(3_000_000),
    })
    expect([refused.status, refused.headers['strict-transport-security']]).toEqual([413, own])
  })
})

describe('options', () => {
  const make = {
    'carillon/node': (options: object) => notifierHandler(notifier, options),
    'carillon/koa': (options: object) => notifierMiddleware(notifier, options),
    'carillon/fetch': (options: object) => notifierFetch(notifier, options),
  }
  it.each(Object.entries(make))('of %s are checked at once', (_name, create) => {
    for (const prefix of ['n', '/a?b', '//', '/a//b', '/a b', 5, null]) {
      expect(() => create({ prefix }), String(prefix)).toThrow(
        expect.objectContaining({ code: 'invalid_configuration', details: { option: 'prefix' } }),
      )
    }
    for (const options of [null, 5, '/n']) {
      expect(() => create(options as never), String(options)).toThrow(
        expect.objectContaining({
          code: 'invalid_configuration',
          details: expect.objectContaining({ option: 'options' }),
        }),
      )
    }
    expect(() => create({ perfix: '/n' })).toThrow(expect.objectContaining({ code: 'invalid_configuration' }))
    for (const prefix of ['', '/', '/n', '/n/', undefined]) expect(() => create({ prefix })).not.toThrow()
  })

  it('of carillon/fastify are checked at once; the prefix is for register()', () => {
    expect(() => notifierPlugin(notifier, { prefix: '/n' } as never)).toThrow(
      expect.objectContaining({ code: 'invalid_configuration' }),
    )
  })
})
