import { createPublicKey } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import { jwtVerify } from 'jose'
import { afterEach, describe, expect, it } from 'vitest'
import webPushProvider from 'web-push'
import { type WebPushOptions, webPush } from '../../adapters/channels/web-push/send.ts'
import { classifyHost, PUSH_SERVICES, withPaths } from '../../adapters/channels/web-push/services.ts'
import type { Message, Provider, SendContext } from '../../src/core/ports/provider.ts'
import { sendContext } from '../support/channel-context.ts'
import { certificate } from '../support/localhost-certificate.ts'
import { pushClient } from '../support/push-client.ts'
import { closedPort, httpReceiver, httpsReceiver, tcpReceiver } from '../support/receivers.ts'

const VAPID = { subject: 'mailto:ops@example.com', ...webPushProvider.generateVAPIDKeys() }
const OPEN = { allow: ['127.0.0.1'], allowHttp: true } as const

const closing: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

function channelOf(change: Partial<WebPushOptions> = {}): Provider {
  const channel = webPush({ vapid: VAPID, ...OPEN, ...change })
  closing.push(() => channel.close?.())
  return channel
}

async function service(status = 201, body = '') {
  const receiver = await httpReceiver((response) => response.writeHead(status).end(body))
  closing.push(receiver.close)
  return { ...receiver, endpoint: `http://127.0.0.1:${receiver.port}/push/abc` }
}

const send = (
  channel: Provider,
  to: string,
  change: Partial<Message> = {},
  more: Partial<SendContext> = {},
) => channel.send({ to, subject: 'Hello', body: 'Grüße 🎉', format: 'text', ...change }, sendContext(more))

describe('the client of these tests', () => {
  it('reads the example of RFC 8291, section 5', () => {
    const client = pushClient({
      privateKey: 'q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94',
      auth: 'BTBZMqHH6r4Tts7J_aSIgg',
    })
    const body =
      'DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN'
    expect(client.read(Buffer.from(body, 'base64url'))).toBe('When I grow up, I want to be a watermelon')
  })
})

describe('a message by web push', () => {
  it('can be read by the browser that subscribed, and by no other', async () => {
    const { endpoint, requests } = await service()
    const client = pushClient()
    const outcome = await send(channelOf(), client.subscription(endpoint), {
      push: { data: { order: '42' } },
    })
    expect(outcome.kind).toBe('accepted')
    const body = requests[0]?.body ?? Buffer.alloc(0)
    expect(JSON.parse(client.read(body))).toEqual({
      id: expect.stringMatching(/^notif_\d+$/),
      title: 'Hello',
      body: 'Grüße 🎉',
      data: { order: '42' },
    })
    expect(() => pushClient().read(body)).toThrow()
    expect(body.includes('Hello')).toBe(false)
  })

  it('goes over a connection of its organization alone', async () => {
    const receiver = await httpReceiver((response) => response.writeHead(201).end())
    closing.push(receiver.close)
    const to = pushClient().subscription(`http://127.0.0.1:${receiver.port}/push/abc`)
    const channel = channelOf()
    for (const organizationId of ['org_a', 'org_b', 'org_a', 'org_b']) {
      expect((await send(channel, to, {}, { organizationId })).kind).toBe('accepted')
      // The connection is free one turn after its answer.
      await turn()
    }
    expect(receiver.connections).toBe(2)
  })

  it('carries its life, urgency and topic, and is signed for the origin of the endpoint', async () => {
    const { endpoint, requests, port } = await service()
    const channel = channelOf({ ttlSeconds: 60, urgency: 'high' })
    const contexts = [{}, { idempotencyKey: 'retried' }, { notificationId: 'notif_2' }]
    for (const more of contexts) await send(channel, pushClient().subscription(endpoint), {}, more)
    const [first, again, other] = requests
    expect(first?.headers).toMatchObject({
      ttl: '60',
      urgency: 'high',
      topic: expect.stringMatching(/^[\w-]{32}$/),
      'content-encoding': 'aes128gcm',
      'content-type': 'application/octet-stream',
      'content-length': String(first?.body.length),
    })
    expect(again?.headers.topic).toBe(first?.headers.topic)
    expect(other?.headers.topic).not.toBe(first?.headers.topic)

    const [, token, key] = /^vapid t=(.+), k=(.+)$/.exec(first?.headers.authorization ?? '') ?? []
    expect(key).toBe(VAPID.publicKey)
    const { payload } = await jwtVerify(token ?? '', publicKeyOf(VAPID.publicKey), {
      algorithms: ['ES256'],
      audience: `http://127.0.0.1:${port}`,
      subject: 'mailto:ops@example.com',
      requiredClaims: ['exp'],
    })
    // RFC 8292 2: not more than 24 hours.
    expect((payload.exp ?? 0) - Date.now() / 1000).toBeLessThan(86_400)
  })

  it('fills a push service, and no more', async () => {
    const { endpoint, requests } = await service()
    const to = pushClient().subscription(endpoint)
    const channel = channelOf()
    const frame = JSON.stringify({ id: sendContext().notificationId, title: 'Hello', body: '' }).length
    expect(await send(channel, to, { body: 'x'.repeat(3_993 - frame) })).toMatchObject({ kind: 'accepted' })
    expect(requests[0]?.body.length).toBe(4_096)
    expect(await send(channel, to, { body: 'x'.repeat(3_994 - frame) })).toMatchObject({
      kind: 'rejected',
      code: 'message_too_large',
    })
    expect(requests.length).toBe(1)
  })

  it('goes over TLS to a service with a private authority', async () => {
    const receiver = await httpsReceiver((response) => response.writeHead(201).end())
    closing.push(receiver.close)
    const to = pushClient().subscription(`https://localhost:${receiver.port}/1`)
    expect(await send(channelOf({ allowHttp: false, ca: certificate }), to)).toMatchObject({
      kind: 'accepted',
    })
  })
})

