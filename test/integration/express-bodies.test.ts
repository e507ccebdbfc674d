import { createServer, request as httpRequest, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readNodeBody } from '../../adapters/http/node-body.ts'
import type { Logger } from '../../src/index.ts'
import { EXPRESS, type Host, startHost } from '../support/express-host.ts'
import { faultLogger } from '../support/fault-logger.ts'
import { type Answer, call, codeOf, exchange } from '../support/http-client.ts'

const mail = { channel: 'email', to: 'ada@example.com', subject: 'Hello', body: 'Hi' }
const text = JSON.stringify(mail)

async function count(host: Host): Promise<number> {
  return (await host.notifier.notifications.list({ limit: 100 })).items.length
}

describe.each(
  EXPRESS.flatMap(([name, express]) =>
    (['none', 'before'] as const).flatMap((parser) =>
      (['nested', 'flat'] as const).map((errorFormat) => ({ name, express, parser, errorFormat })),
    ),
  ),
)('bad input: $name, express.json() $parser, $errorFormat errors', ({ express, parser, errorFormat }) => {
  let host: Host
  let auth: { authorization: string }
  beforeAll(async () => {
    host = await startHost({ express, parser, http: { errorFormat } })
    auth = await host.key()
    await host.notifier.templates.create({
      name: 'welcome',
      channel: 'email',
      subject: 'x',
      body: '{{name}}',
    })
  })
  afterAll(() => host.close())

  const rows: [title: string, body: unknown, status: number, code: string, field?: string][] = [
    ['no recipient', { ...mail, to: undefined }, 422, 'missing_required_field', 'to'],
    ['no body', { ...mail, body: undefined }, 422, 'missing_required_field', 'body'],
    ['no channel', { ...mail, channel: undefined }, 422, 'missing_required_field', 'channel'],
    ['nothing', {}, 422, 'missing_required_field', 'to'],
    ['an unknown channel', { ...mail, channel: 'fax' }, 422, 'invalid_channel', 'channel'],
    [
      'a channel that is not configured',
      { ...mail, channel: 'sms', to: '+14155550123' },
      422,
      'invalid_channel',
    ],
    ['a number for text', { ...mail, body: 5 }, 400, 'invalid_parameter', 'body'],
    ['a list for an object', { ...mail, variables: [] }, 400, 'invalid_parameter', 'variables'],
    ['null', { ...mail, to: null }, 400, 'invalid_parameter', 'to'],
    ['a bad address', { ...mail, to: 'ada@' }, 422, 'invalid_email', 'to'],
    ['an address with a header', { ...mail, to: 'a@b.co\r\nBcc: c@d.co' }, 422, 'invalid_email', 'to'],
    ['an unknown template', { to: mail.to, template: 'nope' }, 422, 'template_not_found', 'template'],
    ['a missing variable', { to: mail.to, template: 'welcome' }, 422, 'invalid_template_variable', 'name'],
    [
      'an inherited variable',
      { to: mail.to, template: 'welcome', variables: { __proto__: { name: 1 } } },
      422,
      'invalid_template_variable',
    ],
    ['a lone surrogate', { ...mail, body: '\ud800' }, 400, 'invalid_parameter', 'body'],
    ['a list', [mail], 400, 'invalid_parameter', 'body'],
  ]

  it.each(rows)('%s', async (_title, body, status, code, field) => {
    const before = await count(host)
    const answer = await call(host.port, { method: 'POST', path: '/v1/notify', headers: auth, body })
    const shown = errorFormat === 'flat' ? code.toUpperCase() : code
    expect([answer.status, codeOf(answer)], answer.text).toEqual([status, shown])
    if (field !== undefined && errorFormat === 'nested') expect(answer.text).toContain(field)
    if (errorFormat === 'flat') {
      expect(answer.json).toEqual({ error: expect.any(String), code: shown, statusCode: status })
    } else {
      expect(answer.json).toMatchObject({ error: { request_id: answer.headers['x-request-id'] } })
    }
    expect(await count(host)).toBe(before)
  })

  // A parser of the host refuses these itself, before anything of ours is asked.
  const noJson: readonly (readonly [title: string, body: string | Buffer])[] = [
    ['half a value', '{"channel":'],
    ['text', 'hello'],
    ['nothing at all', ''],
    ['invalid UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
    ['a deep list that ends too early', '['.repeat(10_000)],
  ]
  it.each(parser === 'none' ? noJson : [])('is no JSON: %s', async (_title, body) => {
    const headers = { ...auth, 'content-type': 'application/json' }
    const answer = await call(host.port, { method: 'POST', path: '/v1/notify', headers, body })
    expect([answer.status, String(codeOf(answer)).toLowerCase()]).toEqual([400, 'invalid_json'])
  })

  it('another media type', async () => {
    const headers = { ...auth, 'content-type': 'application/x-www-form-urlencoded' }
    const answer = await call(host.port, { method: 'POST', path: '/v1/notify', headers, body: 'to=x' })
    expect([answer.status, String(codeOf(answer)).toLowerCase()]).toEqual([415, 'unsupported_media_type'])
  })

  it('no media type is taken for JSON', async () => {
    const answer = await call(host.port, { method: 'POST', path: '/v1/notify', headers: auth, body: text })
    expect(answer.status, answer.text).toBe(201)
  })

  it.each([
    ['?limit=0', 'limit'],
    ['?limit=101', 'limit'],
    ['?limit=1e1', 'limit'],
    ['?limit=', 'limit'],
    ['?offset=-1', 'offset'],
    ['?offset=2001', 'use \\"cursor\\"'],
    ['?status=lost', 'status'],
    ['?from=yesterday', 'from'],
    ['?to=%00', 'to'],
    ['?limit=1&limit=2', 'limit'],
    ['?cursor=no%20cursor', 'cursor'],
  ])('the query %s', async (query, field) => {
    const answer = await call(host.port, { path: `/v1/notifications${query}`, headers: auth })
    expect([answer.status, String(codeOf(answer)).toLowerCase()], answer.text).toEqual([
      400,
      'invalid_parameter',
    ])
    expect(answer.text).toContain(field)
  })
})

describe('large and slow bodies', () => {
  let host: Host
  let auth: { authorization: string }
  beforeAll(async () => {
    host = await startHost({ http: { maxBodyBytes: 50_000, maxBatchBytes: 200_000 } })
    auth = await host.key()
  })
  afterAll(() => host.close())

  const head = (more: string): string =>
    `POST /v1/notify HTTP/1.1\r\nHost: x\r\nAuthorization: ${auth.authorization}\r\nContent-Type: application/json\r\n${more}\r\n\r\n`

  it('a declared size above the limit is refused before it is sent', async () => {
    const answer = await exchange(host.port, head('Content-Length: 5000000'))
    expect(answer).toMatch(/^HTTP\/1\.1 413 /)
    expect(answer).toContain('Connection: close')
    expect(answer).toContain('"payload_too_large"')
    expect(await count(host)).toBe(0)
  })

  it('a body that grows above the limit is refused while it is read, and the connection ends', async () => {
    const { answer, sent } = await pour(host.port, head('Transfer-Encoding: chunked'), 500_000_000)
    expect(answer).toMatch(/^HTTP\/1\.1 413 /)
    expect(sent).toBeLessThan(500_000_000)
    expect(await count(host)).toBe(0)
  })

  it('a body that grows above the limit is read on, so that who sends all of it first gets the answer', async () => {
    const socket = connect(host.port, '127.0.0.1').pause()
    const piece = `${(100_000).toString(16)}\r\n${'x'.repeat(100_000)}\r\n`
    const body = `${piece.repeat(80)}0\r\n\r\n`
    const failed = await new Promise<unknown>((resolve) => {
      socket.on('error', resolve)
      socket.write(`${head('Transfer-Encoding: chunked')}${body}`, resolve)
    })
    expect(failed).toBeFalsy()
    expect(await firstData(socket.resume())).toMatch(/^HTTP\/1\.1 413 /)
    socket.destroy()
  })

  it('a request without a key cannot pour either', async () => {
    const start = 'POST /v1/notify HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n'
    const { answer, sent } = await pour(host.port, start, 500_000_000)
    expect(answer).toMatch(/^HTTP\/1\.1 401 /)
    expect(sent).toBeLessThan(500_000_000)
  })

  it('keeps the connection after a refusal of a small request', async () => {
    const one = 'POST /v1/notify HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n'
    const answer = await exchange(host.port, `${one}\r\n{}${one}Connection: close\r\n\r\n{}`)
    expect(answer.match(/HTTP\/1\.1 401 /g)).toHaveLength(2)
  })

  it('a batch has a limit of its own', async () => {
    const items = Array.from({ length: 1000 }, () => mail)
    const small = JSON.stringify({ notifications: items })
    expect(small.length).toBeGreaterThan(50_000)
    const batch = (body: string): Promise<Answer> =>
      call(host.port, { method: 'POST', path: '/v1/notifications/batch', headers: auth, body })
    expect((await batch(small)).status).toBe(201)
    const answer = await batch(JSON.stringify({ notifications: [...items, ...items, ...items] }))
    expect([answer.status, codeOf(answer)]).toEqual([413, 'payload_too_large'])
  })

  it('a body in many small pieces is the same', async () => {
    const socket = connect(host.port, '127.0.0.1')
    const answered = firstData(socket)
    socket.write(head(`Content-Length: ${text.length}`))
    for (const character of text) {
      socket.write(character)
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(await answered).toMatch(/^HTTP\/1\.1 201 /)
    socket.destroy()
  })

  it.each([
    ['before the body', ''],
    ['in the middle of it', text.slice(0, 20)],
  ])('a client that leaves %s leaves nothing behind', async (_title, part) => {
    const before = await count(host)
    const socket = connect(host.port, '127.0.0.1')
    socket.write(head(`Content-Length: ${text.length}`) + part)
    await new Promise((resolve) => setTimeout(resolve, 50))
    socket.destroy()
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(await count(host)).toBe(before)
    expect(host.errors).toEqual([])
    const after = await call(host.port, { path: '/v1/templates', headers: auth })
    expect(after.status).toBe(200)
  })

  it('a batch that is not a list is one error', async () => {
    for (const [body, code] of [
      [{ notifications: {} }, 'invalid_parameter'],
      [{}, 'missing_required_field'],
      [{ notifications: [] }, 'invalid_parameter'],
      [{ notifications: Array(10_001).fill(0) }, 'invalid_parameter'],
    ] as const) {
      const answer = await call(host.port, {
        method: 'POST',
        path: '/v1/notifications/batch',
        headers: auth,
        body,
      })
      expect([answer.status, codeOf(answer)]).toEqual([422, code])
    }
    const headers = { ...auth, 'x-test-mode': 'true' }
    const tested = await call(host.port, {
      method: 'POST',
      path: '/v1/notifications/batch',
      headers,
      body: { notifications: [mail] },
    })
    expect([tested.status, codeOf(tested)]).toEqual([400, 'invalid_parameter'])
  })
})

describe('a body that the host has read', () => {
  it.each([
    ['text', (body: string) => body],
    ['bytes', (body: string) => Buffer.from(body)],
    ['an object', (body: string) => JSON.parse(body)],
  ])('counts as %s', async (_title, keep) => {
    const host = await hostThatReads(keep)
    try {
      const headers = await host.key()
      const answer = await call(host.port, { method: 'POST', path: '/v1/notify', headers, body: mail })
      expect(answer.status, answer.text).toBe(201)
    } finally {
      await host.close()
    }
  })

  it('and thrown away is a mistake of the configuration, which the answer and the log name', async () => {
    const messages: unknown[] = []
    const host = await hostThatReads(() => undefined, faultLogger(messages))
    try {
      const headers = await host.key()
      const answer = await call(host.port, { method: 'POST', path: '/v1/notify', headers, body: mail })
      expect([answer.status, codeOf(answer)]).toEqual([500, 'body_already_read'])
      expect(messages).toMatchObject([{ error: { code: 'body_already_read' } }])
    } finally {
      await host.close()
    }
  })

  it('with an encoding set on the stream is text, and harmless', async () => {
    const host = await startHost({
      before: (app) => {
        app.use((req, _res, next) => {
          req.setEncoding('utf8')
          next()
        })
      },
    })
    try {
      const headers = await host.key()
      const body = { ...mail, body: 'ä'.repeat(100_000) }
      const answer = await call(host.port, { method: 'POST', path: '/v1/notify', headers, body })
      expect([answer.status, codeOf(answer)]).not.toEqual([500, expect.anything()])
    } finally {
      await host.close()
    }
  })
})

describe('a body that never becomes complete', () => {
  it.each([
    ['pauses too long', () => {}, { code: 'request_timeout', status: 408 }],
    ['is destroyed by the host', (req: IncomingMessage) => req.destroy(), { code: 'invalid_json' }],
  ])('because it %s is an error', async (_title, disturb, expected) => {
    let outcome: unknown
    const server = createServer((req, res) => {
      readNodeBody(req, { bytes: 1000, timeoutMs: 60_000 }, 50).catch((error) => {
        outcome = error
        res.destroy()
      })
      disturb(req)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    await exchange(port, 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{')
    await expect.poll(() => outcome).toMatchObject(expected)
    server.close()
  })
})

it('an answer to a client that has left while it was made is dropped', async () => {
  const host = await startHost()
  try {
    const headers = await host.key()
    await new Promise<void>((resolve) => {
      const request = httpRequest({ port: host.port, path: '/v1/templates', headers, agent: false })
      request.on('error', () => resolve())
      request.on('finish', () => setImmediate(() => request.destroy()))
      request.on('close', () => resolve())
      request.end()
    })
    expect((await call(host.port, { path: '/v1/templates', headers })).status).toBe(200)
  } finally {
    await host.close()
  }
})

function hostThatReads(keep: (body: string) => unknown, logger?: Logger): Promise<Host> {
  return startHost({
    ...(logger === undefined ? {} : { logger }),
    before: (app) => {
      app.use(async (req, _res, next) => {
        let body = ''
        for await (const chunk of req) body += chunk
        req.body = keep(body)
        next()
      })
    },
  })
}

function firstData(socket: Socket): Promise<string> {
  return new Promise((resolve) => socket.once('data', (chunk) => resolve(chunk.toString())))
}

/** Sends chunks until the server ends the connection, or `most` bytes are out. */
function pour(port: number, start: string, most: number): Promise<{ answer: string; sent: number }> {
  const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`
  return new Promise((resolve) => {
    let answer = ''
    let sent = 0
    const socket = connect(port, '127.0.0.1')
    const more = (): void => {
      while (!socket.destroyed && sent < most) {
        sent += chunk.length
        if (!socket.write(chunk)) return
      }
    }
    socket.write(start)
    socket.on('data', (data) => {
      answer += data.toString()
    })
    socket.on('drain', more)
    socket.on('error', () => {})
    socket.on('close', () => resolve({ answer, sent }))
    more()
  })
}
