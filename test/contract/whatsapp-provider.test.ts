import { expect, it, onTestFinished, test } from 'vitest'
import { WHATSAPP_ERRORS } from '../../adapters/channels/whatsapp/errors.ts'
import { type WhatsAppContent, whatsapp } from '../../adapters/channels/whatsapp/send.ts'
import { httpProviderHarness } from '../../src/testing/channel/http-harness.ts'
import {
  type ProviderReply,
  type ProviderRow,
  providerServer,
} from '../../src/testing/channel/provider-server.ts'
import type { ReceivedRequest } from '../../src/testing/channel/receiver.ts'
import { providerContract } from '../../src/testing/provider-contract.ts'
import { sendContext } from '../support/channel-context.ts'

const TOKEN = 'EAAG-correct-horse-battery'
const NUMBER = '106540352242922'
const TO = '+4915112345678'

const created = (_: ReceivedRequest, number: number): ProviderReply => ({
  status: 200,
  body: {
    messaging_product: 'whatsapp',
    contacts: [{ input: TO, wa_id: TO.slice(1) }],
    messages: [{ id: `wamid.${number}`, message_status: 'accepted' }],
  },
})
const refusal = (code: number, status = 400, message = `(#${code}) No.`): ProviderReply => ({
  status,
  body: { error: { message, type: 'OAuthException', code, fbtrace_id: 'Az8or2yhqkZfEZ' } },
})

/** Every row of the table: codes, what each must mean, and the status that Meta sends with it. */
const EXPECTED: readonly (readonly [
  codes: string,
  kind: string,
  code: string,
  scope: string,
  status: number,
])[] = [
  ['0 190', 'rejected', 'provider_auth_failed', 'account', 401],
  ['3', 'rejected', 'provider_auth_failed', 'account', 500],
  ['10 131005', 'rejected', 'provider_auth_failed', 'account', 403],
  ['368 131031 131042', 'rejected', 'provider_suspended', 'account', 403],
  ['2 131016 131057 133004', 'retry', 'provider_unavailable', 'provider', 503],
  ['4 80007 130429 133016', 'retry', 'provider_rate_limited', 'account', 400],
  ['132069', 'retry', 'provider_rate_limited', 'message', 400],
  ['131048 131064', 'retry', 'provider_quota_exceeded', 'account', 400],
  ['131056', 'retry', 'provider_rate_limited', 'recipient', 400],
  ['33', 'rejected', 'invalid_sender', 'account', 400],
  ['131037 131045 133010', 'rejected', 'sender_not_registered', 'account', 400],
  ['100', 'rejected', 'provider_error', 'message', 400],
  ['131008 131009 131051 131052 131053', 'rejected', 'invalid_content', 'message', 400],
  ['131047', 'rejected', 'content_rejected', 'message', 400],
  [
    '131063 132000 132001 132005 132007 132008 132012 132015 132016 132018 132068',
    'rejected',
    'template_error',
    'message',
    404,
  ],
  ['131021', 'rejected', 'invalid_recipient', 'recipient', 400],
  ['131026 137000', 'rejected', 'recipient_unreachable', 'recipient', 400],
  ['130497', 'rejected', 'region_not_permitted', 'recipient', 403],
  ['130472 131030 131049', 'rejected', 'blocked_recipient', 'recipient', 400],
  ['131050', 'rejected', 'unsubscribed', 'recipient', 400],
]
/** Nobody knows whether these were done. */
const UNKNOWN_END = [1, 131000]

const ROWS: readonly ProviderRow[] = [
  ...EXPECTED.flatMap(([codes, kind, code, scope, status]) =>
    codes.split(' ').map((providerCode) => ({
      row: `code ${providerCode}`,
      reply: refusal(Number(providerCode), status),
      outcome: { kind: kind as 'rejected' | 'retry', code, scope, providerCode },
    })),
  ),
  ...UNKNOWN_END.map((code) => ({
    row: `code ${code}`,
    reply: refusal(code, 500),
    outcome: { kind: 'ambiguous', code: 'provider_unavailable', providerCode: String(code) } as const,
  })),
  {
    row: 'a permission of the hundred',
    reply: refusal(270, 403),
    outcome: { kind: 'rejected', code: 'provider_auth_failed', scope: 'account', providerCode: '270' },
  },
  {
    row: 'a code that nobody knows',
    reply: refusal(139999),
    outcome: { kind: 'rejected', code: 'provider_error', scope: 'message', providerCode: '139999' },
  },
  {
    row: 'details, which say more than the title',
    reply: {
      status: 400,
      body: {
        error: {
          code: 131009,
          message: '(#131009) Parameter value is not valid',
          error_data: { details: 'Too long.' },
        },
      },
    },
    outcome: { kind: 'rejected', code: 'invalid_content', message: 'Too long.' },
  },
  {
    row: 'a wrong token, repeated',
    reply: refusal(190, 401, 'Malformed access token $credentials'),
    outcome: {
      kind: 'rejected',
      code: 'provider_auth_failed',
      message: 'Malformed access token Bearer [secret]',
    },
  },
  {
    row: 'an answer without a message',
    reply: { status: 200, body: { messaging_product: 'whatsapp', messages: [] } },
    outcome: { kind: 'ambiguous', code: 'provider_error' },
  },
]

