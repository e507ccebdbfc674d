import { createRequire } from 'node:module'
import { ApnsClient, Notification, SilentNotification } from 'apns2'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import webPushPackage from 'web-push'
import { fcm } from '../../adapters/channels/fcm/send.ts'
import { webPush } from '../../adapters/channels/web-push/send.ts'
import type { PushContent } from '../../src/core/channels/push.ts'
import type { SendContext } from '../../src/core/ports/provider.ts'
import { createNotifier } from '../../src/index.ts'
import { providerServer } from '../../src/testing/channel/provider-server.ts'
import { APNS_KEY, apnsProvider, apnsServer, CREATED_AT, DEVICE_TOKEN, PUSH } from '../support/apns.ts'
import { sendContext } from '../support/channel-context.ts'
import { FCM_PATH, FCM_TOKEN, fcmMessage, testAccount, tokenReply } from '../support/fcm-server.ts'
import { certificate } from '../support/localhost-certificate.ts'
import { pushClient } from '../support/push-client.ts'
import { httpReceiver } from '../support/receivers.ts'

/* What arrives at the push services of a message with all parts. */

const LINK = 'https://example.com/orders/42'
const IMAGE = 'https://cdn.example.com/a.png'
const FULL: PushContent = {
  data: { order: '42' },
  badge: 3,
  sound: 'ping.caf',
  image: IMAGE,
  link: LINK,
  category: 'ORDER',
  thread: 'orders',
  collapseKey: 'order:42',
  ttlSeconds: 3600,
}

const closing: (() => Promise<unknown> | undefined)[] = []
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: CREATED_AT }))
afterEach(async () => {
  vi.useRealTimers()
  for (const close of closing.splice(0).reverse()) await close()
})

const LIVES: [string, PushContent, Partial<SendContext>, number][] = [
  ["the message's", { ttlSeconds: 3600 }, {}, 3600],
  ["the provider's", {}, {}, 60],
  ['what is left until the expiry', { ttlSeconds: 3600 }, { expiresInMs: 5_900 }, 5],
  ['one try, in the last second', {}, { expiresInMs: 900 }, 0],
  ["the message's, before the expiry", { ttlSeconds: 0 }, { expiresInMs: 5_000 }, 0],
]

describe('APNs', () => {
  async function sent(push: PushContent, more: Partial<SendContext> = {}) {
    const server = await apnsServer()
    const channel = apnsProvider(server.origin, { ttlSeconds: 60, aps: { sound: 'default', 'x-app': 1 } })
    expect(await channel.send({ ...PUSH, push }, sendContext(more))).toMatchObject({ kind: 'accepted' })
    const [request] = server.requests
    return { server, headers: request?.headers, payload: JSON.parse(String(request?.body)) }
  }

  it('gets every part', async () => {
    const { headers, payload } = await sent(FULL)
    expect(headers).toMatchObject({
      'apns-push-type': 'alert',
      'apns-priority': '10',
      'apns-collapse-id': 'order:42',
      'apns-expiration': String(CREATED_AT / 1000 + 3600),
    })
    expect(payload).toEqual({
      order: '42',
      link: LINK,
      image: IMAGE,
      aps: {
        'x-app': 1,
        alert: { title: 'Hello', body: 'Grüße 🎉' },
        badge: 3,
        sound: 'ping.caf',
        category: 'ORDER',
        'thread-id': 'orders',
        'mutable-content': 1,
      },
    })
  })

  it('gets what the package apns2 would send', async () => {
    const { badge, sound, category } = FULL
    const { server } = await sent({ badge: 3, sound: 'ping.caf', category: 'ORDER', thread: 'orders' })
    const silent = await sent({ silent: true, data: { order: '42' } })
    for (const [ours, theirs] of [
      [
        server,
        new Notification(DEVICE_TOKEN, {
          alert: { title: 'Hello', body: 'Grüße 🎉' },
          aps: { 'x-app': 1, badge, sound, category, 'thread-id': 'orders' },
        }),
      ],
      [silent.server, new SilentNotification(DEVICE_TOKEN, { data: { order: '42' } })],
    ] as const) {
      await byApns2(ours.origin, theirs)
      const [first, second] = ours.requests
      expect(JSON.parse(String(first?.body))).toEqual(JSON.parse(String(second?.body)))
      for (const name of ['apns-push-type', 'apns-priority'])
        expect([name, first?.headers[name]]).toEqual([name, second?.headers[name] ?? '10'])
    }
  })

  it('wakes the app without a sign of it when a message is silent', async () => {
    const { headers, payload } = await sent({ silent: true, data: { order: '42' }, collapseKey: 'sync' })
    expect(headers).toMatchObject({
      'apns-push-type': 'background',
      'apns-priority': '5',
      'apns-collapse-id': 'sync',
    })
    expect(payload).toEqual({ order: '42', aps: { 'content-available': 1 } })
  })

  it.each(LIVES)('keeps a message for %s', async (_name, push, more, seconds) => {
    const { headers } = await sent(push, more)
    const expected = seconds === 0 ? '0' : String(CREATED_AT / 1000 + seconds)
    expect(headers?.['apns-expiration']).toBe(expected)
  })

  it('gets no more than it accepts, with link and image', async () => {
    const server = await apnsServer()
    const outcome = await apnsProvider(server.origin).send(
      { ...PUSH, body: 'x'.repeat(3_900), push: { link: LINK, image: IMAGE, data: { a: 'x'.repeat(60) } } },
      sendContext(),
    )
    expect(outcome).toMatchObject({ code: 'message_too_large', scope: 'message' })
    expect(server.requests).toEqual([])
  })
})

