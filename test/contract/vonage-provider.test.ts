import { SMS } from '@vonage/sms'
import { describe, expect, it, onTestFinished, test } from 'vitest'
import { VONAGE_STATUSES } from '../../adapters/channels/vonage/errors.ts'
import { vonage } from '../../adapters/channels/vonage/send.ts'
import { httpProviderHarness } from '../../src/testing/channel/http-harness.ts'
import {
  type ProviderReply,
  type ProviderRow,
  providerServer,
} from '../../src/testing/channel/provider-server.ts'
import type { ReceivedRequest } from '../../src/testing/channel/receiver.ts'
import { providerContract } from '../../src/testing/provider-contract.ts'
import { sendContext } from '../support/channel-context.ts'

const KEY = 'abcd1234'
const SECRET = 'correct-horse-battery'
const TO = '+4915112345678'

const part = (status: string, more: object = {}) => ({
  to: TO.slice(1),
  status,
  'remaining-balance': '3.14159265',
  'message-price': '0.03330000',
  network: '12345',
  ...more,
})
const answer = (...messages: readonly object[]): ProviderReply => ({
  status: 200,
  body: { 'message-count': String(messages.length), messages },
})
const created = (_: ReceivedRequest, number: number) => answer(part('0', { 'message-id': `id-${number}` }))
const refusal = (status: string, why = 'No.') => answer({ status, 'error-text': why })

/** Every row of the table; the reference says what each must mean. */
const EXPECTED: readonly (readonly [statuses: string, kind: string, code: string, scope: string])[] = [
  ['1 10', 'retry', 'provider_rate_limited', 'account'],
  ['2 3 22', 'rejected', 'provider_error', 'message'],
  ['4 14 32', 'rejected', 'provider_auth_failed', 'account'],
  ['5', 'retry', 'provider_unavailable', 'provider'],
  ['6', 'rejected', 'carrier_blocked', 'recipient'],
  ['7 29', 'rejected', 'blocked_recipient', 'recipient'],
  ['8', 'rejected', 'provider_suspended', 'account'],
  ['9', 'retry', 'provider_quota_exceeded', 'account'],
  ['11 23', 'rejected', 'provider_error', 'account'],
  ['12', 'rejected', 'message_too_large', 'message'],
  ['15', 'rejected', 'invalid_sender', 'recipient'],
  ['33', 'rejected', 'invalid_phone_number', 'recipient'],
]

const ROWS: readonly ProviderRow[] = [
  ...EXPECTED.flatMap(([statuses, kind, code, scope]) =>
    statuses.split(' ').map((status) => ({
      row: `status ${status}`,
      reply: refusal(status),
      outcome: { kind: kind as 'rejected' | 'retry', code, scope, message: 'No.', providerCode: status },
    })),
  ),
  {
    row: 'a recipient that is no number',
    reply: refusal('3', 'Invalid value for param: to'),
    outcome: { kind: 'rejected', code: 'invalid_phone_number', scope: 'recipient', providerCode: '3' },
  },
  ...['Missing to param', 'Invalid value for parameter: `to`', 'Invalid msisdn'].map((why) => ({
    row: `a recipient that is no number: ${why}`,
    reply: refusal('2', why),
    outcome: { kind: 'rejected', code: 'invalid_phone_number', scope: 'recipient' } as const,
  })),
  ...['Refused by the API: nothing to send', 'A parameter to complete the request is missing'].map((why) => ({
    row: `a refusal that does not name the recipient: ${why}`,
    reply: refusal('3', why),
    outcome: { kind: 'rejected', code: 'provider_error', scope: 'message' } as const,
  })),
  {
    row: 'a sender that one country refuses',
    reply: refusal('15', 'Invalid Sender address - rejected'),
    outcome: { kind: 'rejected', code: 'invalid_sender', scope: 'recipient', providerCode: '15' },
  },
  {
    row: 'a sender that is none',
    reply: refusal('2', 'Missing from param'),
    outcome: { kind: 'rejected', code: 'invalid_sender', scope: 'account', providerCode: '2' },
  },
  {
    row: 'a status that nobody knows',
    reply: refusal('77'),
    outcome: { kind: 'rejected', code: 'provider_error', scope: 'message', providerCode: '77' },
  },
  {
    row: 'a wrong secret, repeated',
    reply: refusal('4', 'Bad credentials: $credentials'),
    outcome: { kind: 'rejected', code: 'provider_auth_failed', message: 'Bad credentials: Basic [secret]' },
  },
  {
    row: 'a text of which every part was refused',
    reply: answer({ status: '1', 'error-text': 'Throttled' }, { status: '1', 'error-text': 'Throttled' }),
    outcome: { kind: 'retry', code: 'provider_rate_limited', message: 'Throttled' },
  },
  {
    row: 'a text of which some parts are under way',
    reply: answer(part('0', { 'message-id': 'id-1' }), { status: '1', 'error-text': 'Throttled' }),
    outcome: { kind: 'ambiguous', code: 'provider_rate_limited', providerCode: '1' },
  },
  {
    row: 'an answer without messages',
    reply: { status: 200, body: { 'message-count': '0', messages: [] } },
    outcome: { kind: 'ambiguous', code: 'provider_error' },
  },
]

