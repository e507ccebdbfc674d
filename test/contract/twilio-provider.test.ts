import twilioProvider from 'twilio'
import { describe, expect, it, onTestFinished, test } from 'vitest'
import { TWILIO_ERRORS } from '../../adapters/channels/twilio/errors.ts'
import { twilio } from '../../adapters/channels/twilio/send.ts'
import { httpProviderHarness } from '../../src/testing/channel/http-harness.ts'
import { providerServer } from '../../src/testing/channel/provider-server.ts'
import type { ReceivedRequest } from '../../src/testing/channel/receiver.ts'
import { providerContract } from '../../src/testing/provider-contract.ts'
import { sendContext } from '../support/channel-context.ts'
import { ACCOUNT, account, asked, CODES, created, ROWS, refusal, sidOf } from '../support/twilio.ts'

const TOKEN = 'correct-horse-battery-staple'
const FROM = '+15005550006'
const TO = '+14155550123'

function channelAt(baseUrl: string, more: Partial<Parameters<typeof twilio>[0]> = {}) {
  return twilio({
    accountSid: ACCOUNT,
    authToken: TOKEN,
    from: FROM,
    baseUrl,
    maxConcurrent: 4,
    receipts: { url: 'https://app.example/receipts/sms/twilio' },
    ...more,
  })
}

providerContract(
  test,
  () =>
    httpProviderHarness({
      provider: (url) => channelAt(url),
      message: { to: TO, subject: null, body: '', format: 'text' },
      secrets: [TOKEN, Buffer.from(`${ACCOUNT}:${TOKEN}`).toString('base64')],
      accept: created,
      aside: account('active'),
      take: asked,
      rows: ROWS,
    }),
  ROWS,
  { http: true },
)

it.each([
  { from: '12345' },
  { from: 'Example' },
  { from: undefined, messagingServiceSid: `MG${'ab'.repeat(16)}` },
])('%o that cannot reach one country ends that message alone', async (sender) => {
  const server = await providerServer({ accept: created, rows: ROWS })
  const channel = channelAt(server.url, sender)
  onTestFinished(async () => {
    await channel.close?.()
    await server.close()
  })
  for (const providerCode of ['21606', '21659']) {
    server.act({ kind: 'answer', row: `error ${providerCode}` })
    const outcome = await channel.send({ to: TO, subject: null, body: 'Hi', format: 'text' }, sendContext())
    expect(outcome).toMatchObject({
      kind: 'rejected',
      code: 'invalid_sender',
      scope: 'recipient',
      providerCode,
    })
  }
})

it('has a row for each code of its table', () => {
  expect([...CODES].sort()).toEqual(Object.keys(TWILIO_ERRORS).sort())
})

describe("Twilio's own client", () => {
  async function start() {
    const server = await providerServer({ accept: created, rows: ROWS })
    const { hostname, port } = new URL(server.url)
    const client = twilioProvider(ACCOUNT, TOKEN, {
      httpClient: {
        // The client knows no other address than Twilio's.
        request: (options) =>
          new twilioProvider.RequestClient().request({
            ...options,
            uri: options.uri.replace('https://api.twilio.com', `http://${hostname}:${port}`),
          }),
      } as twilioProvider.RequestClient,
    })
    const channel = channelAt(server.url)
    onTestFinished(async () => {
      await channel.close?.()
      await server.close()
    })
    return { server, client, channel }
  }

  it('asks for a message as the channel does, and reads the same id', async () => {
    const { server, client, channel } = await start()
    const body = 'Grüße 🎉 & mehr + 100 %'
    const outcome = await channel.send({ to: TO, subject: null, body, format: 'text' }, sendContext())
    const message = await client.messages.create({
      to: TO,
      from: FROM,
      body,
      statusCallback: `https://app.example/receipts/sms/twilio?carillon_id=${sendContext().notificationId}`,
    })
    expect(outcome).toMatchObject({ kind: 'accepted', providerMessageId: sidOf(1) })
    expect(message.sid).toBe(sidOf(2))
    const [ours, theirs] = server.requests
    const read = (request: ReceivedRequest | undefined) => ({
      method: request?.method,
      path: request?.path,
      type: request?.headers['content-type'],
      authorization: request?.headers.authorization,
      form: Object.fromEntries(new URLSearchParams(request?.body.toString('utf8'))),
    })
    expect(read(ours)).toEqual(read(theirs))
  })

  it('reads the refusals of the fake with the same codes', async () => {
    const { server, client } = await start()
    for (const { row, reply } of ROWS.filter(({ row }) => /^error \d/.test(row)).slice(0, 8)) {
      server.act({ kind: 'answer', row })
      await expect(client.messages.create({ to: TO, from: FROM, body: 'x' })).rejects.toMatchObject({
        status: reply.status,
        code: (reply.body as { code: number }).code,
      })
    }
  })
})