describe('an endpoint that a user chose', () => {
  it.each([
    'http://push.example.com/1',
    'https://127.0.0.1/1',
    'https://169.254.169.254/latest/meta-data',
    'https://[::1]:8443/1',
    'https://localhost/1',
    'https://user:pass@push.example.com/1',
    'https://push.example.com:22/1',
  ])('cannot lead to %s', async (endpoint) => {
    const channel = channelOf({ allow: undefined, allowHttp: undefined })
    const to = pushClient().subscription(endpoint)
    expect(channel.accepts?.(to)).toBe(false)
    expect(await send(channel, to)).toMatchObject({
      kind: 'rejected',
      code: 'blocked_address',
      scope: 'recipient',
    })
  })

  it.each([401, 403, 429, 500, 503])('speaks for itself alone with %s', async (status) => {
    const { endpoint } = await service(status)
    const outcome = await send(channelOf(), pushClient().subscription(endpoint))
    expect(outcome).toMatchObject({ scope: 'recipient' })
  })

  it('is no known service because its name ends alike', async () => {
    const { endpoint } = await service(401)
    const channel = channelOf({ pushServices: ['7.0.0.1', '.0.0.1', 'fcm.googleapis.com'] })
    expect(await send(channel, pushClient().subscription(endpoint))).toMatchObject({ scope: 'recipient' })
  })

  it('is no subscription of a known service at another path of its host', async () => {
    const { endpoint } = await service(401)
    const to = pushClient().subscription(endpoint)
    const scope = async (pushServices: string[]) => send(channelOf({ pushServices }), to)
    expect(await scope(['127.0.0.1/push/'])).toMatchObject({ scope: 'account' })
    expect(await scope(['127.0.0.1/wpush/', '127.0.0.1/push/abc', '*.127.0.0.1'])).toMatchObject({
      scope: 'recipient',
    })
  })

  it.each([
    ['https://fcm.googleapis.com/fcm/send/a:APA91b', 'service'],
    ['https://fcm.googleapis.com/wp/a:APA91b', 'service'],
    ['https://updates.push.services.mozilla.com/wpush/v2/gAAAA', 'service'],
    ['https://web.push.apple.com/QGuQ', 'service'],
    ['https://wns2-par02p.notify.windows.com/w/?token=a%3d', 'below'],
    ['https://db5.notify.windows.com/?token=a%3d', 'below'],
    ['https://fcm.googleapis.com/v1/projects/x/messages:send', 'elsewhere'],
    ['https://fcm.googleapis.com/fcm/send', 'elsewhere'],
    ['https://fcm.googleapis.com/fcm/send/', 'elsewhere'],
    ['https://fcm.googleapis.com/fcm/send/../../v1/x', 'elsewhere'],
    ['https://fcm.googleapis.com/fcm/send/..%2f..%2fv1/x', 'elsewhere'],
    ['https://fcm.googleapis.com:8443/fcm/send/x', 'elsewhere'],
    ['https://made-up.push.services.mozilla.com/wpush/v2/x', 'elsewhere'],
    ['https://made-up.fcm.googleapis.com/fcm/send/x', 'below'],
    ['https://notify.windows.com/w/?token=x', 'elsewhere'],
    ['https://api.push.apple.com/3/device/ab', 'elsewhere'],
  ])('%s is at a known service: %s', (endpoint, place) => {
    const bare = ['fcm.googleapis.com', 'push.services.mozilla.com', 'push.apple.com', 'notify.windows.com']
    expect(classifyHost(PUSH_SERVICES, endpoint)).toBe(place)
    expect(classifyHost(withPaths(bare), endpoint)).toBe(place)
  })

  it('below a known service where nobody listens holds up no other', async () => {
    const to = pushClient().subscription(`http://made-up.localhost:${await closedPort()}/1`)
    const channel = channelOf({ pushServices: ['localhost'], allow: ['127.0.0.0/8', '::1/128'] })
    expect(await send(channel, to)).toMatchObject({ kind: 'retry', scope: 'recipient' })
  })

  it('where nobody listens holds up no other', async () => {
    const to = pushClient().subscription(`http://127.0.0.1:${await closedPort()}/1`)
    expect(await send(channelOf(), to)).toMatchObject({
      kind: 'retry',
      code: 'provider_unavailable',
      scope: 'recipient',
    })
    expect(await send(channelOf({ pushServices: ['127.0.0.1'] }), to)).toMatchObject({ scope: 'provider' })
  })

  it('that falls silent leaves nobody knowing', async () => {
    const { port, close } = await tcpReceiver((socket) => socket.resume())
    closing.push(close)
    const to = pushClient().subscription(`http://127.0.0.1:${port}/1`)
    expect(await send(channelOf({ timeoutMs: 800 }), to)).toMatchObject({ kind: 'ambiguous' })
  })
})

