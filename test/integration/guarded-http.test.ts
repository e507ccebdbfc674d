import type { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { addressGuard } from '../../src/outgoing/address-guard.ts'
import { createConnections } from '../../src/outgoing/connections.ts'
import { createDial } from '../../src/outgoing/dial.ts'
import { exchange } from '../../src/outgoing/exchange.ts'
import { type GuardedHttpOptions, guardedHttp } from '../../src/outgoing/guarded-http.ts'
import { BlockedAddressError } from '../../src/outgoing/guarded-lookup.ts'
import type { OutgoingHttp, PostRequest } from '../../src/ports/outgoing.ts'
import {
  certificate,
  closedPort,
  forgetfulReceiver,
  httpReceiver,
  httpsReceiver,
  type Receiver,
  tcpReceiver,
} from './support/receivers.ts'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
})

function outgoing(options: GuardedHttpOptions = {}): OutgoingHttp {
  const http = guardedHttp({ allow: ['127.0.0.0/8'], allowHttp: true, ...options })
  open.push(http)
  return http
}

async function keep<Kept extends Receiver>(starting: Promise<Kept>): Promise<Kept> {
  const receiver = await starting
  open.push(receiver)
  return receiver
}

const request = (url: string, more: Partial<PostRequest> = {}): PostRequest => ({
  url,
  headers: { 'content-type': 'application/json' },
  body: '{"secret":"in the body"}',
  // Longer than a test may take: only what a test shortens can end by its deadline.
  timeoutMs: 600_000,
  ...more,
})

/** For servers that never answer: short enough to wait for, long enough for a slow machine to connect. */
const SOON = 800

/** Resolves names as told, one answer after the other, the last one for ever. */
function resolver(...answers: string[][]) {
  const asked: string[] = []
  return {
    asked,
    lookup: (host: string) => {
      const answer = answers[Math.min(asked.length, answers.length - 1)] ?? []
      asked.push(host)
      return Promise.resolve(answer.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })))
    },
  }
}

