import { generateKeyPairSync } from 'node:crypto'
import { afterEach, expect, it } from 'vitest'
import webPushProvider from 'web-push'
import { apns } from '../../adapters/channels/apns/send.ts'
import { fcm } from '../../adapters/channels/fcm/send.ts'
import { webPush } from '../../adapters/channels/web-push/send.ts'
import { createNotifier, type NotificationEvent, type Notifier } from '../../src/index.ts'
import { providerServer } from '../../src/testing/channel/provider-server.ts'
import { eventually } from '../support/eventually.ts'
import { FCM_PATH, FCM_TOKEN, testAccount, tokenReply } from '../support/fcm-server.ts'
import { http2Server } from '../support/http2-server.ts'
import { certificate } from '../support/localhost-certificate.ts'
import { pushClient } from '../support/push-client.ts'
import { httpReceiver } from '../support/receivers.ts'

const APNS_TOKEN = 'ab'.repeat(32)
const DEAD_TOKEN = 'de'.repeat(32)
const DEAD_SINCE = Date.UTC(2026, 0, 15, 12)

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

interface Fixture {
  readonly notifier: Notifier
  readonly subscription: string
  readonly events: readonly NotificationEvent[]
  /** What reached whom. */
  arrived(): { readonly apns: string[]; readonly fcm: string[]; readonly webPush: string[] }
}

async function fixture(): Promise<Fixture> {
  const apple = await http2Server((stream, { headers }) => {
    const isDead = String(headers[':path']).endsWith(DEAD_TOKEN)
    stream.respond({ ':status': isDead ? 410 : 200 })
    stream.end(isDead ? JSON.stringify({ reason: 'Unregistered', timestamp: DEAD_SINCE }) : '')
  })
  const google = await providerServer({
    accept: (_, number) => ({ status: 200, body: { name: `projects/demo-project/messages/${number}` } }),
    aside: ({ path }) => (path === FCM_PATH ? undefined : tokenReply('ya29.token')),
  })
  const browser = pushClient()
  const pushService = await httpReceiver((response) => response.writeHead(201).end())
  closing.push(apple.close, google.close, pushService.close)
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  const notifier = createNotifier({
    channels: {
      push: [
        apns({
          key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
          keyId: 'KEY1234567',
          teamId: 'TEAM123456',
          topic: 'com.example.app',
          baseUrl: apple.origin,
          ca: certificate,
        }),
        fcm({ serviceAccount: testAccount(google.url).file, baseUrl: google.url }),
        webPush({
          vapid: { subject: 'mailto:ops@example.com', ...webPushProvider.generateVAPIDKeys() },
          allow: ['127.0.0.1'],
          allowHttp: true,
          maxPerSecond: 500,
        }),
      ],
    },
  })
  const events: NotificationEvent[] = []
  for (const type of ['notification.sent', 'notification.failed'] as const) {
    notifier.on(type, (event) => events.push(event))
  }
  closing.push(() => notifier.stop())
  await notifier.start()
  return {
    notifier,
    subscription: browser.subscription(`http://127.0.0.1:${pushService.port}/1`),
    events,
    arrived: () => ({
      apns: apple.requests.map(({ body }) => JSON.parse(String(body)).aps.alert.body),
      fcm: google.taken.map(({ body }) => JSON.parse(String(body)).message.notification.body),
      webPush: pushService.requests.map(({ body }) => JSON.parse(browser.read(body)).body),
    }),
  }
}

it('hands each token to the provider that reaches it', async () => {
  const { notifier, subscription, events, arrived } = await fixture()
  const tokens = [
    [APNS_TOKEN, 'for Apple'],
    [FCM_TOKEN, 'for Google'],
    [subscription, 'for a browser'],
  ] as const
  for (const [to, body] of tokens) await notifier.send({ channel: 'push', to, body })
  await eventually(() => events.length === 3)
  expect(arrived()).toEqual({ apns: ['for Apple'], fcm: ['for Google'], webPush: ['for a browser'] })
  expect(events.map(({ event }) => event)).toEqual(Array(3).fill('notification.sent'))
})

it.each([
  ['a token of nobody', 'some-token'],
  ['a subscription at a private address', pushClient().subscription('http://10.0.0.1/1')],
])('refuses %s at the send', async (_, to) => {
  const { notifier } = await fixture()
  await expect(notifier.send({ channel: 'push', to, body: 'Hi' })).rejects.toMatchObject({
    code: 'invalid_recipient',
    status: 422,
  })
})

it('announces a token that died, and since when', async () => {
  const { notifier, events } = await fixture()
  await notifier.send({ channel: 'push', to: DEAD_TOKEN, body: 'Hi' })
  await eventually(() => events.length === 1)
  expect(events[0]).toMatchObject({
    event: 'notification.failed',
    data: {
      to: DEAD_TOKEN,
      status: 'failed',
      error: { code: 'device_unregistered', since: '2026-01-15T12:00:00.000Z' },
    },
  })
})
