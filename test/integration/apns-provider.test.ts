import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { constants, type ServerHttp2Stream } from 'node:http2'
import { createRequire } from 'node:module'
import { connect, createServer, type Socket } from 'node:net'
import { ApnsClient, Notification } from 'apns2'
import { jwtVerify } from 'jose'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { type ApnsOptions, apns } from '../../adapters/channels/apns/send.ts'
import type { PushKind } from '../../src/channels/push.ts'
import type { Message, Provider, SendContext } from '../../src/ports/provider.ts'
import { recordingLogger } from '../../src/testing/recording-logger.ts'
import { eventually } from '../support/eventually.ts'
import { certificate, type Http2Server, http2Server } from '../support/http2-server.ts'
import { sendContext } from './support/channel-context.ts'
import { closedPort, tcpReceiver } from './support/receivers.ts'

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
const KEY = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
const TOKEN = 'ab'.repeat(32)
const MESSAGE: Message = { to: TOKEN, subject: 'Hello', body: 'Grüße 🎉', format: 'text' }

const CREATED_AT = Date.UTC(2026, 0, 15, 12)
function contextOf(id: string, change: Partial<SendContext> = {}): SendContext {
  const notificationId = `notif_${id.padStart(29, '0')}`
  return sendContext({ notificationId, idempotencyKey: notificationId, createdAt: CREATED_AT, ...change })
}

const closing: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

type Respond = (stream: ServerHttp2Stream, count: number) => void
const ok: Respond = (stream) => stream.respond({ ':status': 200 }, { endStream: true })
const refuse =
  (status: number, reason: string): Respond =>
  (stream) => {
    stream.respond({ ':status': status })
    stream.end(JSON.stringify({ reason }))
  }

async function serve(
  respond: Respond = ok,
  settings: { readonly maxConcurrentStreams?: number } = {},
): Promise<Http2Server> {
  let count = 0
  const server = await http2Server((stream) => {
    count += 1
    respond(stream, count)
  }, settings)
  closing.push(server.close)
  return server
}

function channelTo(baseUrl: string, change: Partial<ApnsOptions> = {}): Provider {
  const channel = apns({
    key: KEY,
    keyId: 'KEY1234567',
    teamId: 'TEAM123456',
    topic: 'com.example.app',
    baseUrl,
    ca: certificate,
    ...change,
  })
  closing.push(() => channel.close?.())
  return channel
}

const send = (channel: Provider, id = '1', change: Partial<Message> = {}) =>
  channel.send({ ...MESSAGE, ...change }, contextOf(id))