/** The package dials port 443 alone: it gets a pool to the test server. */
async function byApns2(origin: string, notification: Notification): Promise<void> {
  const client = new ApnsClient({
    team: 'TEAM123456',
    keyId: 'KEY1234567',
    signingKey: APNS_KEY,
    defaultTopic: 'com.example.app',
    keepAlive: false,
  })
  const { Pool } = createRequire(createRequire(import.meta.url).resolve('apns2'))('undici')
  Reflect.set(client, 'client', new Pool(origin, { allowH2: true, connect: { ca: certificate } }))
  onTestFinished(() => client.destroy())
  await client.send(notification)
}

describe('FCM', () => {
  async function sent(push: PushContent, more: Partial<SendContext> = {}) {
    const server = await providerServer({
      accept: () => ({ status: 200, body: { name: 'projects/demo-project/messages/1' } }),
      aside: ({ path }) => (path === FCM_PATH ? undefined : tokenReply('ya29.token')),
    })
    const channel = fcm({ serviceAccount: testAccount(server.url).file, baseUrl: server.url, ttlSeconds: 60 })
    closing.push(server.close, async () => channel.close?.())
    const message = { to: FCM_TOKEN, subject: 'Hello', body: 'Hi', format: 'text', push } as const
    expect(await channel.send(message, sendContext(more))).toMatchObject({ kind: 'accepted' })
    const [request] = server.taken
    if (request === undefined) throw new Error('Nothing arrived.')
    return fcmMessage(request)
  }

  it('gets every part for each of its platforms', async () => {
    expect(await sent(FULL)).toEqual({
      token: FCM_TOKEN,
      notification: { title: 'Hello', body: 'Hi', image: IMAGE },
      data: { order: '42', link: LINK },
      android: {
        priority: 'HIGH',
        ttl: '3600s',
        collapse_key: 'order:42',
        notification: {
          tag: 'order:42',
          sound: 'ping.caf',
          notification_count: 3,
          click_action: 'ORDER',
        },
      },
      apns: {
        headers: {
          'apns-priority': '10',
          'apns-expiration': String(CREATED_AT / 1000 + 3600),
          'apns-collapse-id': 'order:42',
        },
        payload: {
          aps: {
            badge: 3,
            sound: 'ping.caf',
            category: 'ORDER',
            'thread-id': 'orders',
            'mutable-content': 1,
          },
        },
        fcm_options: { image: IMAGE },
      },
      webpush: {
        headers: { TTL: '3600', Urgency: 'high', Topic: expect.stringMatching(/^[\w-]{32}$/) },
        notification: { tag: 'order:42' },
        fcm_options: { link: LINK },
      },
    })
  })

  it('gets data only of a silent message, at normal priority', async () => {
    const message = await sent({ silent: true, data: { order: '42' } })
    expect(message).toMatchObject({
      data: { order: '42' },
      android: { priority: 'NORMAL', ttl: '60s' },
      apns: {
        headers: { 'apns-push-type': 'background', 'apns-priority': '5' },
        payload: { aps: { 'content-available': 1 } },
      },
      webpush: { headers: { TTL: '60', Urgency: 'normal' } },
    })
    expect(JSON.stringify(message)).not.toMatch(/"notification"|Hello/)
  })

  it('gets the link to an app as data only', async () => {
    const message = await sent({ link: 'myapp://orders/42' })
    expect(message.data).toEqual({ link: 'myapp://orders/42' })
    expect(message.webpush?.fcm_options).toBeUndefined()
  })

  it.each(LIVES)('keeps a message for %s', async (_name, push, more, seconds) => {
    const { android, webpush, apns } = await sent(push, more)
    expect([android?.ttl, webpush?.headers?.TTL]).toEqual([`${seconds}s`, String(seconds)])
    expect(apns?.headers['apns-expiration']).toBe(seconds === 0 ? '0' : String(CREATED_AT / 1000 + seconds))
  })
})