describe('an exchange', () => {
  it('sends the body as UTF-8 with its length, and gives status, headers and body back', async () => {
    const receiver = await keep(
      httpReceiver((response) => {
        response.writeHead(
          201,
          [
            ['X-Twice', 'first'],
            ['X-Twice', 'second'],
          ].flat(),
        )
        response.end('créé')
      }),
    )
    const body = '{"text":"å🎉"}'
    const result = await outgoing().post(
      request(`http://127.0.0.1:${receiver.port}/hook?token=1`, { body, headers: { 'x-own': 'value' } }),
    )
    expect(result).toMatchObject({
      kind: 'answered',
      status: 201,
      body: 'créé',
      headers: { 'x-twice': 'first' },
    })
    const [received] = receiver.requests
    expect(received).toMatchObject({
      method: 'POST',
      path: '/hook?token=1',
      headers: {
        'x-own': 'value',
        'content-length': String(Buffer.byteLength(body)),
        'user-agent': 'Carillon',
      },
    })
    expect(received?.body.toString()).toBe(body)
  })

  it('lets no caller change framing or host', async () => {
    const receiver = await keep(httpReceiver((response) => response.end()))
    const headers = {
      Host: 'other.example.com',
      'Content-Length': '3',
      'transfer-encoding': 'chunked',
      Connection: 'close',
      Expect: '100-continue',
      Upgrade: 'h2c',
    }
    const http = outgoing()
    await http.post(request(`http://127.0.0.1:${receiver.port}/`, { headers }))
    expect(receiver.requests[0]?.headers).toMatchObject({
      host: `127.0.0.1:${receiver.port}`,
      'content-length': '24',
      connection: 'keep-alive',
    })
    expect(receiver.requests[0]?.headers).not.toHaveProperty('transfer-encoding')
    expect(receiver.requests[0]?.headers).not.toHaveProperty('expect')
  })

  it.each([
    ['value', { 'x-evil': 'a\r\nx-injected: 1' }],
    ['name', { 'x evil\r\nx-injected': '1' }],
  ])('sends nothing with a header %s that would be two', async (_, headers) => {
    const receiver = await keep(httpReceiver((response) => response.end()))
    const result = await outgoing().post(request(`http://127.0.0.1:${receiver.port}/`, { headers }))
    expect(result).toMatchObject({ kind: 'failed', reason: 'unreachable', requestSent: false })
    expect(JSON.stringify(result)).not.toContain('evil')
    expect(receiver.connections).toBe(0)
  })

  it('reads bytes that are no text leniently, and an empty answer', async () => {
    const bytes = await keep(httpReceiver((response) => response.end(Buffer.from([0xff, 0x41]))))
    const empty = await keep(httpReceiver((response) => response.writeHead(204).end()))
    const http = outgoing()
    expect(await http.post(request(`http://127.0.0.1:${bytes.port}/`))).toMatchObject({ body: '\ufffdA' })
    expect(await http.post(request(`http://127.0.0.1:${empty.port}/`))).toMatchObject({
      status: 204,
      body: '',
    })
  })

  it('uses one connection for exchanges that follow each other, pinned to the address that was judged', async () => {
    const receiver = await keep(httpReceiver((response) => response.end('ok')))
    const names = resolver(['127.0.0.1'], ['10.0.0.1'])
    const http = outgoing({ lookup: names.lookup })
    for (const turn of [1, 2, 3]) {
      const result = await http.post(request(`http://hooks.example.test:${receiver.port}/`))
      expect(result, `turn ${turn}`).toMatchObject({ kind: 'answered', status: 200 })
    }
    expect(receiver.connections).toBe(1)
    expect(names.asked).toEqual(['hooks.example.test'])
  })

  it('opens no more connections than it may', async () => {
    const receiver = await keep(httpReceiver((response) => setTimeout(() => response.end(), 2)))
    const http = outgoing({ maxConnections: 7 })
    const results = await Promise.all(
      Array.from({ length: 200 }, () => http.post(request(`http://127.0.0.1:${receiver.port}/`))),
    )
    expect(results.every((result) => result.kind === 'answered' && result.status === 200)).toBe(true)
    expect(receiver.mostOpen).toBeLessThanOrEqual(7)
  })

  it('holds up no request for others to the same host: those may be of receivers that hang', async () => {
    const receiver = await keep(
      httpReceiver((response, { path }) => {
        if (path === '/quick') response.end()
      }),
    )
    const http = outgoing()
    const url = `http://127.0.0.1:${receiver.port}`
    // As many as all webhook endpoints together may have under way, but for one.
    const hanging = Array.from({ length: 199 }, () => http.post(request(`${url}/hangs`)))
    const quick = await http.post(request(`${url}/quick`, { timeoutMs: 60_000 }))
    expect(quick).toMatchObject({ kind: 'answered', status: 200 })
    await http.close()
    const ends = await Promise.all(hanging)
    expect(ends.filter(({ kind }) => kind === 'failed')).toHaveLength(199)
  })

  it('takes a hint for what it is, and waits for the answer', async () => {
    const receiver = await keep(
      httpReceiver((response) => {
        response.writeEarlyHints({ link: '</a>; rel=preload' })
        response.end('ok')
      }),
    )
    const result = await outgoing().post(request(`http://127.0.0.1:${receiver.port}/`))
    expect(result).toMatchObject({ kind: 'answered', status: 200, body: 'ok' })
  })

  it('ends with everything that is under way when it is closed, and can be used again', async () => {
    const receiver = await keep(tcpReceiver((socket) => socket.once('data', () => http.close())))
    const answering = await keep(httpReceiver((response) => response.end()))
    const http = outgoing()
    expect(await http.post(request(`http://127.0.0.1:${receiver.port}/`))).toMatchObject({
      kind: 'failed',
      reason: 'broken',
      requestSent: true,
    })
    await receiver.drained()
    expect(await http.post(request(`http://127.0.0.1:${answering.port}/`))).toMatchObject({ status: 200 })
  })

  it('speaks TLS to receivers that an authority vouches for', async () => {
    const receiver = await keep(httpsReceiver((response) => response.end('ok')))
    const http = outgoing({ ca: certificate, lookup: resolver(['127.0.0.1']).lookup })
    for (const host of ['127.0.0.1', 'hooks.example.test', 'hooks.example.test']) {
      expect(await http.post(request(`https://${host}:${receiver.port}/`)), host).toMatchObject({
        status: 200,
      })
    }
    expect(receiver.connections).toBe(2)
  })

  it('begins a handshake anew after one that should go on where another ended has failed', async () => {
    const receiver = await keep(
      forgetfulReceiver((response) => response.setHeader('connection', 'close').end('ok')),
    )
    const http = outgoing({ ca: certificate })
    const post = () => http.post(request(`https://127.0.0.1:${receiver.port}/`))
    expect(await post()).toMatchObject({ status: 200 })
    // Until its connection is gone: another one would take its place.
    await pause(20)
    expect(await post()).toMatchObject({ reason: 'unreachable', requestSent: false })
    expect(await post()).toMatchObject({ status: 200 })
  })
})