describe('a request to APNs', () => {
  it('carries the message, where it goes, how long it is good and what replaces it', async () => {
    const server = await serve()
    const channel = channelTo(server.origin, { aps: { sound: 'default' }, ttlSeconds: 60, priority: 5 })
    const outcome = await send(channel, '7', { push: { data: { order: '42' } } })

    const [request] = server.requests
    const id = request?.headers['apns-id']
    expect(outcome).toEqual({ kind: 'accepted', providerMessageId: id })
    expect(request?.headers).toMatchObject({
      ':method': 'POST',
      ':path': `/3/device/${TOKEN}`,
      'apns-id': expect.stringMatching(
        /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
      ),
      'apns-topic': 'com.example.app',
      'apns-push-type': 'alert',
      'apns-priority': '5',
      'apns-expiration': String((CREATED_AT + 60_000) / 1000),
      'apns-collapse-id': id,
    })
    expect(JSON.parse(String(request?.body))).toEqual({
      order: '42',
      aps: { sound: 'default', alert: { title: 'Hello', body: 'Grüße 🎉' } },
    })
  })

  it('keeps nothing for devices that are offline with a life of 0', async () => {
    const server = await serve()
    await send(channelTo(server.origin, { ttlSeconds: 0 }))
    expect(server.requests[0]?.headers['apns-expiration']).toBe('0')
  })

  it.each<[string, (message: Message<PushKind>) => string | undefined, string | undefined]>([
    ['an own id', ({ subject }) => `about-${subject}`, 'about-Hello'],
    ['none', () => undefined, undefined],
  ])('collapses by %s', async (_, collapseId, expected) => {
    const server = await serve()
    await send(channelTo(server.origin, { collapseId }))
    expect(server.requests[0]?.headers['apns-collapse-id']).toBe(expected)
  })

  it('replaces what was sent before a retry', async () => {
    const server = await serve()
    const channel = channelTo(server.origin)
    for (const change of [{}, { idempotencyKey: 'retried' }])
      await channel.send(MESSAGE, contextOf('7', change))
    const [first, again] = server.requests.map(({ headers }) => headers['apns-collapse-id'])
    expect(again).toBe(first)
  })

  it('is not made when its collapse id is too long or its data would replace the alert', async () => {
    const server = await serve()
    const long = channelTo(server.origin, { collapseId: () => 'x'.repeat(65) })
    expect(await send(long)).toMatchObject({ kind: 'rejected', code: 'invalid_content' })
    const throwing = (): never => {
      throw new Error('no id')
    }
    for (const collapseId of [throwing, () => 5 as never])
      expect(await send(channelTo(server.origin, { collapseId }))).toMatchObject({
        kind: 'rejected',
        code: 'invalid_content',
        scope: 'message',
      })
    const outcome = await send(channelTo(server.origin), '1', { push: { data: { aps: '{}' } } })
    expect(outcome).toMatchObject({ kind: 'rejected', code: 'invalid_content', scope: 'message' })
    expect(server.requests).toEqual([])
  })

  it('has at most 4096 bytes', async () => {
    const server = await serve()
    const channel = channelTo(server.origin)
    const room = 4096 - Buffer.byteLength(JSON.stringify({ aps: { alert: { title: 'Hello', body: '' } } }))
    expect(await send(channel, '1', { body: 'x'.repeat(room) })).toMatchObject({ kind: 'accepted' })
    expect(server.requests[0]?.body.length).toBe(4096)
    expect(await send(channel, '2', { body: 'x'.repeat(room + 1) })).toMatchObject({
      kind: 'rejected',
      code: 'message_too_large',
      scope: 'message',
    })
    expect(server.requests.length).toBe(1)
  })

  it('says the same as that of the package apns2', async () => {
    const server = await serve()
    await send(channelTo(server.origin, { aps: { sound: 'default' } }))
    await sendByApns2(server)

    const [ours, theirs] = server.requests
    expect(JSON.parse(String(ours?.body))).toEqual(JSON.parse(String(theirs?.body)))
    for (const name of [':method', ':path', 'apns-topic', 'apns-push-type']) {
      expect(ours?.headers[name]).toBe(theirs?.headers[name])
    }
    for (const { headers } of server.requests) await verified(String(headers.authorization))
  })
})

/** The package dials port 443 alone: it gets a pool to the test server. */
async function sendByApns2(server: Http2Server): Promise<void> {
  const client = new ApnsClient({
    team: 'TEAM123456',
    keyId: 'KEY1234567',
    signingKey: KEY,
    defaultTopic: 'com.example.app',
    keepAlive: false,
  })
  const { Pool } = createRequire(createRequire(import.meta.url).resolve('apns2'))('undici')
  Reflect.set(client, 'client', new Pool(server.origin, { allowH2: true, connect: { ca: certificate } }))
  closing.push(() => client.destroy())
  await client.send(
    new Notification(TOKEN, { alert: { title: 'Hello', body: 'Grüße 🎉' }, sound: 'default' }),
  )
}

function verified(authorization: string) {
  const jwt = authorization.replace(/^bearer /, '')
  return jwtVerify(jwt, createPublicKey(privateKey), {
    algorithms: ['ES256'],
    issuer: 'TEAM123456',
    requiredClaims: ['iat'],
    maxTokenAge: '60m',
  })
}

