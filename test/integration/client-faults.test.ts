import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { inspect } from 'node:util'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { notifierHandler } from '../../adapters/http/node.ts'
import { CarillonError, type ClientOptions, createClient } from '../../src/client/index.ts'
import { createNotifier } from '../../src/index.ts'

const KEY = 'crl_this-is-the-secret'
const mail = { channel: 'email', to: 'ada@example.com', body: 'Hi' } as const
const SENT = { id: 'notif_1', status: 'queued', channel: 'email', to: mail.to, createdAt: '' }

type Reply = (response: ServerResponse, request: IncomingMessage) => void

/** Replies to the requests in their order; the last one to all that follow. */
let replies: readonly Reply[] = []
let requests: { method: string; url: string; key: string | undefined; body: string; at: number }[] = []

const server = createServer(async (request, response) => {
  let body = ''
  for await (const chunk of request) body += chunk
  const { method = '', url = '', headers } = request
  requests.push({ method, url, key: headers['idempotency-key'] as string, body, at: performance.now() })
  replies[Math.min(requests.length, replies.length) - 1]?.(response, request)
})
let url = ''

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})
beforeEach(() => {
  requests = []
})

const client = (options: Partial<ClientOptions> = {}) => createClient({ url, apiKey: KEY, ...options })

const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Reply =>
  (response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
const refused = (status: number, code: string, headers?: Record<string, string>): Reply =>
  json(
    status,
    { error: { code, message: `It is ${code}.`, request_id: 'req_1', details: { field: 'to' } } },
    headers,
  )
const sent = json(201, SENT)
const ok = json(200, { items: [], limit: 50, offset: 0, hasMore: false, nextCursor: null })
const cut: Reply = (response) => response.destroy()
const half: Reply = (response) => {
  response.writeHead(200, { 'content-length': '100' }).write('{"items":')
  setTimeout(() => response.destroy(), 5)
}
/** Never ends, and never pauses for long. */
const drip: Reply = (response) => {
  const timer = setInterval(() => response.write(' '), 5)
  response.on('close', () => clearInterval(timer))
}

async function failure(promise: Promise<unknown>): Promise<CarillonError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (!(error instanceof CarillonError)) throw new Error(`no CarillonError: ${inspect(error)}`)
  return error
}