describe('the guard', () => {
  it.each([
    ['a private address', ['10.0.0.1']],
    ['loopback', ['127.0.0.1']],
    ['the metadata service', ['169.254.169.254']],
    ['a public and a private address', ['8.8.8.8', '127.0.0.1']],
    ['a private and a public address', ['127.0.0.1', '8.8.8.8']],
    ['a mapped address', ['::ffff:127.0.0.1']],
    ['NAT64', ['64:ff9b::7f00:1']],
    ['6to4', ['2002:7f00:1::']],
    ['IPv6 loopback', ['::1']],
    ['a zone', ['fe80::1%lo']],
    ['nonsense', ['not an address']],
  ])('refuses a name that resolves to %s', async (_, addresses) => {
    const receiver = await keep(httpReceiver((response) => response.end()))
    const http = outgoing({ allow: [], lookup: resolver(addresses).lookup })
    expect(await http.post(request(`http://rebind.example.test:${receiver.port}/`))).toMatchObject({
      kind: 'failed',
      reason: 'blocked',
      requestSent: false,
    })
    expect(receiver.connections).toBe(0)
  })

  it('refuses names of this machine through the real resolver', async () => {
    const receiver = await keep(httpReceiver((response) => response.end()))
    const http = outgoing({ allow: [] })
    for (const host of [
      'localhost',
      'localhost.',
      'app.localhost',
      '127.0.0.1',
      '0x7f.1',
      '[::ffff:7f00:1]',
    ]) {
      expect(await http.post(request(`http://${host}:${receiver.port}/`)), host).toMatchObject({
        reason: 'blocked',
        requestSent: false,
      })
    }
    expect(receiver.connections).toBe(0)
  })

  it('judges what it dials: a name that changes between two connections is judged for each', async () => {
    const receiver = await keep(
      httpReceiver((response) => response.writeHead(200, { connection: 'close' }).end()),
    )
    const names = resolver(['127.0.0.1'], ['127.0.0.2'], ['127.0.0.1'])
    const http = outgoing({ allow: ['127.0.0.1/32'], lookup: names.lookup })
    const url = `http://rebind.example.test:${receiver.port}/`
    expect(await http.post(request(url))).toMatchObject({ kind: 'answered', status: 200 })
    expect(await http.post(request(url))).toMatchObject({ kind: 'failed', reason: 'blocked' })
    expect(await http.post(request(url))).toMatchObject({ kind: 'answered', status: 200 })
    expect(names.asked).toHaveLength(3)
    expect(receiver.connections).toBe(2)
  })

  it('judges the connected socket too, whatever led to it', async () => {
    const receiver = await keep(httpReceiver((response) => response.end()))
    const connections = createConnections({ most: 1, dial: createDial({ guard: addressGuard() }) })
    const result = await exchange({
      method: 'POST',
      url: new URL(`http://127.0.0.1:${receiver.port}/`),
      connectionsTo: () => connections,
      headers: {},
      body: '{}',
      timeoutMs: 20_000,
      maxResponseBytes: 10,
      signal: undefined,
      startedAt: performance.now(),
    })
    expect(result).toMatchObject({ kind: 'failed', reason: 'blocked', requestSent: false })
    await receiver.drained()
    expect(receiver.requests).toEqual([])
  })

  it('lets no handshake begin with an address that it refuses', async () => {
    const received: Buffer[] = []
    const receiver = await keep(tcpReceiver((socket) => socket.on('data', (bytes) => received.push(bytes))))
    const dial = createDial({ guard: addressGuard() })
    const to = { protocol: 'https:', hostname: '127.0.0.1', port: String(receiver.port) }
    const error = await new Promise((resolve) => dial(to, (...[failure]) => resolve(failure)))
    expect(error).toBeInstanceOf(BlockedAddressError)
    await receiver.drained()
    expect(received).toEqual([])
  })

  it.each([301, 302, 303, 307, 308])('answers with %i and goes nowhere', async (status) => {
    const target = await keep(httpReceiver((response) => response.end()))
    const location = `http://127.0.0.1:${target.port}/`
    const receiver = await keep(httpReceiver((response) => response.writeHead(status, { location }).end()))
    expect(await outgoing().post(request(`http://127.0.0.1:${receiver.port}/`))).toMatchObject({
      kind: 'answered',
      status,
      headers: { location },
    })
    expect(target.connections).toBe(0)
  })

  it.each(['http://user:pw@127.0.0.1:8080/', 'http://127.0.0.1:22/', 'ftp://127.0.0.1/', 'not a url'])(
    'refuses %s without a connection',
    async (url) => {
      const result = await outgoing().post(request(url))
      expect(result).toMatchObject({ kind: 'failed', reason: 'blocked', requestSent: false })
      expect(JSON.stringify(result)).not.toContain('pw')
    },
  )
})