describe('options', () => {
  it('choose the sender and how long a message is worth something', async () => {
    const server = await providerServer({ accept: created })
    const messagingServiceSid = `MG${'ab'.repeat(16)}`
    const channel = channelAt(server.url, {
      from: undefined,
      messagingServiceSid,
      validitySeconds: 300,
      receipts: undefined,
    })
    onTestFinished(async () => {
      await channel.close?.()
      await server.close()
    })
    await channel.send({ to: TO, subject: 'ignored', body: 'Hi', format: 'text' }, sendContext())
    expect(Object.fromEntries(new URLSearchParams(server.taken[0]?.body.toString('utf8')))).toEqual({
      To: TO,
      MessagingServiceSid: messagingServiceSid,
      Body: 'Hi',
      ValidityPeriod: '300',
    })
  })

  it.each(['AT&T', 'Foo-Bar_1', 'A+B C', '12345', '+15005550006'])('take the sender %s', (from) => {
    expect(() => channelAt('https://api.twilio.com', { from })).not.toThrow()
  })

  it.each([
    ['accountSid', { accountSid: 'AC1' }],
    ['authToken', { authToken: undefined }],
    ['from', { from: undefined }],
    ['from', { messagingServiceSid: `MG${'ab'.repeat(16)}` }],
    ['from', { from: 'A name that is too long' }],
    ['from', { from: 'Bücher' }],
    ['receipts.url', { receipts: { url: 'https://app.example/receipts?x=1' } }],
    ['receipts.secret', { authToken: undefined, apiKey: { sid: `SK${'0'.repeat(32)}`, secret: TOKEN } }],
    ['validitySeconds', { validitySeconds: 36_001 }],
    ['baseUrl', { baseUrl: 'http://api.twilio.com' }],
  ])('are refused by name: %s', (option, wrong) => {
    expect(() => channelAt('https://api.twilio.com', wrong)).toThrow(`"${option}"`)
  })

  it('a check with an API key asks what a standard key may ask', async () => {
    const refused = refusal(401, 20003, 'Authenticate')
    const asked: string[] = []
    const server = await providerServer({
      accept: created,
      aside: ({ path, headers }) => {
        asked.push(path)
        const isKnown = headers.authorization === `Basic ${Buffer.from(`${key}:${TOKEN}`).toString('base64')}`
        return isKnown && path.includes('/Messages.json') ? { status: 200, body: { messages: [] } } : refused
      },
    })
    const key = `SK${'ab'.repeat(16)}`
    const channels = [key, `SK${'cd'.repeat(16)}`].map((sid) =>
      channelAt(server.url, { authToken: undefined, receipts: undefined, apiKey: { sid, secret: TOKEN } }),
    )
    onTestFinished(async () => {
      for (const channel of channels) await channel.close?.()
      await server.close()
    })
    const [right, wrong] = channels
    await right?.check?.()
    await expect(wrong?.check?.()).rejects.toMatchObject({ code: 'provider_auth_failed' })
    expect(asked).toEqual(Array(2).fill(`/2010-04-01/Accounts/${ACCOUNT}/Messages.json?PageSize=1`))
  })

  it.each([
    ['suspended', 'provider_suspended'],
    ['closed', 'provider_suspended'],
  ])('a check tells that an account is %s', async (status, code) => {
    const server = await providerServer({ accept: created, aside: account(status) })
    const channel = channelAt(server.url)
    onTestFinished(async () => {
      await channel.close?.()
      await server.close()
    })
    await expect(channel.check?.()).rejects.toMatchObject({ code })
  })
})