describe('the provider token', () => {
  it('is signed with the key, and used for every message', async () => {
    const server = await serve()
    const channel = channelTo(server.origin)
    await Promise.all(['1', '2', '3'].map((id) => send(channel, id)))
    const tokens = server.requests.map(({ headers }) => String(headers.authorization))
    expect(new Set(tokens).size).toBe(1)
    const { protectedHeader, payload } = await verified(tokens[0] ?? '')
    expect(protectedHeader).toEqual({ alg: 'ES256', kid: 'KEY1234567' })
    expect(Object.keys(payload).sort()).toEqual(['iat', 'iss'])
  })

  it('is renewed when APNs calls it expired', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 0, 15, 12) })
    closing.push(() => void vi.useRealTimers())
    const server = await serve((stream, count) =>
      count === 2 ? refuse(403, 'ExpiredProviderToken')(stream, count) : ok(stream, count),
    )
    const channel = channelTo(server.origin)
    await send(channel, '1')
    vi.setSystemTime(Date.UTC(2026, 0, 15, 12, 25))
    expect(await send(channel, '2')).toMatchObject({ kind: 'retry', code: 'provider_auth_failed' })
    expect(await send(channel, '2')).toMatchObject({ kind: 'accepted' })
    const [first, second, third] = server.requests.map(({ headers }) => headers.authorization)
    expect(second).toBe(first)
    expect(third).not.toBe(first)
  })

  it('is kept while it is young, and the clock is named as the likely cause', async () => {
    const server = await serve(refuse(403, 'ExpiredProviderToken'))
    const channel = channelTo(server.origin)
    const { logger, lines } = recordingLogger()
    await channel.send(MESSAGE, contextOf('1', { logger }))
    await send(channel)
    const [first, second] = server.requests.map(({ headers }) => headers.authorization)
    expect(second).toBe(first)
    expect(lines().join()).toMatch(/clock/)
  })
})