describe('a receiver that misbehaves', () => {
  it('sends a body without end: the first bytes are kept, the connection is closed', async () => {
    const receiver = await keep(
      httpReceiver((response) => {
        const more = () => {
          while (!response.destroyed && response.write('x'.repeat(1000)));
        }
        response.on('drain', more)
        more()
      }),
    )
    const result = await outgoing().post(
      request(`http://127.0.0.1:${receiver.port}/`, { maxResponseBytes: 1500 }),
    )
    expect(result).toMatchObject({ kind: 'answered', status: 200, body: 'x'.repeat(1500) })
    await receiver.drained()
  })

  it('sends its body too slowly: the status line has decided', async () => {
    const receiver = await keep(
      httpReceiver((response) => {
        const timer = setInterval(() => response.write('.'), 10)
        response.on('close', () => clearInterval(timer))
      }),
    )
    const result = await outgoing().post(request(`http://127.0.0.1:${receiver.port}/`, { timeoutMs: SOON }))
    expect(result).toMatchObject({ kind: 'answered', status: 200, body: expect.stringMatching(/^\.+$/) })
    await receiver.drained()
  })

  it('breaks its body off: the status line has decided', async () => {
    const receiver = await keep(
      httpReceiver((response) => {
        response.writeHead(200, { 'content-length': '100' })
        response.write('partial', () => response.destroy())
      }),
    )
    expect(await outgoing().post(request(`http://127.0.0.1:${receiver.port}/`))).toMatchObject({
      kind: 'answered',
      status: 200,
      body: 'partial',
    })
  })

  it.each<[string, (socket: { write(text: string): unknown }) => void]>([
    ['never answers', () => {}],
    ['stops in the middle of the status line', (socket) => socket.write('HTTP/1.1 20')],
    ['stops in the middle of the headers', (socket) => socket.write('HTTP/1.1 200 OK\r\nx-a: b\r\n')],
    ['gives hints only', (socket) => socket.write('HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n')],
  ])('%s: the deadline ends it, and the request may have arrived', async (_, talk) => {
    const receiver = await keep(tcpReceiver((socket) => socket.once('data', () => talk(socket))))
    const result = await outgoing().post(request(`http://127.0.0.1:${receiver.port}/`, { timeoutMs: SOON }))
    expect(result).toMatchObject({ kind: 'failed', reason: 'timeout', requestSent: true })
    await receiver.drained()
  })

  it.each<[string, string, string, object]>([
    [
      'hints before the answer',
      '',
      'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'.repeat(1_000),
      { kind: 'failed', reason: 'broken', requestSent: true },
    ],
    [
      'what wraps a chunk of the body',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;',
      'a'.repeat(50_000),
      { kind: 'answered', status: 200, cut: true },
    ],
  ])('%s without end is not read to the deadline', async (_, beginning, more, end) => {
    const receiver = await keep(
      tcpReceiver((socket) => {
        const flood = (): void => {
          while (socket.writable && socket.write(more));
        }
        socket.on('drain', flood).once('data', () => {
          socket.write(beginning)
          flood()
        })
      }),
    )
    expect(await outgoing().post(request(`http://127.0.0.1:${receiver.port}/`))).toMatchObject(end)
    await receiver.drained()
  })

  it('a connection may bring many answers that are long enough together to end one', async () => {
    const receiver = await keep(httpReceiver((response) => response.end('x'.repeat(16_000))))
    const http = outgoing()
    for (let index = 0; index < 40; index += 1) {
      const result = await http.post(request(`http://127.0.0.1:${receiver.port}/`))
      expect(result).toMatchObject({ kind: 'answered', body: 'x'.repeat(16_000) })
    }
  })

  it.each<[string, string, string]>([
    ['closes without an answer', '', 'UND_ERR_SOCKET'],
    ['says "continue", which nobody asked it to', 'HTTP/1.1 100 Continue\r\n\r\n', 'UND_ERR_SOCKET'],
    ['answers with what is not HTTP', 'SSH-2.0-OpenSSH_9.6\r\n', 'HTTPParserError'],
    [
      'answers with headers without end',
      `HTTP/1.1 200 OK\r\nx-a: ${'a'.repeat(100_000)}`,
      'UND_ERR_HEADERS_OVERFLOW',
    ],
    [
      'frames its answer in two ways',
      'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
      'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
    ],
  ])('%s: broken, says why, and the request may have arrived', async (_, answer, why) => {
    const receiver = await keep(tcpReceiver((socket) => socket.once('data', () => socket.end(answer))))
    const result = await outgoing().post(request(`http://127.0.0.1:${receiver.port}/`))
    const message = `The connection ended without a valid answer (${why}).`
    expect(result).toMatchObject({ kind: 'failed', reason: 'broken', requestSent: true, message })
  })

  it('is not there: nothing was sent', async () => {
    const result = await outgoing().post(request(`http://127.0.0.1:${await closedPort()}/`))
    expect(result).toMatchObject({
      kind: 'failed',
      reason: 'unreachable',
      requestSent: false,
      message: 'No connection could be made (ECONNREFUSED).',
    })
  })

  it('has no name that resolves, or a resolver that hangs: nothing was sent', async () => {
    const nowhere = outgoing({ lookup: resolver([]).lookup })
    expect(await nowhere.post(request('http://nowhere.example.test:8080/'))).toMatchObject({
      reason: 'unreachable',
      requestSent: false,
    })
    const failing = outgoing({
      lookup: () => Promise.reject(Object.assign(new Error('queryA'), { code: 'ESERVFAIL' })),
    })
    expect(await failing.post(request('http://nowhere.example.test:8080/'))).toMatchObject({
      reason: 'unreachable',
      message: 'No connection could be made (ESERVFAIL).',
    })
    const hanging = outgoing({ lookup: () => new Promise(() => {}) })
    expect(await hanging.post(request('http://slow.example.test:8080/', { timeoutMs: SOON }))).toMatchObject({
      reason: 'timeout',
      requestSent: false,
    })
  })

  it('has a certificate that nobody vouches for, or for another name: nothing was sent', async () => {
    const receiver = await keep(httpsReceiver((response) => response.end()))
    const url = (host: string) => `https://${host}:${receiver.port}/`
    expect(await outgoing().post(request(url('127.0.0.1')))).toMatchObject({
      reason: 'unreachable',
      requestSent: false,
      message: 'No connection could be made (DEPTH_ZERO_SELF_SIGNED_CERT).',
    })
    const http = outgoing({ ca: certificate, lookup: resolver(['127.0.0.1']).lookup })
    expect(await http.post(request(url('other.example.org')))).toMatchObject({
      reason: 'unreachable',
      requestSent: false,
      message: 'No connection could be made (ERR_TLS_CERT_ALTNAME_INVALID).',
    })
    expect(receiver.requests).toEqual([])
  })

  it('does not finish the TLS handshake: nothing was sent', async () => {
    const receiver = await keep(tcpReceiver((socket) => socket.resume()))
    const result = await outgoing().post(request(`https://127.0.0.1:${receiver.port}/`, { timeoutMs: SOON }))
    expect(result).toMatchObject({ kind: 'failed', reason: 'timeout', requestSent: false })
    await receiver.drained()
  })

  it('makes later requests wait for a free connection: their deadline counts, nothing was sent', async () => {
    const receiver = await keep(tcpReceiver(() => {}))
    const http = outgoing({ maxConnections: 1 })
    const url = `http://127.0.0.1:${receiver.port}/`
    const [first, second] = await Promise.all([
      http.post(request(url, { timeoutMs: SOON * 2 })),
      http.post(request(url, { timeoutMs: SOON })),
    ])
    expect(first).toMatchObject({ reason: 'timeout', requestSent: true })
    expect(second).toMatchObject({ reason: 'timeout', requestSent: false })
  })
})

