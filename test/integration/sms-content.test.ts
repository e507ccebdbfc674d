import { SMS } from '@vonage/sms'
import twilioPackage from 'twilio'
import { describe, expect, it, onTestFinished } from 'vitest'
import { sns } from '../../adapters/channels/sns/send.ts'
import { twilio } from '../../adapters/channels/twilio/send.ts'
import { vonage } from '../../adapters/channels/vonage/send.ts'
import type { SmsContent } from '../../src/core/channels/sms.ts'
import type { Provider } from '../../src/core/ports/provider.ts'
import { createNotifier } from '../../src/index.ts'
import { providerServer } from '../../src/testing/channel/provider-server.ts'
import { recordingProvider } from '../../src/testing/recording-provider.ts'
import { sendContext } from '../support/channel-context.ts'
import { inMemory } from '../support/in-memory.ts'
import { ACCOUNT, created, ROWS } from '../support/twilio.ts'

/* Senders and media of text messages, from the send to the provider. */

const TO = '+14155550123'
const MEDIA = ['https://cdn.example.com/a.png', 'https://cdn.example.com/b.pdf']
const ANSWERS = {
  vonage: { status: 200, body: { messages: [{ status: '0', 'message-id': 'id' }] } },
  sns: {
    status: 200,
    headers: { 'content-type': 'text/xml' },
    body: '<PublishResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/"><PublishResult><MessageId>567910cd-659e-55d4-8ccb-5aaf00000001</MessageId></PublishResult></PublishResponse>',
  },
}

function closed(close: (() => Promise<void> | void) | undefined): void {
  onTestFinished(async () => close?.())
}

async function overTwilio(more: Partial<Parameters<typeof twilio>[0]> = {}) {
  const server = await providerServer({ accept: created, rows: ROWS })
  const options = { accountSid: ACCOUNT, authToken: 'a-secret-token', baseUrl: server.url }
  const provider = twilio({ ...options, from: '+15005550006', senders: ['12345', 'Trains'], ...more })
  closed(server.close)
  closed(() => provider.close?.())
  return { server, provider, form: () => new URLSearchParams(server.taken[0]?.body.toString('utf8')) }
}

async function overVonage() {
  const server = await providerServer({ accept: () => ANSWERS.vonage })
  const options = { apiKey: 'abcd1234', apiSecret: 'correct-horse', baseUrl: server.url }
  const provider = vonage({ ...options, from: '4915112345678', senders: ['+4915187654321', 'Trains'] })
  closed(server.close)
  closed(() => provider.close?.())
  return { server, provider }
}

async function overSns() {
  const server = await providerServer({ accept: () => ANSWERS.sns })
  const credentials = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'correct-horse-battery' }
  const provider = sns({
    region: 'eu-central-1',
    credentials,
    baseUrl: server.url,
    senderId: 'Default',
    senders: ['Trains', '+15005550010'],
  })
  closed(server.close)
  closed(() => provider.close?.())
  return { provider, form: () => new URLSearchParams(server.taken[0]?.body.toString('utf8')) }
}

const hand = (provider: Provider, sms: SmsContent, body = 'Hi') =>
  provider.send({ to: TO, subject: null, body, format: 'text', sms }, sendContext())

async function notifierOf(...providers: Provider[]) {
  const notifier = createNotifier({ storage: inMemory(), channels: { sms: providers } })
  closed(() => notifier.stop())
  await notifier.start()
  return notifier
}

describe('Twilio', () => {
  it("gets sender and media as Twilio's own client sends them", async () => {
    const { server, provider } = await overTwilio()
    expect(await hand(provider, { from: '12345', media: MEDIA })).toMatchObject({ kind: 'accepted' })
    const { hostname, port } = new URL(server.url)
    const client = twilioPackage(ACCOUNT, 'a-secret-token', {
      httpClient: {
        // The client knows no other address than Twilio's.
        request: (options) =>
          new twilioPackage.RequestClient().request({
            ...options,
            uri: options.uri.replace('https://api.twilio.com', `http://${hostname}:${port}`),
          }),
      } as InstanceType<typeof twilioPackage.RequestClient>,
    })
    await client.messages.create({ to: TO, from: '12345', body: 'Hi', mediaUrl: MEDIA })
    const [ours, theirs] = server.taken.map(({ body }) => [
      ...new URLSearchParams(body.toString('utf8')).entries(),
    ])
    expect(ours?.sort()).toEqual(theirs?.sort())
  })

  it('gets media without a text, and a sender in place of the messaging service', async () => {
    const messagingServiceSid = `MG${'ab'.repeat(16)}`
    const { provider, form } = await overTwilio({ from: undefined, messagingServiceSid })
    await hand(provider, { from: 'Trains', media: MEDIA.slice(0, 1) }, '')
    expect([...form().entries()]).toEqual([
      ['To', TO],
      ['From', 'Trains'],
      ['MediaUrl', MEDIA[0]],
    ])
  })

  it("is not paused by a message's own sender that it refuses", async () => {
    const { server, provider } = await overTwilio()
    server.act({ kind: 'answer', row: 'error 21606' })
    expect(await hand(provider, { from: '12345' })).toMatchObject({
      code: 'invalid_sender',
      scope: 'recipient',
    })
    server.act({ kind: 'answer', row: 'error 21212' })
    expect(await hand(provider, { from: '12345' })).toMatchObject({
      code: 'invalid_sender',
      scope: 'message',
    })
    expect(await hand(provider, {})).toMatchObject({ code: 'invalid_sender', scope: 'account' })
  })
})