function channelAt(baseUrl: string, more: Partial<Parameters<typeof vonage>[0]> = {}) {
  return vonage({ apiKey: KEY, apiSecret: SECRET, from: 'ACME', baseUrl, maxConcurrent: 4, ...more })
}

providerContract(
  test,
  () =>
    httpProviderHarness({
      provider: (url) => channelAt(url),
      message: { to: TO, subject: null, body: '', format: 'text' },
      secrets: [SECRET, Buffer.from(`${KEY}:${SECRET}`).toString('base64')],
      accept: created,
      aside: ({ path }) =>
        path === '/account/get-balance'
          ? { status: 200, body: { value: 1.5, autoReload: false } }
          : undefined,
      take: ({ body }) => {
        const { to, text, ...request } = JSON.parse(body.toString('utf8'))
        return { to: `+${to}`, body: text, id: request['client-ref'] }
      },
      rows: ROWS,
    }),
  ROWS,
  { http: true },
)

it('has a row for each status of its table', () => {
  const covered = EXPECTED.flatMap(([statuses]) => statuses.split(' '))
  expect([...covered].sort()).toEqual(Object.keys(VONAGE_STATUSES).sort())
})

describe("Vonage's own client", () => {
  async function start() {
    const server = await providerServer({ accept: created, rows: ROWS })
    const client = new SMS({ apiKey: KEY, apiSecret: SECRET }, { restHost: server.url })
    const channel = channelAt(server.url)
    onTestFinished(async () => {
      await channel.close?.()
      await server.close()
    })
    return { server, client, channel }
  }

  it('asks for a message as the channel does, and reads the same id', async () => {
    const { server, client, channel } = await start()
    const body = 'Grüße 🎉'
    const { notificationId } = sendContext()
    const outcome = await channel.send({ to: TO, subject: null, body, format: 'text' }, sendContext())
    const sent = await client.send({
      to: TO.slice(1),
      from: 'ACME',
      text: body,
      type: 'unicode' as never,
      clientRef: notificationId,
    })
    expect(outcome).toMatchObject({ kind: 'accepted', providerMessageId: 'id-1' })
    expect(sent.messages[0]).toMatchObject({ messageId: 'id-2' })
    const [ours, theirs] = server.requests
    const read = (request: ReceivedRequest | undefined) => ({
      method: request?.method,
      path: request?.path,
      type: request?.headers['content-type']?.split(';')[0],
      authorization: request?.headers.authorization,
      body: JSON.parse(request?.body.toString('utf8') ?? ''),
    })
    expect(read(ours)).toEqual(read(theirs))
  })

  it('takes the refusals of the fake for refusals', async () => {
    const { server, client } = await start()
    for (const { row } of ROWS.filter(({ row }) => row.startsWith('status '))) {
      server.act({ kind: 'answer', row })
      const failure = await client.send({ to: TO.slice(1), from: 'ACME', text: 'x' }).catch((error) => error)
      expect(failure.getFailedMessages()[0].status).toBe(row.split(' ')[1])
    }
  })
})

it('says in which alphabet a text is written, where receipts go and how long it is worth something', async () => {
  const server = await providerServer({ accept: created })
  const url = 'https://app.example/receipts/sms/vonage'
  const receipts = { secret: 'signature-secret', url }
  const channel = channelAt(server.url, { receipts, validitySeconds: 300 })
  onTestFinished(async () => {
    await channel.close?.()
    await server.close()
  })
  for (const body of ['Grüße €', 'ça va'])
    await channel.send({ to: TO, subject: null, body, format: 'text' }, sendContext())
  const [gsm, ucs] = server.taken.map(({ body }) => JSON.parse(body.toString('utf8')))
  expect(gsm).toMatchObject({ type: 'text', callback: url, ttl: 300_000 })
  expect(ucs).toMatchObject({ type: 'unicode' })
})

it.each([
  ['from', { from: '+4915112345678' }],
  ['apiSecret', { apiSecret: 'two words' }],
  ['validitySeconds', { validitySeconds: 19 }],
  ['receipts.method', { receipts: { secret: 's', method: 'sha3' as never } }],
])('a wrong option is named: %s', (option, wrong) => {
  expect(() => channelAt('https://rest.nexmo.com', wrong)).toThrow(`"${option}"`)
})