describe('a connection that was kept, and is reset as the next request is made', () => {
  async function afterReset() {
    const sockets: Socket[] = []
    const receiver = await keep(
      tcpReceiver((socket) => {
        sockets.push(socket)
        socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'))
      }),
    )
    const http = outgoing()
    const post = () => http.post(request(`http://127.0.0.1:${receiver.port}/`))
    await Promise.all([post(), post()])
    await pause(20)
    // Not seen before the next turn of the event loop.
    for (const socket of sockets) socket.resetAndDestroy()
    return { http, post, receiver }
  }

  it('costs no request: nothing was written, another connection takes it', async () => {
    const { post, receiver } = await afterReset()
    expect(await post()).toMatchObject({ kind: 'answered', status: 200 })
    expect(receiver.connections).toBe(3)
  })

  it('opens none where everything is closed meanwhile', async () => {
    const { http, post, receiver } = await afterReset()
    const posted = post()
    await http.close()
    expect(await posted).toMatchObject({ reason: 'unreachable', requestSent: false })
    expect(receiver.connections).toBe(2)
  })
})

describe("the caller's signal", () => {
  it('ends an exchange before it begins', async () => {
    const receiver = await keep(httpReceiver((response) => response.end()))
    const signal = AbortSignal.abort()
    expect(await outgoing().post(request(`http://127.0.0.1:${receiver.port}/`, { signal }))).toMatchObject({
      reason: 'aborted',
      requestSent: false,
    })
    expect(receiver.connections).toBe(0)
  })

  it('ends an exchange that waits for its answer', async () => {
    const abort = new AbortController()
    const receiver = await keep(tcpReceiver((socket) => socket.once('data', () => abort.abort())))
    const { signal } = abort
    expect(await outgoing().post(request(`http://127.0.0.1:${receiver.port}/`, { signal }))).toMatchObject({
      reason: 'aborted',
      requestSent: true,
    })
    await receiver.drained()
  })
})
