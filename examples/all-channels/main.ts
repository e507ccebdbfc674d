// One notification through every channel, up to what its provider reports, then some to one person: npm run example:all-channels
import { generateKeyPairSync } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createNotifier, type Notifier, type SendInput } from 'carillon'
import { discord } from 'carillon/discord'
import { notifierRouter } from 'carillon/express'
import { fcm } from 'carillon/fcm'
import { slack } from 'carillon/slack'
import { smtp } from 'carillon/smtp'
import { telegram } from 'carillon/telegram'
import { twilio } from 'carillon/twilio'
import { webhook } from 'carillon/webhook'
import { whatsapp } from 'carillon/whatsapp'
import express from 'express'
import { startInbox } from '../server/inbox.ts'
import { explain, say } from '../server/print.ts'
import { startFakeProviders } from './fake-providers.ts'
import { categories, choose, people, toOnePerson, type Until, waiting } from './person.ts'

/** A message, and the last fact to wait for. */
interface Step {
  readonly message: SendInput
  readonly until: Until
}

const PATIENCE_MS = 60_000
/** An earlier opening counts as a scanner's. */
const READING_MS = 2_100

async function listening(): Promise<{ app: express.Express; url: string; close(): Promise<void> }> {
  const app = express()
  const server = createServer(app)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    app,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Reads the mail like a person whose mail client shows images. */
async function read(html: string): Promise<void> {
  await sleep(READING_MS)
  const [, picture] = /<img src="([^"]+)"/.exec(html) ?? []
  if (picture !== undefined) await fetch(picture, { headers: { 'user-agent': 'A mail program' } })
}

/** Waits for a notification's last fact and prints its history. */
async function follow(notifier: Notifier, { message, until }: Step): Promise<void> {
  const { id, channel } = await notifier.send(message)
  for (const deadline = Date.now() + PATIENCE_MS; ; await sleep(50)) {
    const { timeline, status } = await notifier.notifications.get(id)
    if (timeline.some(({ event }) => event === until)) {
      say(channel ?? '', `${id}: ${timeline.map(({ event }) => event).join(' → ')} (${status})`)
      return
    }
    if (Date.now() > deadline) throw new Error(`${channel}: ${id} is ${status} and not ${until}.`)
  }
}

/** @param closers run at the end, last first */
async function main(closers: (() => Promise<void>)[]): Promise<void> {
  const twilioToken = 'the-auth-token-of-the-account'
  const slackSigningSecret = 'the-signing-secret-of-the-app'
  const metaAppSecret = 'the-secret-of-the-app'
  const web = await listening()
  closers.push(web.close)
  const reading: Promise<void>[] = []
  const inbox = await startInbox(({ html }) => void reading.push(read(html)))
  closers.push(inbox.close)
  const elsewhere = await startFakeProviders({
    twilioToken,
    slackSigningSecret,
    slackReceipts: () => `${web.url}/receipts/slack/slack`,
    metaAppSecret,
    whatsappReceipts: () => `${web.url}/receipts/whatsapp/whatsapp`,
  })
  closers.push(elsewhere.close)
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })

  const notifier = createNotifier({
    publicUrl: web.url,
    recipients: { resolve: () => people },
    categories,
    channels: {
      email: smtp({ host: '127.0.0.1', port: inbox.port, from: 'Example <hello@example.com>' }),
      sms: twilio({
        baseUrl: elsewhere.url,
        accountSid: `AC${'0'.repeat(32)}`,
        authToken: twilioToken,
        from: '+15005550006',
        receipts: { url: `${web.url}/receipts/sms/twilio` },
      }),
      push: fcm({
        baseUrl: elsewhere.url,
        serviceAccount: {
          project_id: 'demo',
          client_email: 'sender@demo.iam.gserviceaccount.com',
          private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
          token_uri: `${elsewhere.url}/token`,
        },
      }),
      slack: slack({
        baseUrl: elsewhere.url,
        token: 'xoxb-example',
        receipts: { secret: slackSigningSecret },
      }),
      whatsapp: whatsapp({
        baseUrl: elsewhere.url,
        accessToken: 'a-token',
        phoneNumberId: '106540352242922',
        receipts: { secret: metaAppSecret, verifyToken: 'a-text-of-our-own' },
      }),
      telegram: telegram({ baseUrl: elsewhere.url, token: '123456:the-token-of-the-bot-of-the-shop-here' }),
      discord: discord({
        url: `${elsewhere.url}/api/webhooks/123456789012345678/a-token-of-a-webhook`,
        to: '#orders',
      }),
      // The receiver is on this machine. By default only public https addresses are called.
      webhook: webhook({ allow: ['127.0.0.1/32'], allowHttp: true }),
    },
  })
  notifier.on('error', (error) => console.error(`Behind the scenes: ${explain(error)}`))
  web.app.use(notifierRouter(notifier, { https: 'allow-loopback' }))
  closers.push(() => notifier.stop())
  await notifier.start()

  await notifier.organizations.update('org_default', { tracking: { opens: true } })
  const content = Buffer.from('Thank you.\n').toString('base64')
  const steps: readonly Step[] = [
    {
      message: {
        channel: 'email',
        to: 'ada@example.com',
        subject: 'Your order',
        body: '<p>It is on its way.</p>',
        email: { attachments: [{ filename: 'thanks.txt', contentType: 'text/plain', content }] },
      },
      until: 'opened',
    },
    { message: { channel: 'sms', to: '+4915112345678', body: 'It is on its way.' }, until: 'delivered' },
    {
      message: {
        channel: 'push',
        to: `dQw4w9WgXcQ:APA91b${'x'.repeat(134)}`,
        body: 'It is on its way.',
        push: { data: { order: '42' } },
      },
      until: 'sent',
    },
    {
      message: {
        channel: 'slack',
        to: 'C0123456789',
        body: 'Order 42 is on its way.',
        slack: {
          blocks: [{ type: 'section', text: { type: 'mrkdwn', text: '*Order 42* is on its way.' } }],
        },
      },
      until: 'reported',
    },
    {
      // A template that Meta has approved stands in for the text.
      message: {
        channel: 'whatsapp',
        to: '+4915112345678',
        whatsapp: { approvedTemplate: { name: 'order_shipped', language: 'en_US' } },
      },
      until: 'delivered',
    },
    {
      message: {
        channel: 'telegram',
        to: '@orders',
        body: 'Order 42 is on its way.',
        telegram: { buttons: [[{ text: 'Track it', url: 'https://shop.example/orders/42' }]] },
      },
      until: 'sent',
    },
    {
      message: { channel: 'discord', to: '#orders', body: '**Order 42** is on its way.' },
      until: 'sent',
    },
    {
      message: { channel: 'webhook', to: `${elsewhere.url}/orders`, body: '{"order":42}' },
      until: 'delivered',
    },
  ]
  await choose(notifier)
  for (const step of [...steps, ...toOnePerson]) await follow(notifier, step)
  await waiting(notifier, say)
  await Promise.all(reading)
  say(
    'Done',
    'every channel has delivered, and the person got what they want; reports of providers are in the histories',
  )
}

const closers: (() => Promise<void>)[] = []
try {
  await main(closers)
} catch (error) {
  console.error(explain(error))
  process.exitCode = 1
} finally {
  for (const close of closers.reverse()) await close()
}
