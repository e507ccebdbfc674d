import twilioProvider from 'twilio'
import { describe, expect, it, onTestFinished, test } from 'vitest'
import { TWILIO_ERRORS } from '../../adapters/channels/twilio/errors.ts'
import { twilio } from '../../adapters/channels/twilio/send.ts'
import { httpProviderHarness } from '../../src/testing/channel/http-harness.ts'
import {
  type ProviderReply,
  type ProviderRow,
  providerServer,
} from '../../src/testing/channel/provider-server.ts'
import type { ReceivedRequest } from '../../src/testing/channel/receiver.ts'
import { providerContract } from '../../src/testing/provider-contract.ts'
import { sendContext } from '../integration/support/channel-context.ts'

const ACCOUNT = `AC${'0123456789abcdef'.repeat(2)}`
const TOKEN = 'correct-horse-battery-staple'
const FROM = '+15005550006'
const TO = '+14155550123'
const sidOf = (number: number) => `SM${String(number).padStart(32, '0')}`

/** As Twilio answers to a message that it takes, in all fields that its own client reads. */
function created({ body }: ReceivedRequest, number: number): ProviderReply {
  const form = new URLSearchParams(body.toString('utf8'))
  return {
    status: 201,
    body: {
      sid: sidOf(number),
      account_sid: ACCOUNT,
      to: form.get('To'),
      from: form.get('From'),
      messaging_service_sid: form.get('MessagingServiceSid'),
      body: form.get('Body'),
      status: 'queued',
      num_segments: '1',
      num_media: '0',
      direction: 'outbound-api',
      api_version: '2010-04-01',
      price: null,
      price_unit: 'USD',
      error_code: null,
      error_message: null,
      uri: `/2010-04-01/Accounts/${ACCOUNT}/Messages/${sidOf(number)}.json`,
      date_created: 'Sat, 21 Nov 2026 12:00:00 +0000',
      date_updated: 'Sat, 21 Nov 2026 12:00:00 +0000',
      date_sent: null,
      subresource_uris: {},
    },
  }
}

const refusal = (status: number, code: number | string, message = 'No.'): ProviderReply => ({
  status,
  body: { status, code: Number(code), message, more_info: `https://www.twilio.com/docs/errors/${code}` },
})

/** Every row of the table, as Twilio would answer with it; the reference says what each must mean. */
const EXPECTED: readonly (readonly [codes: string, kind: string, code: string, scope?: string])[] = [
  ['20003', 'rejected', 'provider_auth_failed', 'account'],
  ['20404 21609', 'rejected', 'provider_error', 'account'],
  ['20429 14107 21611 30001 63017 63018', 'retry', 'provider_rate_limited', 'account'],
  ['20500 30410 30500', 'ambiguous', 'provider_unavailable'],
  ['20503 30017', 'retry', 'provider_unavailable', 'provider'],
  ['21211 21217 21265 21266 21401 21604 30005', 'rejected', 'invalid_phone_number', 'recipient'],
  ['21614 21635 30006', 'rejected', 'landline', 'recipient'],
  ['21408', 'rejected', 'region_not_permitted', 'recipient'],
  ['21219 21608', 'rejected', 'blocked_recipient', 'recipient'],
  ['21610 30630', 'rejected', 'unsubscribed', 'recipient'],
  ['21268 21612', 'rejected', 'recipient_unreachable', 'recipient'],
  ['30003', 'retry', 'recipient_unreachable', 'recipient'],
  [
    '21212 21267 21601 21603 21606 21607 21616 21659 21660 21661 21701 21702 21703 21704 21705 21709 30042 63007',
    'rejected',
    'invalid_sender',
    'account',
  ],
  ['21657', 'rejected', 'invalid_sender', 'recipient'],
  ['21602 21605 21618 21654 21655 21656 63016', 'rejected', 'content_rejected', 'message'],
  ['21617 30019 30044', 'rejected', 'message_too_large', 'message'],
  ['10001 20005 20403 90010 30002 30033 30037', 'rejected', 'provider_suspended', 'account'],
  ['30004 30450 30453 30485', 'rejected', 'carrier_blocked', 'recipient'],
  ['30007', 'rejected', 'carrier_blocked', 'message'],
  ['30008', 'retry', 'provider_error', 'message'],
  ['30010', 'rejected', 'provider_error', 'message'],
  ['30018 30024 30032 30034 30035 30040 30041', 'rejected', 'sender_not_registered', 'account'],
  ['30022 30023 30027 30454 63038', 'retry', 'provider_quota_exceeded', 'account'],
  ['30036', 'rejected', 'expired', 'message'],
  ['63003 63024', 'rejected', 'invalid_recipient', 'recipient'],
]

const ROWS: readonly ProviderRow[] = [
  ...EXPECTED.flatMap(([codes, kind, code, scope]) =>
    codes.split(' ').map((twilioCode) => ({
      row: `error ${twilioCode}`,
      reply: refusal(400, twilioCode),
      outcome: {
        kind: kind as 'rejected' | 'retry' | 'ambiguous',
        code,
        ...(scope === undefined ? {} : { scope, message: 'No.' }),
        providerCode: twilioCode,
      },
    })),
  ),
  {
    row: 'a code that nobody knows',
    reply: refusal(400, 99999),
    outcome: { kind: 'rejected', code: 'provider_error', scope: 'message', providerCode: '99999' },
  },
  {
    row: 'a wrong token, repeated',
    reply: refusal(401, 20003, 'Authenticate, not by $credentials'),
    outcome: {
      kind: 'rejected',
      code: 'provider_auth_failed',
      scope: 'account',
      message: 'Authenticate, not by Basic [secret]',
    },
  },
  {
    row: 'a fault without a code',
    reply: { status: 500, body: 'Oops' },
    outcome: { kind: 'ambiguous', providerCode: '500' },
  },
  {
    row: 'a queue that is full: a minute at least',
    reply: refusal(400, 21611),
    outcome: { kind: 'retry', code: 'provider_rate_limited', retryAfterMs: 60_000 },
  },
  {
    row: 'a message that is taken and has failed at once',
    reply: {
      status: 201,
      body: { sid: sidOf(1), status: 'failed', error_code: 30007, error_message: 'Filtered' },
    },
    outcome: { kind: 'rejected', code: 'carrier_blocked', providerCode: '30007', message: 'Filtered' },
  },
]

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

const account = (status: string) => (request: ReceivedRequest) =>
  request.method === 'GET' ? { status: 200, body: { sid: ACCOUNT, status } } : undefined

providerContract(
  test,
  () =>
    httpProviderHarness({
      provider: (url) => channelAt(url),
      message: { to: TO, subject: null, body: '', format: 'text' },
      secrets: [TOKEN, Buffer.from(`${ACCOUNT}:${TOKEN}`).toString('base64')],
      accept: created,
      aside: account('active'),
      take: ({ body }) => {
        const form = new URLSearchParams(body.toString('utf8'))
        const callback = new URL(form.get('StatusCallback') ?? '')
        return {
          to: form.get('To') ?? '',
          body: form.get('Body') ?? '',
          id: callback.searchParams.get('carillon_id'),
        }
      },
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
  const covered = EXPECTED.flatMap(([codes]) => codes.split(' '))
  expect([...covered].sort()).toEqual(Object.keys(TWILIO_ERRORS).sort())
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

  it('reads the refusals of the stand-in with the same codes', async () => {
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
