import { describe, expect, it, onTestFinished } from 'vitest'
import { discord } from '../../adapters/channels/discord/send.ts'
import { mailgun } from '../../adapters/channels/mailgun/send.ts'
import { postmark } from '../../adapters/channels/postmark/send.ts'
import { resend } from '../../adapters/channels/resend/send.ts'
import { sendgrid } from '../../adapters/channels/sendgrid/send.ts'
import { ses } from '../../adapters/channels/ses/send.ts'
import { sns } from '../../adapters/channels/sns/send.ts'
import { telegram } from '../../adapters/channels/telegram/send.ts'
import { vonage } from '../../adapters/channels/vonage/send.ts'
import { whatsapp } from '../../adapters/channels/whatsapp/send.ts'
import type { Provider } from '../../src/core/ports/provider.ts'
import { type ProviderReply, providerServer } from '../../src/testing/channel/provider-server.ts'

const SECRET = 'correct-horse-battery-staple'
const from = 'no-reply@example.org'
const credentials = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: SECRET }

const basic = (text: string): string => Buffer.from(text).toString('base64')

interface Case {
  readonly channel: (baseUrl: string) => Provider
  /** What its headers or its path carry. */
  readonly credential: string
  /** The one request. */
  readonly asks: string
  readonly works: readonly ProviderReply[]
  readonly fails: readonly (readonly [reply: ProviderReply, code: string, why: RegExp])[]
}

const snsProvider = (body: string, status = 200): ProviderReply => ({
  status,
  headers: { 'content-type': 'text/xml' },
  body,
})

const CASES: Readonly<Record<string, Case>> = {
  'Amazon SES': {
    channel: (baseUrl) => ses({ region: 'eu-central-1', from, credentials, baseUrl }),
    credential: credentials.accessKeyId,
    asks: 'GET /v2/email/account',
    works: [{ status: 200, body: { SendingEnabled: true, ProductionAccessEnabled: true } }],
    fails: [
      [{ status: 200, body: { SendingEnabled: false } }, 'provider_suspended', /disabled for the account/],
      [
        {
          status: 403,
          headers: { 'x-amzn-errortype': 'AccessDeniedException' },
          body: { message: 'Not authorized to perform: ses:GetAccount' },
        },
        'provider_auth_failed',
        /ses:GetAccount/,
      ],
    ],
  },
  SendGrid: {
    channel: (baseUrl) => sendgrid({ apiKey: SECRET, from, baseUrl }),
    credential: SECRET,
    asks: 'GET /v3/scopes',
    works: [{ status: 200, body: { scopes: ['2fa_required', 'mail.send'] } }],
    fails: [
      [{ status: 200, body: { scopes: ['alerts.read'] } }, 'provider_auth_failed', /"mail\.send"/],
      [
        { status: 401, body: { errors: [{ message: 'authorization required', field: null }] } },
        'provider_auth_failed',
        /authorization required/,
      ],
    ],
  },
  Postmark: {
    channel: (baseUrl) => postmark({ serverToken: SECRET, from, baseUrl }),
    credential: SECRET,
    asks: 'GET /server',
    works: [{ status: 200, body: { ID: 1, Name: 'Staging' } }],
    fails: [
      [
        { status: 401, body: { ErrorCode: 10, Message: 'The Server Token is not valid.' } },
        'provider_auth_failed',
        /Server Token/,
      ],
    ],
  },
  Resend: {
    channel: (baseUrl) => resend({ apiKey: SECRET, from, baseUrl }),
    credential: SECRET,
    asks: 'GET /domains',
    works: [
      { status: 200, body: { object: 'list', data: [] } },
      // A key that may send, and nothing else.
      {
        status: 401,
        body: {
          statusCode: 401,
          name: 'restricted_api_key',
          message: 'This API key is restricted to only send emails',
        },
      },
    ],
    fails: [
      [
        { status: 400, body: { statusCode: 400, name: 'validation_error', message: 'API key is invalid' } },
        'provider_auth_failed',
        /API key is invalid/,
      ],
      [
        { status: 403, body: { statusCode: 403, name: 'invalid_api_key', message: 'API key is invalid.' } },
        'provider_auth_failed',
        /API key is invalid/,
      ],
    ],
  },
  Mailgun: {
    channel: (baseUrl) => mailgun({ apiKey: SECRET, domain: 'mg.example.org', from, baseUrl }),
    credential: basic(`api:${SECRET}`),
    asks: 'POST /v3/mg.example.org/messages',
    works: [
      { status: 400, body: { message: "'from' parameter is missing" } },
      { status: 400, body: { message: 'to parameter is not a valid address. please check documentation' } },
    ],
    fails: [
      [{ status: 401, body: 'Forbidden' }, 'provider_auth_failed', /Forbidden/],
      [
        { status: 404, body: { message: 'Domain not found: mg.example.org' } },
        'provider_error',
        /Domain not found/,
      ],
      [
        { status: 403, body: { message: 'Domain mg.example.org is not allowed to send: disabled' } },
        'provider_suspended',
        /disabled/,
      ],
    ],
  },
  Vonage: {
    channel: (baseUrl) => vonage({ apiKey: 'abcd1234', apiSecret: SECRET, from: 'Example', baseUrl }),
    credential: basic(`abcd1234:${SECRET}`),
    asks: 'GET /account/get-balance',
    works: [{ status: 200, body: { value: 10.28, autoReload: false } }],
    fails: [
      [
        { status: 401, body: { 'error-code': '401', 'error-code-label': 'authentication failed' } },
        'provider_auth_failed',
        /401/,
      ],
    ],
  },
  Telegram: {
    channel: (baseUrl) => telegram({ token: `1:${SECRET}`, baseUrl }),
    credential: SECRET,
    asks: `GET /bot1:${SECRET}/getMe`,
    works: [{ status: 200, body: { ok: true, result: { id: 1, is_bot: true } } }],
    fails: [
      [
        { status: 401, body: { ok: false, error_code: 401, description: 'Unauthorized' } },
        'provider_auth_failed',
        /Unauthorized/,
      ],
      [
        { status: 404, body: { ok: false, error_code: 404, description: `Not Found: ${SECRET}` } },
        'provider_auth_failed',
        /Not Found/,
      ],
    ],
  },
  WhatsApp: {
    channel: (baseUrl) => whatsapp({ accessToken: SECRET, phoneNumberId: '17', baseUrl }),
    credential: SECRET,
    asks: 'GET /v25.0/17?fields=id',
    works: [{ status: 200, body: { id: '17' } }],
    fails: [
      [
        { status: 401, body: { error: { code: 190, message: `No ${SECRET}: it has expired` } } },
        'provider_auth_failed',
        /has expired/,
      ],
      [{ status: 400, body: { error: { code: 33, message: 'Deleted.' } } }, 'invalid_sender', /Deleted/],
      [{ status: 200, body: { id: '18' } }, 'provider_error', /an unexpected body/],
    ],
  },
  Discord: {
    channel: (baseUrl) =>
      discord({ url: `${baseUrl}/api/webhooks/123456789012345678/${SECRET}`, to: '#alerts' }),
    credential: SECRET,
    asks: `GET /api/webhooks/123456789012345678/${SECRET}`,
    works: [{ status: 200, body: { id: '123456789012345678', type: 1, token: SECRET } }],
    fails: [
      [
        { status: 404, body: { message: 'Unknown Webhook', code: 10015 } },
        'provider_auth_failed',
        /Unknown Webhook/,
      ],
      [
        { status: 401, body: { message: `Invalid Webhook Token ${SECRET}`, code: 50027 } },
        'provider_auth_failed',
        /Invalid Webhook Token/,
      ],
    ],
  },
  'Amazon SNS': {
    channel: (baseUrl) => sns({ region: 'eu-central-1', credentials, baseUrl }),
    credential: credentials.accessKeyId,
    asks: 'POST /',
    works: [
      snsProvider(
        '<GetSMSAttributesResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/"><GetSMSAttributesResult><attributes/>' +
          '</GetSMSAttributesResult><ResponseMetadata><RequestId>1</RequestId></ResponseMetadata></GetSMSAttributesResponse>',
      ),
    ],
    fails: [
      [
        snsProvider(
          '<ErrorResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/"><Error><Type>Sender</Type>' +
            '<Code>InvalidClientTokenId</Code><Message>The security token is invalid.</Message></Error></ErrorResponse>',
          403,
        ),
        'provider_auth_failed',
        /security token/,
      ],
    ],
  },
}