describe('webPush', () => {
  const { publicKey, privateKey } = VAPID
  it.each<[string, Partial<WebPushOptions>]>([
    ['vapid', { vapid: { ...VAPID, publicKey: webPushProvider.generateVAPIDKeys().publicKey } }],
    ['vapid', { vapid: { ...VAPID, privateKey: 'AAAA' } }],
    ['vapid.subject', { vapid: { subject: 'ops@example.com', publicKey, privateKey } }],
    ['vapid.publicKey', { vapid: { ...VAPID, publicKey: 'not base64url!' } }],
    ['pushServices.0', { pushServices: ['https://push.example.com'] }],
    ['maxPerSecond', { maxPerSecond: -1 }],
  ])('names the option "%s" when it is wrong', (option, change) => {
    expect(() => channelOf(change)).toThrow(`webPush: "${option}"`)
  })

  const sound = JSON.parse(pushClient().subscription('https://updates.push.services.mozilla.com/wpush/v2/x'))
  const withKeys = (keys: object) => JSON.stringify({ ...sound, keys: { ...sound.keys, ...keys } })
  it.each<[string, string, boolean]>([
    ['a subscription', JSON.stringify(sound), true],
    ['a subscription without an endpoint', JSON.stringify({ keys: sound.keys }), false],
    ['a short public key', withKeys({ p256dh: 'AAAA' }), false],
    ['a compressed public key', withKeys({ p256dh: Buffer.alloc(65, 2).toString('base64url') }), false],
    ['a short secret', withKeys({ auth: 'AAAA' }), false],
    ['JSON of something else', '{"a":1}', false],
    ['broken JSON', '{"endpoint":', false],
    ['a device token', 'ab'.repeat(32), false],
    ['an array', `[${JSON.stringify(sound)}]`, false],
  ])('classifies %s', (_, to, expected) => {
    expect(channelOf().accepts?.(to)).toBe(expected)
  })

  it('refuses a public key that is no point of the curve', async () => {
    const beside = Buffer.alloc(65, 7)
    beside[0] = 4
    const { endpoint, requests } = await service()
    const to = JSON.stringify({
      ...sound,
      endpoint,
      keys: { ...sound.keys, p256dh: beside.toString('base64url') },
    })
    expect(await send(channelOf(), to)).toMatchObject({ kind: 'rejected', code: 'invalid_device_token' })
    expect(requests).toEqual([])
  })
})

function publicKeyOf(base64url: string) {
  const point = Buffer.from(base64url, 'base64url')
  return createPublicKey({
    format: 'jwk',
    key: {
      kty: 'EC',
      crv: 'P-256',
      x: point.subarray(1, 33).toString('base64url'),
      y: point.subarray(33).toString('base64url'),
    },
  })
}