describe('Vonage and Amazon SNS', () => {
  it('get the sender, Vonage as its own client sends it', async () => {
    const { server, provider } = await overVonage()
    await hand(provider, { from: '+4915187654321' })
    const auth = { apiKey: 'abcd1234', apiSecret: 'correct-horse' }
    await new SMS(auth, { restHost: server.url }).send({ to: TO.slice(1), from: '4915187654321', text: 'Hi' })
    const [ours] = server.taken.map(({ body }) => JSON.parse(body.toString('utf8')))
    const theirs = server.taken[1]?.body.toString('utf8') ?? ''
    const sent = theirs.startsWith('{') ? JSON.parse(theirs) : Object.fromEntries(new URLSearchParams(theirs))
    expect(ours).toMatchObject({ from: sent.from, to: sent.to, text: sent.text })
  })

  it.each([
    ['Trains', 'AWS.SNS.SMS.SenderID'],
    ['+15005550010', 'AWS.MM.SMS.OriginationNumber'],
  ])('get %s as %s', async (from, attribute) => {
    const { provider, form } = await overSns()
    expect(await hand(provider, { from })).toMatchObject({ kind: 'accepted' })
    const values = [...form().values()]
    expect(values).toEqual(expect.arrayContaining([attribute, from]))
    expect(values).not.toContain('Default')
  })

  it('leave media to a provider that carries them, or are refused at accept', async () => {
    const mms = await overTwilio()
    const [{ provider: v }, { provider: s }] = await Promise.all([overVonage(), overSns()])
    const both = await notifierOf(v, s, mms.provider)
    const { id } = await both.send({ channel: 'sms', to: TO, sms: { media: MEDIA } })
    expect(await both.waitFor(id, { timeoutMs: 10_000 })).toMatchObject({
      status: 'sent',
      provider: 'twilio',
    })
    const [{ provider: v2 }, { provider: s2 }] = await Promise.all([overVonage(), overSns()])
    const without = await notifierOf(v2, s2)
    await expect(without.send({ channel: 'sms', to: TO, sms: { media: MEDIA } })).rejects.toMatchObject({
      code: 'invalid_content',
      status: 422,
      details: { field: 'sms.media', channel: 'sms' },
    })
  })
})

describe('a sender', () => {
  it('is refused at accept when no provider has it', async () => {
    const { provider } = await overTwilio()
    const notifier = await notifierOf(provider)
    for (const from of ['+15005550006', '12345', 'Trains'])
      expect(await notifier.send({ channel: 'sms', to: TO, body: 'x', sms: { from } })).toBeDefined()
    for (const from of ['+15005550007', 'trains', '12346'])
      await expect(notifier.send({ channel: 'sms', to: TO, body: 'x', sms: { from } })).rejects.toMatchObject(
        {
          code: 'invalid_sender',
          details: { field: 'sms.from', channel: 'sms' },
        },
      )
  })

  it.each<[string, object, string]>([
    ['a long name', { from: 'A name too long' }, 'sms.from'],
    ['a name with other characters', { from: 'Züge' }, 'sms.from'],
    ['a name with spaces at its ends', { from: ' Trains' }, 'sms.from'],
    ['a national number', { from: '015112345678' }, 'sms.from'],
    ['two digits', { from: '12' }, 'sms.from'],
    ['an empty text', { from: '' }, 'sms.from'],
    ['media without TLS', { media: ['http://cdn.example.com/a.png'] }, 'sms.media.0'],
    ['media inline', { media: ['data:image/png;base64,AA=='] }, 'sms.media.0'],
    ['no media', { media: [] }, 'sms.media'],
    ['eleven media', { media: Array.from({ length: 11 }, () => MEDIA[0]) }, 'sms.media'],
    ['another part', { image: MEDIA[0] }, 'sms'],
  ])('or media with a fault are named: %s', async (_name, sms, field) => {
    const notifier = await notifierOf(recordingProvider())
    const message = { channel: 'sms', to: TO, body: 'x', sms } as never
    await expect(notifier.send(message)).rejects.toMatchObject({
      code: 'invalid_parameter',
      details: { field },
    })
  })

  it('needs a text without media', async () => {
    const notifier = await notifierOf(recordingProvider())
    await expect(notifier.send({ channel: 'sms', to: TO, sms: { from: '12345' } })).rejects.toMatchObject({
      code: 'missing_required_field',
    })
  })
})
