import { once } from 'node:events'
import { constants, type ServerHttp2Stream } from 'node:http2'
import { connect, createServer, type Socket } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  acceptPush,
  apnsProvider,
  apnsServer,
  PUSH,
  pushContext,
  refusePush,
  sendPush,
} from '../support/apns.ts'
import { eventually } from '../support/eventually.ts'
import { closedPort, tcpReceiver } from '../support/receivers.ts'

/** A proxy that can drop everything, as a firewall that has forgotten the connection. */
async function blackHole(target: number) {
  let swallows = false
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    const onward = connect(target, '127.0.0.1')
    for (const [from, to] of [
      [socket, onward],
      [onward, socket],
    ] as const) {
      sockets.add(from)
      from.on('error', () => {})
      from.on('data', (chunk: Buffer) => {
        if (!swallows) to.write(chunk)
      })
      from.on('close', () => to.destroy())
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy()
    server.close()
    await once(server, 'close')
  })
  const address = server.address()
  return {
    port: typeof address === 'object' ? (address?.port ?? 0) : 0,
    swallow: () => {
      swallows = true
    },
    pass: () => {
      swallows = false
    },
  }
}

describe('the connection to APNs', () => {
  it('opens no more streams than the server allows, and delivers all', async () => {
    const server = await apnsServer((stream) => setImmediate(() => acceptPush(stream, 0)), {
      maxConcurrentStreams: 2,
    })
    const channel = apnsProvider(server.origin)
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, index) => sendPush(channel, String(index))),
    )
    expect(outcomes.every(({ kind }) => kind === 'accepted')).toBe(true)
    expect(server.mostStreams).toBe(2)
    expect(server.opened).toBe(1)
  })

  it('follows a limit that the server changes', async () => {
    const waiting: ServerHttp2Stream[] = []
    const server = await apnsServer((stream) => void waiting.push(stream), { maxConcurrentStreams: 1 })
    const channel = apnsProvider(server.origin)
    const sending = Promise.all(['1', '2', '3'].map((id) => sendPush(channel, id)))
    await eventually(() => waiting.length === 1)
    for (const session of server.sessions) session.settings({ maxConcurrentStreams: 100 })
    await eventually(() => waiting.length === 3)
    for (const stream of waiting) acceptPush(stream, 0)
    expect((await sending).every(({ kind }) => kind === 'accepted')).toBe(true)
  })

  it('sends nothing of a message that times out while it waits for a stream', async () => {
    const waiting: ServerHttp2Stream[] = []
    const server = await apnsServer(
      (stream, count) => (count === 1 ? void waiting.push(stream) : acceptPush(stream, count)),
      { maxConcurrentStreams: 1 },
    )
    const channel = apnsProvider(server.origin)
    const first = sendPush(channel, '1')
    await eventually(() => waiting.length === 1)
    const abort = new AbortController()
    const second = channel.send(PUSH, pushContext('2', { signal: abort.signal }))
    // On the open connection a request leaves within this turn, if nothing holds it.
    await new Promise((resolve) => setImmediate(resolve))
    abort.abort()
    expect(await second).toMatchObject({ kind: 'retry', code: 'provider_unavailable' })
    for (const stream of waiting) acceptPush(stream, 0)
    expect(await first).toMatchObject({ kind: 'accepted' })
    await sendPush(channel, '3')
    expect(server.requests.length).toBe(2)
  })

  it('repeats a stream that the server refused unread', async () => {
    const server = await apnsServer((stream, count) =>
      count === 1 ? stream.close(constants.NGHTTP2_REFUSED_STREAM) : acceptPush(stream, count),
    )
    const channel = apnsProvider(server.origin)
    expect(await sendPush(channel)).toMatchObject({ kind: 'retry', scope: 'provider' })
    expect(await sendPush(channel)).toMatchObject({ kind: 'accepted' })
  })

  it('is ambiguous about a stream that the server reset', async () => {
    const server = await apnsServer((stream) => stream.close(constants.NGHTTP2_INTERNAL_ERROR))
    expect(await sendPush(apnsProvider(server.origin))).toMatchObject({ kind: 'ambiguous' })
  })

  it.each([
    ['politely', constants.NGHTTP2_NO_ERROR],
    ['with an error', constants.NGHTTP2_INTERNAL_ERROR],
  ])('knows by GOAWAY which messages were not looked at, sent %s', async (_, code) => {
    const seen: ServerHttp2Stream[] = []
    const server = await apnsServer((stream) => {
      seen.push(stream)
      if (seen.length === 4) acceptPush(stream, 0)
      if (seen.length !== 3) return
      const [first] = seen
      // Streams 1, 3 and 5 are open; the server says that it will look at the first alone.
      first?.session?.goaway(code, first.id)
      first?.session?.destroy()
    })
    const channel = apnsProvider(server.origin)
    const outcomes = await Promise.all(['1', '2', '3'].map((id) => sendPush(channel, id)))
    expect(outcomes.map(({ kind }) => kind)).toEqual(['ambiguous', 'retry', 'retry'])
    expect(await sendPush(channel, '2')).toMatchObject({ kind: 'accepted' })
    expect(server.opened).toBe(2)
  })

  it('lets messages end that are under way at a GOAWAY', async () => {
    const seen: ServerHttp2Stream[] = []
    const server = await apnsServer((stream) => {
      seen.push(stream)
      if (seen.length === 1) stream.session?.goaway(constants.NGHTTP2_NO_ERROR, stream.id)
      else acceptPush(stream, 0)
    })
    const channel = apnsProvider(server.origin)
    const first = sendPush(channel, '1')
    await eventually(() => seen.length === 1)
    await eventually(async () => (await sendPush(channel, '2')).kind === 'accepted' && server.opened === 2)
    for (const stream of seen.slice(0, 1)) acceptPush(stream, 0)
    expect(await first).toMatchObject({ kind: 'accepted' })
  })

  it.each(['IdleTimeout', 'Shutdown'])('is replaced after %s', async (reason) => {
    const server = await apnsServer((stream, count) =>
      count === 1 ? refusePush(503, reason)(stream, count) : acceptPush(stream, count),
    )
    const channel = apnsProvider(server.origin)
    await sendPush(channel)
    expect(await sendPush(channel)).toMatchObject({ kind: 'accepted' })
    expect(server.opened).toBe(2)
  })

  it('stays when the connection that it replaced asks to be replaced', async () => {
    const seen: ServerHttp2Stream[] = []
    const server = await apnsServer((stream, count) => {
      seen.push(stream)
      if (count > 2) acceptPush(stream, count)
    })
    const channel = apnsProvider(server.origin)
    const under = [sendPush(channel, '1'), sendPush(channel, '2')]
    await eventually(() => seen.length === 2)
    for (const [index, stream] of seen.slice(0, 2).entries()) {
      refusePush(503, 'Shutdown')(stream, 0)
      expect(await under[index]).toMatchObject({ kind: 'retry' })
      expect(await sendPush(channel, `${index + 3}`)).toMatchObject({ kind: 'accepted' })
    }
    expect(server.opened).toBe(2)
  })

  it('makes a retry of the messages that a GOAWAY names as unread, though it stays open', async () => {
    const seen: ServerHttp2Stream[] = []
    const server = await apnsServer((stream) => {
      seen.push(stream)
      const [first] = seen
      if (seen.length === 3) first?.session?.goaway(constants.NGHTTP2_NO_ERROR, first.id)
    })
    const channel = apnsProvider(server.origin)
    const [first, ...others] = ['1', '2', '3'].map((id) => sendPush(channel, id))
    const unseen = { kind: 'retry', code: 'provider_unavailable', scope: 'provider' }
    expect(await Promise.all(others)).toMatchObject([unseen, unseen])
    for (const stream of seen.slice(0, 1)) acceptPush(stream, 0)
    expect(await first).toMatchObject({ kind: 'accepted' })
  })

  it('is replaced after the server has ended it', async () => {
    const server = await apnsServer()
    const channel = apnsProvider(server.origin)
    await sendPush(channel, '1')
    for (const session of server.sessions) session.destroy()
    await eventually(() => server.sessions.size === 0)
    expect(await eventually(async () => (await sendPush(channel, '2')).kind)).toBe('accepted')
    expect(server.opened).toBe(2)
  })

  it('is replaced when a ping gets no answer', async () => {
    const server = await apnsServer()
    const middle = await blackHole(server.port)
    const channel = apnsProvider(`https://localhost:${middle.port}`, { keepAliveMs: 500 })
    await sendPush(channel, '1')
    await eventually(() => server.pings >= 2)

    middle.swallow()
    const lost = sendPush(channel, '2')
    expect(await lost).toMatchObject({ kind: 'ambiguous' })
    middle.pass()
    expect(await sendPush(channel, '3')).toMatchObject({ kind: 'accepted' })
  })

  it.each<[string, () => Promise<string>]>([
    ['that nobody answers', async () => `https://localhost:${await closedPort()}`],
    [
      'that ends at once',
      async () => {
        const { port, close } = await tcpReceiver((socket) => socket.destroy())
        onTestFinished(close)
        return `https://localhost:${port}`
      },
    ],
  ])('cannot be made to a port %s: nothing was sent', async (_, origin) => {
    const channel = apnsProvider(await origin())
    expect(await sendPush(channel)).toMatchObject({
      kind: 'retry',
      code: 'provider_unavailable',
      scope: 'provider',
    })
    await expect(channel.check?.()).rejects.toMatchObject({ code: 'provider_unavailable' })
  })

  it('is not made to a server with an untrusted certificate', async () => {
    const server = await apnsServer()
    const outcome = await sendPush(apnsProvider(server.origin, { ca: undefined }))
    expect(outcome).toMatchObject({ kind: 'retry', code: 'provider_unavailable' })
    expect(server.requests).toEqual([])
  })

  it('is given up when the message times out first', async () => {
    const { port, close } = await tcpReceiver(() => {})
    onTestFinished(close)
    const abort = new AbortController()
    const channel = apnsProvider(`https://localhost:${port}`)
    const sending = channel.send(PUSH, pushContext('1', { signal: abort.signal }))
    setImmediate(() => abort.abort())
    expect(await sending).toMatchObject({ kind: 'retry', code: 'provider_unavailable' })
  })
})