describe('a request is repeated', () => {
  it.each([
    ['500', refused(500, 'internal_server_error')],
    ['503 of a proxy', json(503, 'busy')],
    ['408', refused(408, 'request_timeout')],
    ['a closed connection', cut],
    ['half an answer', half],
  ])('after %s, and a send has the same key each time', async (_, fault) => {
    replies = [fault, fault, sent]
    expect(await client().send(mail)).toEqual({ ...SENT, replayed: false })
    expect(requests.map(({ body }) => JSON.parse(body))).toEqual([mail, mail, mail])
    expect(new Set(requests.map(({ key }) => key)).size).toBe(1)
    expect(requests[0]?.key).toMatch(/^[0-9a-f]{32}$/)

    replies = [fault, ok]
    requests = []
    await client().templates.list()
    expect(requests).toHaveLength(2)
  })

  it('after an answer that says that the first one is still running', async () => {
    replies = [cut, refused(409, 'idempotency_in_progress', { 'retry-after': '0' }), sent]
    await client().send(mail)
    expect(requests).toHaveLength(3)
  })

  it('not more often than it may be', async () => {
    replies = [refused(503, 'service_unavailable')]
    expect(await failure(client().send(mail))).toMatchObject({ code: 'service_unavailable', status: 503 })
    expect(requests).toHaveLength(3)
    requests = []
    await failure(client({ retries: 0 }).send(mail))
    expect(requests).toHaveLength(1)
  })

  it.each([
    [
      'a template that is created',
      () => client().templates.create({ name: 'a', channel: 'sms', body: 'Hi' }),
    ],
    ['a template that is changed', () => client().templates.update('a', { body: 'Hi' })],
    ['a bulk retry', () => client().deadLetters.retry({ filter: {} })],
  ])('never if that could do it twice: %s', async (_, call) => {
    for (const fault of [cut, refused(500, 'internal_server_error'), half]) {
      replies = [fault, ok]
      requests = []
      await failure(call())
      expect(requests).toHaveLength(1)
    }
    replies = [refused(429, 'rate_limit_exceeded', { 'retry-after': '0' }), ok]
    requests = []
    await call()
    expect(requests).toHaveLength(2)
  })

  it.each([400, 401, 403, 404, 409, 413, 422])('never after %s', async (status) => {
    replies = [refused(status, 'some_code'), sent]
    expect(await failure(client().send(mail))).toMatchObject({
      code: 'some_code',
      status,
      message: 'It is some_code.',
    })
    expect(requests).toHaveLength(1)
  })

  it('when Retry-After says so, in seconds or as a date', async () => {
    const inTwoSeconds = new Date(Date.now() + 2_000).toUTCString()
    for (const after of ['1', inTwoSeconds]) {
      replies = [refused(429, 'rate_limit_exceeded', { 'retry-after': after }), sent]
      requests = []
      const least = after === '1' ? 1_000 : Date.parse(after) - Date.now()
      const begun = performance.now()
      await client().send(mail)
      expect((requests[1]?.at ?? 0) - begun).toBeGreaterThanOrEqual(least - 50)
    }
  })

  it('not if it would have to wait longer than the call may take', async () => {
    const tomorrow = new Date(Date.now() + 86_400_000).toUTCString()
    for (const after of ['86400', tomorrow]) {
      replies = [refused(429, 'notification_quota_exceeded', { 'retry-after': after })]
      requests = []
      const error = await failure(client().send(mail))
      expect(error).toMatchObject({
        code: 'notification_quota_exceeded',
        requestId: undefined,
        details: { field: 'to' },
      })
      expect(error.retryAfterMs).toBeGreaterThan(86_000_000)
      expect(requests).toHaveLength(1)
    }
  })
})

describe('a call ends', () => {
  it.each([
    ['does not answer', () => {}],
    ['drips', drip],
    ['pauses', (response: ServerResponse) => void response.writeHead(200).write('{')],
  ] as [string, Reply][])('in time if the server %s', async (_, reply) => {
    replies = [reply]
    const error = await failure(client({ timeoutMs: 100 }).templates.list())
    expect(error).toMatchObject({ code: 'timeout', status: undefined })
    expect(error.message).toBe(`GET ${url}/v1/templates took more than 100 ms.`)
    await failure(client().templates.list({}, { timeoutMs: 50 }))
  })

  it('in time between repetitions, with the last error as its cause', async () => {
    replies = [refused(503, 'service_unavailable'), () => {}]
    const error = await failure(client({ timeoutMs: 1_000 }).send(mail))
    expect([error.code, (error.cause as CarillonError).code]).toEqual(['timeout', 'service_unavailable'])
  })

  it.each([
    ['before it begins', 0, ok],
    ['while the server thinks', 30, () => {}],
    ['while the answer arrives', 30, drip],
    ['while it waits for a repetition', 30, refused(429, 'rate_limit_exceeded', { 'retry-after': '20' })],
  ] as [string, number, Reply][])(
    'when its signal aborts %s, with the reason',
    async (when, afterMs, reply) => {
      replies = [reply]
      const idempotencyKey = when.replaceAll(' ', '-')
      const controller = new AbortController()
      const reason = new Error('enough')
      if (afterMs === 0) controller.abort(reason)
      else setTimeout(() => controller.abort(reason), afterMs)
      const sending = client().send(mail, { signal: controller.signal, idempotencyKey })
      await expect(sending).rejects.toBe(reason)
      // The server may get an aborted request of the case before only now.
      expect(requests.filter(({ key }) => key === idempotencyKey).length).toBeLessThan(2)
    },
  )

  it('and leaves nothing on a signal that outlives it', async () => {
    replies = [sent]
    const { signal } = new AbortController()
    const added: unknown[] = []
    const removed: unknown[] = []
    signal.addEventListener = (...[, listener]: unknown[]) => void added.push(listener)
    signal.removeEventListener = (...[, listener]: unknown[]) => void removed.push(listener)
    await client().send(mail, { signal })
    expect(added).toHaveLength(1)
    expect(removed).toEqual(added)
  })
})

