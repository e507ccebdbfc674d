import type { Socket } from 'node:net'
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { PostRequest } from '../../src/core/ports/outgoing.ts'
import { eventually } from '../support/eventually.ts'
import { certificate } from '../support/localhost-certificate.ts'
import { closedAfterTest, outgoing, request, resolver } from '../support/outgoing.ts'
import { forgetfulReceiver, httpReceiver, httpsReceiver, tcpReceiver } from '../support/receivers.ts'

describe('an exchange', () => {
  it('sends the body as UTF-8 with its length, and returns status, headers and body', async () => {
    const receiver = await closedAfterTest(
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

  it('ignores headers that would change the framing or the host', async () => {
    const receiver = await closedAfterTest(httpReceiver((response) => response.end()))
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
    const receiver = await closedAfterTest(httpReceiver((response) => response.end()))
    const http = outgoing({ maxConnections: 2 })
    for (const _ of [1, 2]) {
      const result = await http.post(request(`http://127.0.0.1:${receiver.port}/`, { headers }))
      expect(result).toMatchObject({ kind: 'failed', reason: 'unreachable', requestSent: false })
      expect(JSON.stringify(result)).not.toContain('evil')
    }
    expect(receiver.connections).toBe(0)
    expect(await http.post(request(`http://127.0.0.1:${receiver.port}/`))).toMatchObject({ status: 200 })
  })

  it('reads invalid text leniently, and an empty answer', async () => {
    const bytes = await closedAfterTest(httpReceiver((response) => response.end(Buffer.from([0xff, 0x41]))))
    const empty = await closedAfterTest(httpReceiver((response) => response.writeHead(204).end()))
    const http = outgoing()
    expect(await http.post(request(`http://127.0.0.1:${bytes.port}/`))).toMatchObject({ body: '\ufffdA' })
    expect(await http.post(request(`http://127.0.0.1:${empty.port}/`))).toMatchObject({
      status: 204,
      body: '',
    })
  })

  it('uses one connection for consecutive exchanges, pinned to the checked address', async () => {
    const receiver = await closedAfterTest(httpReceiver((response) => response.end('ok')))
    const names = resolver(['127.0.0.1'], ['10.0.0.1'])
    const http = outgoing({ lookup: names.lookup })
    for (const index of [1, 2, 3]) {
      const result = await http.post(request(`http://hooks.example.test:${receiver.port}/`))
      expect(result, `exchange ${index}`).toMatchObject({ kind: 'answered', status: 200 })
      // The connection is free one turn after its answer.
      await turn()
    }
    expect(receiver.connections).toBe(1)
    expect(names.asked).toEqual(['hooks.example.test'])
  })

  it('never gets an unsolicited answer to the request of another organization', async () => {
    const receiver = await closedAfterTest(forgingReceiver())
    const http = outgoing()
    const url = `http://127.0.0.1:${receiver.port}`
    const asked = [
      ['forges', 'org_b', 200],
      ['honest', 'org_a', 200],
      ['honest', 'org_a', 200],
      // The connection was kept: the forged answer meets its own organization.
      ['forges', 'org_b', 410],
    ] as const
    for (const [path, organizationId, status] of asked) {
      expect(await http.post(request(`${url}/${path}`, { organizationId })), path).toMatchObject({ status })
      await turn()
    }
    expect(receiver.connections).toBe(2)
  })

  it.each([
    ['timeout=1', 2],
    ['timeout=5, max=100', 1],
    [undefined, 1],
  ])(
    'uses no connection that the receiver may be about to end: Keep-Alive: %s',
    async (hint, connections) => {
      const receiver = await closedAfterTest(
        httpReceiver((response) => {
          if (hint !== undefined) response.setHeader('keep-alive', hint)
          response.end('ok')
        }),
      )
      const http = outgoing()
      for (const _ of [1, 2]) {
        expect(await http.post(request(`http://127.0.0.1:${receiver.port}/`))).toMatchObject({ status: 200 })
        await turn()
      }
      expect(receiver.connections).toBe(connections)
    },
  )

  it('opens no more connections than the maximum', async () => {
    const receiver = await closedAfterTest(httpReceiver((response) => setTimeout(() => response.end(), 2)))
    const http = outgoing({ maxConnections: 7 })
    const results = await Promise.all(
      Array.from({ length: 200 }, () => http.post(request(`http://127.0.0.1:${receiver.port}/`))),
    )
    expect(results.every((result) => result.kind === 'answered' && result.status === 200)).toBe(true)
    expect(receiver.mostOpen).toBeLessThanOrEqual(7)
  })

  it('delays no request by hanging ones to the same host', async () => {
    const receiver = await closedAfterTest(
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

  it('waits for the final answer after an informational one', async () => {
    const receiver = await closedAfterTest(
      httpReceiver((response) => {
        response.writeEarlyHints({ link: '</a>; rel=preload' })
        response.end('ok')
      }),
    )
    const result = await outgoing().post(request(`http://127.0.0.1:${receiver.port}/`))
    expect(result).toMatchObject({ kind: 'answered', status: 200, body: 'ok' })
  })

  it('ends at a close, after which the client can be used again', async () => {
    const receiver = await closedAfterTest(tcpReceiver((socket) => socket.once('data', () => http.close())))
    const answering = await closedAfterTest(httpReceiver((response) => response.end()))
    const http = outgoing()
    expect(await http.post(request(`http://127.0.0.1:${receiver.port}/`))).toMatchObject({
      kind: 'failed',
      reason: 'broken',
      requestSent: true,
    })
    await receiver.drained()
    expect(await http.post(request(`http://127.0.0.1:${answering.port}/`))).toMatchObject({ status: 200 })
  })

  it('speaks TLS to receivers with a trusted certificate', async () => {
    const receiver = await closedAfterTest(httpsReceiver((response) => response.end('ok')))
    const http = outgoing({ ca: certificate, lookup: resolver(['127.0.0.1']).lookup })
    for (const host of ['127.0.0.1', 'hooks.example.test', 'hooks.example.test']) {
      expect(await http.post(request(`https://${host}:${receiver.port}/`)), host).toMatchObject({
        status: 200,
      })
      await turn()
    }
    expect(receiver.connections).toBe(2)
  })

  it('resumes no TLS session, which a receiver may no longer accept', async () => {
    const receiver = await closedAfterTest(
      forgetfulReceiver((response) => response.setHeader('connection', 'close').end('ok')),
    )
    const http = outgoing({ ca: certificate })
    for (const _ of [1, 2]) {
      expect(await http.post(request(`https://127.0.0.1:${receiver.port}/`))).toMatchObject({ status: 200 })
      // Until its connection is gone: another one would take its place.
      await pause(20)
    }
    expect(receiver.connections).toBe(2)
  })
})

describe('idle connections', () => {
  const MOST = 256

  async function idleTo(names: number) {
    const sockets: Socket[] = []
    const receiver = await closedAfterTest(
      tcpReceiver((socket) => {
        sockets.push(socket)
        socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'))
      }),
    )
    const http = outgoing({ lookup: resolver(['127.0.0.1']).lookup })
    const post = (name: number, more: Partial<PostRequest> = {}) =>
      http.post(request(`http://host-${name}.example.test:${receiver.port}/`, more))
    const open = () => sockets.filter(({ destroyed }) => !destroyed).length
    const postToAll = () => Promise.all(Array.from({ length: names }, (_, name) => post(name)))
    return { http, receiver, post, postToAll, open }
  }

  it('are at most 256, whatever the number of hosts: the oldest end', async () => {
    const { http, receiver, post, postToAll, open } = await idleTo(300)
    expect((await postToAll()).every(({ kind }) => kind === 'answered')).toBe(true)
    await eventually(() => open() === MOST)
    expect(receiver.connections).toBe(300)
    expect(await post(299)).toMatchObject({ status: 200 })
    expect(receiver.connections).toBe(300)
    for (let name = 300; name < 320; name += 1) await post(name)
    await eventually(() => open() === MOST)
    await http.close()
    await receiver.drained()
  })

  it('of an organization stay while another one has more', async () => {
    const { receiver, post, postToAll, open } = await idleTo(300)
    expect(await post(1, { organizationId: 'org_b' })).toMatchObject({ status: 200 })
    await postToAll()
    await eventually(() => open() === MOST)
    expect(await post(1, { organizationId: 'org_b' })).toMatchObject({ status: 200 })
    expect(receiver.connections).toBe(301)
  })

  it('stay as many after requests that waited or were aborted', async () => {
    const { post, postToAll, open } = await idleTo(300)
    await postToAll()
    const abort = new AbortController()
    const { signal } = abort
    const posts = Array.from({ length: 600 }, (_, index) =>
      post(index % 300, index % 3 === 0 ? { signal } : {}),
    )
    abort.abort()
    const results = await Promise.all(posts)
    expect(results.filter(({ kind }) => kind === 'answered')).toHaveLength(400)
    await eventually(() => open() === MOST)
    expect(await post(7)).toMatchObject({ status: 200 })
  })
})

describe('an idle connection that is reset as the next request begins', () => {
  async function afterReset() {
    const sockets: Socket[] = []
    const receiver = await closedAfterTest(
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

  it('is replaced by another connection, since nothing was written', async () => {
    const { post, receiver } = await afterReset()
    expect(await post()).toMatchObject({ kind: 'answered', status: 200 })
    expect(receiver.connections).toBe(3)
  })

  it('is not replaced if the client is closed meanwhile', async () => {
    const { http, post, receiver } = await afterReset()
    const posted = post()
    await http.close()
    expect(await posted).toMatchObject({ reason: 'unreachable', requestSent: false })
    expect(receiver.connections).toBe(2)
  })
})

describe("the caller's signal", () => {
  it('ends an exchange before it begins', async () => {
    const receiver = await closedAfterTest(httpReceiver((response) => response.end()))
    const signal = AbortSignal.abort()
    expect(await outgoing().post(request(`http://127.0.0.1:${receiver.port}/`, { signal }))).toMatchObject({
      reason: 'aborted',
      requestSent: false,
    })
    expect(receiver.connections).toBe(0)
  })

  it('ends an exchange that waits for its answer', async () => {
    const abort = new AbortController()
    const receiver = await closedAfterTest(tcpReceiver((socket) => socket.once('data', () => abort.abort())))
    const { signal } = abort
    expect(await outgoing().post(request(`http://127.0.0.1:${receiver.port}/`, { signal }))).toMatchObject({
      reason: 'aborted',
      requestSent: true,
    })
    await receiver.drained()
  })
})

/** Answers 200. On a connection that has carried a request to `/forges`, an unsolicited 410 comes before the later answers. */
function forgingReceiver() {
  return tcpReceiver((socket) => {
    let forges = false
    socket.on('data', (bytes) => {
      if (forges) socket.write('HTTP/1.1 410 Gone\r\ncontent-length: 0\r\n\r\n')
      forges ||= bytes.includes('/forges')
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
    })
  })
}