describe('the connection to APNs', () => {
  it('takes no more streams than the server allows, and delivers all', async () => {
    const server = await serve((stream) => setImmediate(() => ok(stream, 0)), { maxConcurrentStreams: 2 })
    const channel = channelTo(server.origin)
    const outcomes = await Promise.all(Array.from({ length: 20 }, (_, index) => send(channel, String(index))))
    expect(outcomes.every(({ kind }) => kind === 'accepted')).toBe(true)
    expect(server.mostStreams).toBe(2)
    expect(server.opened).toBe(1)
  })

  it('follows a limit that the server changes', async () => {
    const waiting: ServerHttp2Stream[] = []
    const server = await serve((stream) => void waiting.push(stream), { maxConcurrentStreams: 1 })
    const channel = channelTo(server.origin)
    const sending = Promise.all(['1', '2', '3'].map((id) => send(channel, id)))
    await eventually(() => waiting.length === 1)
    for (const session of server.sessions) session.settings({ maxConcurrentStreams: 100 })
    await eventually(() => waiting.length === 3)
    for (const stream of waiting) ok(stream, 0)
    expect((await sending).every(({ kind }) => kind === 'accepted')).toBe(true)
  })

  it('leaves a message that waits for a stream unsent when its time is over', async () => {
    const waiting: ServerHttp2Stream[] = []
    const server = await serve(
      (stream, count) => (count === 1 ? void waiting.push(stream) : ok(stream, count)),
      { maxConcurrentStreams: 1 },
    )
    const channel = channelTo(server.origin)
    const first = send(channel, '1')
    await eventually(() => waiting.length === 1)
    const abort = new AbortController()
    const second = channel.send(MESSAGE, contextOf('2', { signal: abort.signal }))
    // On the open connection a request leaves within this turn, if nothing holds it.
    await new Promise((resolve) => setImmediate(resolve))
    abort.abort()
    expect(await second).toMatchObject({ kind: 'retry', code: 'provider_unavailable' })
    for (const stream of waiting) ok(stream, 0)
    expect(await first).toMatchObject({ kind: 'accepted' })
    await send(channel, '3')
    expect(server.requests.length).toBe(2)
  })

  it('repeats a stream that the server refused unseen', async () => {
    const server = await serve((stream, count) =>
      count === 1 ? stream.close(constants.NGHTTP2_REFUSED_STREAM) : ok(stream, count),
    )
    const channel = channelTo(server.origin)
    expect(await send(channel)).toMatchObject({ kind: 'retry', scope: 'provider' })
    expect(await send(channel)).toMatchObject({ kind: 'accepted' })
  })

  it('does not know what became of a stream that the server reset', async () => {
    const server = await serve((stream) => stream.close(constants.NGHTTP2_INTERNAL_ERROR))
    expect(await send(channelTo(server.origin))).toMatchObject({ kind: 'ambiguous' })
  })

  it.each([
    ['politely', constants.NGHTTP2_NO_ERROR],
    ['with an error', constants.NGHTTP2_INTERNAL_ERROR],
  ])('knows by GOAWAY which messages were not looked at, sent %s', async (_, code) => {
    const seen: ServerHttp2Stream[] = []
    const server = await serve((stream) => {
      seen.push(stream)
      if (seen.length === 4) ok(stream, 0)
      if (seen.length !== 3) return
      const [first] = seen
      // Streams 1, 3 and 5 are open; the server says that it will look at the first alone.
      first?.session?.goaway(code, first.id)
      first?.session?.destroy()
    })
    const channel = channelTo(server.origin)
    const outcomes = await Promise.all(['1', '2', '3'].map((id) => send(channel, id)))
    expect(outcomes.map(({ kind }) => kind)).toEqual(['ambiguous', 'retry', 'retry'])
    expect(await send(channel, '2')).toMatchObject({ kind: 'accepted' })
    expect(server.opened).toBe(2)
  })

  it('lets messages end that are under way when the server says goodbye', async () => {
    const seen: ServerHttp2Stream[] = []
    const server = await serve((stream) => {
      seen.push(stream)
      if (seen.length === 1) stream.session?.goaway(constants.NGHTTP2_NO_ERROR, stream.id)
      else ok(stream, 0)
    })
    const channel = channelTo(server.origin)
    const first = send(channel, '1')
    await eventually(() => seen.length === 1)
    await eventually(async () => (await send(channel, '2')).kind === 'accepted' && server.opened === 2)
    for (const stream of seen.slice(0, 1)) ok(stream, 0)
    expect(await first).toMatchObject({ kind: 'accepted' })
  })

  it.each(['IdleTimeout', 'Shutdown'])('is replaced after %s', async (reason) => {
    const server = await serve((stream, count) =>
      count === 1 ? refuse(503, reason)(stream, count) : ok(stream, count),
    )
    const channel = channelTo(server.origin)
    await send(channel)
    expect(await send(channel)).toMatchObject({ kind: 'accepted' })
    expect(server.opened).toBe(2)
  })

  it('stays when another one, which it replaced, asks to be replaced later', async () => {
    const seen: ServerHttp2Stream[] = []
    const server = await serve((stream, count) => {
      seen.push(stream)
      if (count > 2) ok(stream, count)
    })
    const channel = channelTo(server.origin)
    const under = [send(channel, '1'), send(channel, '2')]
    await eventually(() => seen.length === 2)
    for (const [index, stream] of seen.slice(0, 2).entries()) {
      refuse(503, 'Shutdown')(stream, 0)
      expect(await under[index]).toMatchObject({ kind: 'retry' })
      expect(await send(channel, `${index + 3}`)).toMatchObject({ kind: 'accepted' })
    }
    expect(server.opened).toBe(2)
  })

  it('says by GOAWAY which messages were not looked at, though it stays open', async () => {
    const seen: ServerHttp2Stream[] = []
    const server = await serve((stream) => {
      seen.push(stream)
      const [first] = seen
      if (seen.length === 3) first?.session?.goaway(constants.NGHTTP2_NO_ERROR, first.id)
    })
    const channel = channelTo(server.origin)
    const [first, ...others] = ['1', '2', '3'].map((id) => send(channel, id))
    const unseen = { kind: 'retry', code: 'provider_unavailable', scope: 'provider' }
    expect(await Promise.all(others)).toMatchObject([unseen, unseen])
    for (const stream of seen.slice(0, 1)) ok(stream, 0)
    expect(await first).toMatchObject({ kind: 'accepted' })
  })

  it('is replaced when the server ended it', async () => {
    const server = await serve()
    const channel = channelTo(server.origin)
    await send(channel, '1')
    for (const session of server.sessions) session.destroy()
    await eventually(() => server.sessions.size === 0)
    expect(await eventually(async () => (await send(channel, '2')).kind)).toBe('accepted')
    expect(server.opened).toBe(2)
  })

  it('is asked for a sign of life, and replaced when none comes', async () => {
    const server = await serve()
    const middle = await swallower(server.port)
    const channel = channelTo(`https://localhost:${middle.port}`, { keepAliveMs: 500 })
    await send(channel, '1')
    await eventually(() => server.pings >= 2)

    middle.swallow()
    const lost = send(channel, '2')
    expect(await lost).toMatchObject({ kind: 'ambiguous' })
    middle.pass()
    expect(await send(channel, '3')).toMatchObject({ kind: 'accepted' })
  })

  it.each<[string, () => Promise<string>]>([
    ['that nobody answers', async () => `https://localhost:${await closedPort()}`],
    [
      'that ends at once',
      async () => {
        const { port, close } = await tcpReceiver((socket) => socket.destroy())
        closing.push(close)
        return `https://localhost:${port}`
      },
    ],
  ])('cannot be made to a port %s: nothing was sent', async (_, origin) => {
    const channel = channelTo(await origin())
    expect(await send(channel)).toMatchObject({
      kind: 'retry',
      code: 'provider_unavailable',
      scope: 'provider',
    })
    await expect(channel.check?.()).rejects.toMatchObject({ code: 'provider_unavailable' })
  })

  it('is not made to a server whose certificate nobody vouches for', async () => {
    const server = await serve()
    const outcome = await send(channelTo(server.origin, { ca: undefined }))
    expect(outcome).toMatchObject({ kind: 'retry', code: 'provider_unavailable' })
    expect(server.requests).toEqual([])
  })

  it('is given up when the time of the message ends before it is there', async () => {
    const { port, close } = await tcpReceiver(() => {})
    closing.push(close)
    const abort = new AbortController()
    const channel = channelTo(`https://localhost:${port}`)
    const sending = channel.send(MESSAGE, contextOf('1', { signal: abort.signal }))
    setImmediate(() => abort.abort())
    expect(await sending).toMatchObject({ kind: 'retry', code: 'provider_unavailable' })
  })
})