describe('an export', () => {
  const line = (name: string): string => `${JSON.stringify({ type: 'record', name })}\n`
  /** Some bytes at a time: lines and letters come in pieces. */
  const lines =
    (text: string, then: (response: ServerResponse) => void): Reply =>
    (response) => {
      response.writeHead(200, { 'content-type': 'application/x-ndjson' })
      const bytes = Buffer.from(text)
      let at = 0
      const more = (): void => {
        if (at < bytes.length) {
          response.write(bytes.subarray(at, at + 7))
          at += 7
          setTimeout(more, 1)
        } else then(response)
      }
      more()
    }

  async function read(options: Partial<ClientOptions> = {}, signal?: AbortSignal): Promise<unknown[]> {
    const names: unknown[] = []
    for await (const { name } of await client(options).people.export({ recipient: 'ada' }, { signal }))
      names.push(name)
    return names
  }

  it('is read line by line, in whatever pieces they come', async () => {
    replies = [lines(line('é–😀'.repeat(20)) + line('b'), (response) => response.end())]
    expect(await read()).toEqual(['é–😀'.repeat(20), 'b'])
  })

  it.each([
    ['that breaks off', line('a'), (response: ServerResponse) => response.destroy(), 'unreachable'],
    [
      'that ends within a line',
      `${line('a')}{"ty`,
      (response: ServerResponse) => response.end(),
      'unreachable',
    ],
    ['that pauses', line('a'), () => {}, 'timeout'],
  ] as const)('%s is an error, and is not repeated', async (_, text, then, code) => {
    replies = [lines(text, then)]
    expect((await failure(read({ timeoutMs: 1_000 }))).code).toBe(code)
    expect(requests).toHaveLength(1)
  })

  it('lets its reader take its time, and ends with a signal', async () => {
    replies = [lines(line('a') + line('b'), () => {})]
    const controller = new AbortController()
    const all = await client({ timeoutMs: 300 }).people.export(
      { recipient: 'ada' },
      { signal: controller.signal },
    )
    const reason = new Error('enough')
    const seen: unknown[] = []
    const reading = (async () => {
      for await (const { name } of all) {
        seen.push(name)
        await new Promise((resolve) => setTimeout(resolve, 400))
        if (name === 'b') controller.abort(reason)
      }
    })()
    await expect(reading).rejects.toBe(reason)
    expect(seen).toEqual(['a', 'b'])
  })

  it('that is refused is an error of the call', async () => {
    replies = [refused(403, 'insufficient_permissions')]
    expect((await failure(read())).code).toBe('insufficient_permissions')
  })
})