describe.each(Object.entries(CASES))(
  'a check of %s',
  (name, { channel: make, credential, asks, works, fails }) => {
    async function check(reply: ProviderReply) {
      const server = await providerServer({ accept: () => ({ status: 500 }), aside: () => reply })
      const channel = make(server.url)
      onTestFinished(async () => {
        await channel.close?.()
        await server.close()
      })
      const end = await channel.check?.().catch((error: unknown) => error)
      return { end, asked: server.requests.map(({ method, path }) => `${method} ${path}`), server }
    }

    it.each(works)('is content: $body', async (reply) => {
      const { end, asked, server } = await check(reply)
      expect([end, asked]).toEqual([undefined, [asks]])
      const [{ path, headers } = {}] = server.requests
      expect(JSON.stringify([path, headers])).toContain(credential)
    })

    it.each(fails)('says why it cannot be used: %o', async (reply, code, why) => {
      const { end, asked } = await check(reply)
      expect(end).toMatchObject({ code, message: expect.stringMatching(why) })
      expect((end as Error).message).toMatch(new RegExp(`^${name} cannot be used: `))
      expect((end as Error).message).not.toContain(SECRET)
      expect(asked).toEqual([asks])
    })

    it.each([
      { status: 200, body: '<html>' },
      { status: 503, body: '<html>' },
    ])('is not content with what is no answer of it: $status', async (reply) => {
      const { end } = await check(reply)
      expect(end).toBeInstanceOf(Error)
    })
  },
)

it('Mailgun is asked with what it cannot send', async () => {
  const server = await providerServer({ accept: () => ({ status: 400, body: { message: 'to parameter' } }) })
  const channel = CASES.Mailgun?.channel(server.url)
  onTestFinished(async () => {
    await channel?.close?.()
    await server.close()
  })
  await channel?.check?.()
  const [request] = server.requests
  const form = await new Response(new Uint8Array(request?.body ?? []), {
    headers: { 'content-type': request?.headers['content-type'] ?? '' },
  }).formData()
  expect([...form.entries()]).toEqual([['o:testmode', 'yes']])
})