describe('Web Push', () => {
  async function service() {
    const receiver = await httpReceiver((response) => response.writeHead(201).end())
    const vapid = { subject: 'mailto:ops@example.com', ...webPushPackage.generateVAPIDKeys() }
    const channel = webPush({ vapid, allow: ['127.0.0.1'], allowHttp: true, ttlSeconds: 60 })
    closing.push(receiver.close, async () => channel.close?.())
    const client = pushClient()
    const to = client.subscription(`http://127.0.0.1:${receiver.port}/push/abc`)
    const send = (push: PushContent, context: Partial<SendContext> = {}) =>
      channel.send({ to, subject: 'Hello', body: 'Hi', format: 'text', push }, sendContext(context))
    return { channel, client, to, send, requests: receiver.requests }
  }

  it('gets the parts for the service worker, encrypted', async () => {
    const { client, send, requests } = await service()
    expect(await send(FULL)).toMatchObject({ kind: 'accepted' })
    const { sound: _, ttlSeconds: __, ...shown } = FULL
    expect(JSON.parse(client.read(requests[0]?.body ?? Buffer.alloc(0)))).toEqual({
      id: sendContext().notificationId,
      title: 'Hello',
      body: 'Hi',
      ...shown,
    })
    expect(requests[0]?.headers).toMatchObject({ ttl: '3600' })
  })

  it.each([
    ['order-42', /^order-42$/],
    ['order:42', /^[\w-]{32}$/],
    ['x'.repeat(33), /^[\w-]{32}$/],
  ])('gets the collapse key %s as a topic', async (collapseKey, topic) => {
    const { send, requests } = await service()
    await send({ collapseKey })
    await send({ collapseKey })
    await send({ collapseKey: `${collapseKey.slice(0, 31)}!` })
    await send({})
    const topics = requests.map(({ headers }) => headers.topic)
    expect(topics[0]).toMatch(topic)
    expect(topics[1]).toBe(topics[0])
    expect(topics[2]).not.toBe(topics[0])
    expect(topics[3]).toMatch(/^[\w-]{32}$/)
    expect(topics[3]).not.toBe(topics[0])
  })

  it.each(LIVES)('keeps a message for %s', async (_name, push, more, seconds) => {
    const { send, requests } = await service()
    await send(push, more)
    expect(requests[0]?.headers.ttl).toBe(String(seconds))
  })

  it('refuses silent messages at accept', async () => {
    const { channel, to, requests, send } = await service()
    const notifier = createNotifier({ channels: { push: channel } })
    await notifier.start()
    closing.push(() => notifier.stop())
    await expect(notifier.send({ channel: 'push', to, push: { silent: true } })).rejects.toMatchObject({
      code: 'invalid_content',
      status: 422,
      details: { field: 'push.silent', channel: 'push' },
    })
    expect(await send({ silent: true })).toMatchObject({ kind: 'rejected', code: 'invalid_content' })
    expect(requests).toEqual([])
  })
})