describe('an error is clear', () => {
  it('in both formats of the service', async () => {
    replies = [
      json(
        422,
        { error: 'The address is wrong.', code: 'INVALID_EMAIL', statusCode: 422 },
        { 'x-request-id': 'req_7' },
      ),
    ]
    expect(await failure(client().send(mail))).toMatchObject({
      name: 'CarillonError',
      code: 'invalid_email',
      message: 'The address is wrong.',
      status: 422,
      requestId: 'req_7',
    })
  })

  it.each([
    ['a page', 200, '<!doctype html>', {}],
    ['nothing', 200, '', {}],
    ['JSON that is no object', 200, '"ok"', {}],
    ['JSON of another service', 404, '{"message":"no"}', {}],
    ['a redirect', 301, '', { location: 'https://elsewhere.example/' }],
  ])('if the answer is %s', async (_, status, text, headers) => {
    replies = [(response) => response.writeHead(status, headers as Record<string, string>).end(text)]
    const error = await failure(client({ url: `${url}/app/` }).templates.get('a b'))
    expect(error).toMatchObject({ code: 'unexpected_answer', status })
    expect(error.message).toContain(`GET ${url}/app/v1/templates/a%20b answered ${status}`)
    expect(error.message).toContain(`it is ${url}/app.`)
    expect(requests).toHaveLength(1)
    if (status === 301) expect(error.message).toContain('https://elsewhere.example/')
  })

  it('if nothing listens, and for a name that does not exist', async () => {
    const closed = createServer()
    await new Promise<void>((resolve) => closed.listen(0, resolve))
    const { port } = closed.address() as AddressInfo
    await new Promise((resolve) => closed.close(resolve))
    for (const [unreachable, why] of [
      [`http://127.0.0.1:${port}`, 'ECONNREFUSED'],
      [`http://localhost:${port}`, 'ECONNREFUSED'],
      ['http://nothing.invalid', 'nothing.invalid'],
    ] as const) {
      const error = await failure(client({ url: unreachable, retries: 0 }).health())
      expect(error).toMatchObject({ code: 'unreachable', status: undefined })
      expect(error.message).toContain(why)
    }
  })

  it.each(['', 'example.com', 'ftp://example.com', '/notifications'])('for the url "%s"', (wrong) => {
    expect(() => client({ url: wrong })).toThrow(
      'The option "url" of createClient must be where the REST API is mounted',
    )
  })

  it('for an address with a password, or a key that no header can have', () => {
    expect(() => client({ url: 'https://u:p@example.com' })).toThrow(
      'must have no user, password, query or fragment',
    )
    for (const apiKey of ['', `${KEY}\n`, 'schlüssel', undefined as unknown as string])
      expect(() => client({ apiKey })).toThrow('The option "apiKey" of createClient must be the key')
  })

  it.each(['', '.', '..', undefined as unknown as string])(
    'for the id "%s", which would be another path',
    async (id) => {
      expect(await failure(client().templates.delete(id))).toMatchObject({ code: 'invalid_parameter' })
      expect(requests).toHaveLength(0)
    },
  )

  it('and a list that fails, fails in a loop too', async () => {
    replies = [
      json(200, { items: [1], limit: 1, offset: 0, hasMore: true, nextCursor: 'next' }),
      refused(403, 'no'),
    ]
    const seen: unknown[] = []
    const all = (async () => {
      for await (const item of client().logs.list({ limit: 1, offset: 7 })) seen.push(item)
    })()
    expect((await failure(all)).code).toBe('no')
    expect(seen).toEqual([1])
    expect(requests.map((each) => each.url)).toEqual([
      '/v1/logs?limit=1&offset=7',
      '/v1/logs?limit=1&cursor=next',
    ])
  })

  it('and never shows the key, nor who was asked for', async () => {
    const errors: unknown[] = []
    for (const reply of [cut, half, refused(401, 'invalid_api_key'), json(500, 'x'), drip]) {
      replies = [reply]
      errors.push(
        await failure(client({ timeoutMs: 50 }).suppressions.remove({ channel: 'email', to: mail.to })),
      )
    }
    for (const options of [{ apiKey: `${KEY} ` }, { url: 'x' }]) {
      try {
        client(options)
      } catch (error) {
        errors.push(error)
      }
    }
    const shown = errors.map(
      (error) => `${error} ${inspect(error, { depth: 9, showHidden: true })} ${JSON.stringify(error)}`,
    )
    expect(shown).toHaveLength(7)
    expect(shown.filter((text) => text.includes(KEY) || text.includes(mail.to))).toEqual([])
    expect(inspect(client(), { depth: 9, showHidden: true })).not.toContain(KEY)
  })
})

it('a wrong key is refused by the service', async () => {
  const notifier = createNotifier({ channels: {} })
  await notifier.start()
  const service = createServer(notifierHandler(notifier, { https: 'allow-loopback' }))
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve))
  try {
    const { port } = service.address() as AddressInfo
    const error = await failure(client({ url: `http://127.0.0.1:${port}` }).limits.get())
    expect(error).toMatchObject({ code: 'invalid_api_key', status: 401 })
    expect(error.requestId).toMatch(/^req_/)
  } finally {
    service.closeAllConnections()
    service.close()
    await notifier.stop()
  }
})
