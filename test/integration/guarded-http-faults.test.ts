import type { Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { certificate } from '../support/localhost-certificate.ts'
import { closedAfterTest, outgoing, request, resolver, SOON } from '../support/outgoing.ts'
import { closedPort, httpReceiver, httpsReceiver, tcpReceiver } from '../support/receivers.ts'

describe('a receiver', () => {
  it('with an endless body has its first bytes kept and its connection closed', async () => {
    const receiver = await closedAfterTest(
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

  it('with a slow body is decided by its status line', async () => {
    const receiver = await closedAfterTest(
      httpReceiver((response) => {
        const timer = setInterval(() => response.write('.'), 10)
        response.on('close', () => clearInterval(timer))
      }),
    )
    const result = await outgoing().post(request(`http://127.0.0.1:${receiver.port}/`, { timeoutMs: SOON }))
    expect(result).toMatchObject({ kind: 'answered', status: 200, body: expect.stringMatching(/^\.+$/) })
    await receiver.drained()
  })

  it('with a truncated body is decided by its status line', async () => {
    const receiver = await closedAfterTest(
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

  it.each<[string, (socket: Socket) => void]>([
    ['never answers', () => {}],
    ['stops in the middle of the status line', (socket) => socket.write('HTTP/1.1 20')],
    ['stops in the middle of the headers', (socket) => socket.write('HTTP/1.1 200 OK\r\nx-a: b\r\n')],
    [
      'drips its headers without end',
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\nx-a: ')
        const drip = setInterval(() => socket.write('.'), 10)
        socket.on('close', () => clearInterval(drip))
      },
    ],
    ['gives hints only', (socket) => socket.write('HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n')],
  ])('%s: the deadline ends it, and the request may have arrived', async (_, talk) => {
    const receiver = await closedAfterTest(tcpReceiver((socket) => socket.once('data', () => talk(socket))))
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
    const receiver = await closedAfterTest(
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

  it('may send many answers on one connection that together exceed the limit of one', async () => {
    const receiver = await closedAfterTest(httpReceiver((response) => response.end('x'.repeat(16_000))))
    const http = outgoing()
    for (let index = 0; index < 40; index += 1) {
      const result = await http.post(request(`http://127.0.0.1:${receiver.port}/`))
      expect(result).toMatchObject({ kind: 'answered', body: 'x'.repeat(16_000) })
    }
  })

  it.each<[string, string, string]>([
    ['closes without an answer', '', 'ECONNRESET'],
    ['says "continue", which nobody asked it to', 'HTTP/1.1 100 Continue\r\n\r\n', 'ECONNRESET'],
    ['answers with what is not HTTP', 'SSH-2.0-OpenSSH_9.6\r\n', 'HPE_INVALID_CONSTANT'],
    [
      'answers with headers without end',
      `HTTP/1.1 200 OK\r\nx-a: ${'a'.repeat(100_000)}`,
      'HPE_HEADER_OVERFLOW',
    ],
    [
      'frames its answer in two ways',
      'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
      'HPE_INVALID_TRANSFER_ENCODING',
    ],
  ])('%s: broken, says why, and the request may have arrived', async (_, answer, why) => {
    const receiver = await closedAfterTest(
      tcpReceiver((socket) => socket.once('data', () => socket.end(answer))),
    )
    const result = await outgoing().post(request(`http://127.0.0.1:${receiver.port}/`))
    const message = `The connection ended without a valid answer (${why}).`
    expect(result).toMatchObject({ kind: 'failed', reason: 'broken', requestSent: true, message })
  })

  it('that does not listen was sent nothing', async () => {
    const result = await outgoing().post(request(`http://127.0.0.1:${await closedPort()}/`))
    expect(result).toMatchObject({
      kind: 'failed',
      reason: 'unreachable',
      requestSent: false,
      message: 'No connection could be made (ECONNREFUSED).',
    })
  })

  it('whose name does not resolve, or whose resolver hangs, was sent nothing', async () => {
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

  it('with an untrusted certificate, or one for another name, was sent nothing', async () => {
    const receiver = await closedAfterTest(httpsReceiver((response) => response.end()))
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

  it('that does not finish the TLS handshake was sent nothing, and a close ends the handshake', async () => {
    const receiver = await closedAfterTest(tcpReceiver((socket) => socket.resume()))
    const http = outgoing()
    const result = await http.post(request(`https://127.0.0.1:${receiver.port}/`, { timeoutMs: SOON }))
    expect(result).toMatchObject({ kind: 'failed', reason: 'timeout', requestSent: false })
    await http.close()
    await receiver.drained()
  })

  it('whose connections are busy is never sent a request that has given up', async () => {
    let release = (): void => {}
    const receiver = await closedAfterTest(
      httpReceiver((response, { path }) => {
        if (path === '/first') release = () => response.end()
        else response.end()
      }),
    )
    const http = outgoing({ maxConnections: 1 })
    const post = (path: string, more = {}) =>
      http.post(request(`http://127.0.0.1:${receiver.port}${path}`, more))
    const first = post('/first')
    expect(await post('/second', { timeoutMs: SOON })).toMatchObject({
      reason: 'timeout',
      requestSent: false,
    })
    release()
    expect(await first).toMatchObject({ kind: 'answered' })
    expect(await post('/third')).toMatchObject({ kind: 'answered' })
    expect(receiver.requests.map(({ path }) => path)).toEqual(['/first', '/third'])
  })
})