function providerAt(baseUrl: string, more: Partial<Parameters<typeof whatsapp>[0]> = {}) {
  return whatsapp({ accessToken: TOKEN, phoneNumberId: NUMBER, baseUrl, maxConcurrent: 4, ...more })
}

providerContract(
  test,
  () =>
    httpProviderHarness({
      provider: (url) => providerAt(url),
      message: { to: TO, subject: null, body: '', format: 'text' },
      secrets: [TOKEN],
      accept: created,
      aside: ({ method }) => (method === 'GET' ? { status: 200, body: { id: NUMBER } } : undefined),
      take: ({ body }) => {
        const { to, text, biz_opaque_callback_data: id } = JSON.parse(body.toString('utf8'))
        return { to, body: text.body, id }
      },
      rows: ROWS,
    }),
  ROWS,
  { http: true },
)

it('has a row for each code of its table', () => {
  const covered = EXPECTED.flatMap(([codes]) => codes.split(' '))
  expect([...covered, ...UNKNOWN_END.map(String)].sort()).toEqual(Object.keys(WHATSAPP_ERRORS).sort())
})

async function start(more: Partial<Parameters<typeof whatsapp>[0]> = {}) {
  const server = await providerServer({ accept: created })
  const provider = providerAt(server.url, more)
  onTestFinished(async () => {
    await provider.close?.()
    await server.close()
  })
  const send = (body: string, parts?: WhatsAppContent) =>
    provider.send({ to: TO, subject: null, body, format: 'text', whatsapp: parts }, sendContext())
  const sent = () => server.requests.map(({ body }) => JSON.parse(body.toString('utf8')))
  return { server, send, sent }
}

it('asks for a text in the words of Meta', async () => {
  const { server, send, sent } = await start({ version: 'v26.0' })
  expect(await send('Grüße 🎉')).toEqual({ kind: 'accepted', providerMessageId: 'wamid.1' })
  await send('https://example.com', { previewUrl: true })
  const message = {
    messaging_product: 'whatsapp',
    recipient_type: 'individual',
    to: TO,
    type: 'text',
    biz_opaque_callback_data: sendContext().notificationId,
  }
  expect(sent()).toEqual([
    { ...message, text: { body: 'Grüße 🎉', preview_url: false } },
    { ...message, text: { body: 'https://example.com', preview_url: true } },
  ])
  expect(server.requests[0]).toMatchObject({
    method: 'POST',
    path: `/v26.0/${NUMBER}/messages`,
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
  })
})

it('asks for a template in place of the text', async () => {
  const { send, sent } = await start()
  const components = [{ type: 'body', parameters: [{ type: 'text', text: 'Ada' }] }]
  await send('', { approvedTemplate: { name: 'order_shipped', language: 'en_US', components } })
  await send('Hello', { approvedTemplate: { name: 'hello_world', language: 'de' } })
  const template = { name: 'order_shipped', language: { code: 'en_US' }, components }
  expect(sent()).toMatchObject([
    { type: 'template', template },
    { type: 'template', template: { name: 'hello_world', language: { code: 'de' } } },
  ])
  for (const message of sent()) expect(message).not.toHaveProperty('text')
})

it('sends no text in place of a template that only Twilio has', async () => {
  const { send, sent } = await start()
  const contentTemplate = { sid: `HX${'0'.repeat(32)}` }
  expect(await send('Hello', { contentTemplate })).toMatchObject({
    kind: 'rejected',
    code: 'invalid_content',
    scope: 'message',
    message: expect.stringContaining('"whatsapp.approvedTemplate"'),
  })
  expect(sent()).toEqual([])
})

it.each([
  ['accessToken', { accessToken: 'two words' }],
  ['phoneNumberId', { phoneNumberId: '+15550783881' }],
  ['version', { version: '24' }],
  ['receipts.verifyToken', { receipts: { secret: 's' } as never }],
])('a wrong option is named: %s', (option, wrong) => {
  expect(() => providerAt('https://graph.facebook.com', wrong)).toThrow(`"${option}"`)
})