/** Stands between and, when told, takes everything and passes nothing on: a firewall that forgot the connection. */
async function swallower(target: number) {
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
  closing.push(async () => {
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

describe('apns', () => {
  it.each([
    ['key', { key: 'secret' }],
    [
      'key',
      {
        key: generateKeyPairSync('ec', { namedCurve: 'secp384r1' })
          .privateKey.export({ type: 'pkcs8', format: 'pem' })
          .toString(),
      },
    ],
    ['keyId', { keyId: 'short' }],
    ['teamId', { teamId: 'team123456' }],
    ['topic', { topic: 'no spaces' }],
    ['aps', { aps: { alert: 'mine' } }],
    ['baseUrl', { baseUrl: 'http://localhost' }],
    ['maxPerSecond', { maxPerSecond: 1.5 }],
  ])('names the option "%s" when it is wrong', (option, change) => {
    expect(() => channelTo('https://localhost', change)).toThrow(new RegExp(`apns: "${option}"`))
  })

  it.each([
    [TOKEN, true],
    [TOKEN.toUpperCase(), true],
    ['ab'.repeat(80), true],
    ['ab'.repeat(16), false],
    [`${TOKEN}a`, false],
    [`${TOKEN.slice(2)}/x`, false],
    ['{"endpoint":"https://push.example.com/1"}', false],
  ])('reaches %s: %s', (to, expected) => {
    expect(channelTo('https://localhost').accepts?.(to)).toBe(expected)
  })
})
