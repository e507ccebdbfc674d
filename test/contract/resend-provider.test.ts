import { Resend } from 'resend'
import { afterEach, describe, expect, it, test } from 'vitest'
import { resend } from '../../adapters/channels/resend/send.ts'
import { httpProviderHarness } from '../../src/testing/channel/http-harness.ts'
import {
  type ProviderReply,
  type ProviderRow,
  type ProviderServer,
  providerServer,
} from '../../src/testing/channel/provider-server.ts'
import type { OutcomeRow } from '../../src/testing/provider-contract.ts'
import { providerContract } from '../../src/testing/provider-contract.ts'
import {
  FULL_FILE,
  FULL_HEADERS,
  FULL_MAIL,
  FULL_REPLY_TO,
  FULL_TEXT,
  FULL_TO,
  takenFiles,
} from '../support/api-mail.ts'
import { mailMessage, sendContext } from '../support/channel-context.ts'

const API_KEY = 're_correct_horse_battery'

const accepted = (number: number): ProviderReply => ({ status: 200, body: { id: `id${number}` } })

const answered = (
  statusCode: number,
  name: string,
  outcome: OutcomeRow['outcome'],
  message = 'No.',
): ProviderRow => ({
  row: `${statusCode} ${name}: ${message}`,
  reply: { status: statusCode, body: { statusCode, name, message } },
  outcome: { ...outcome, providerCode: name },
})

const ours = { kind: 'rejected', code: 'provider_error', scope: 'message' } as const
const config = { kind: 'rejected', code: 'provider_error', scope: 'account' } as const
const sender = { kind: 'rejected', code: 'invalid_sender', scope: 'account' } as const
const recipient = { kind: 'rejected', code: 'invalid_recipient', scope: 'recipient' } as const
const credentials = { kind: 'rejected', code: 'provider_auth_failed', scope: 'account' } as const
const quota = { kind: 'retry', code: 'provider_quota_exceeded', scope: 'account' } as const
const faulty = { kind: 'ambiguous', code: 'provider_unavailable' } as const

const ROWS: readonly ProviderRow[] = [
  answered(422, 'validation_error', ours),
  answered(422, 'validation_error', recipient, 'Invalid `to` field. The email address needs to follow…'),
  answered(422, 'validation_error', sender, 'Invalid `from` field. The email address needs to follow…'),
  answered(403, 'validation_error', sender, 'The example.org domain is not verified.'),
  answered(403, 'validation_error', sender, 'Not authorized to send emails from example.org'),
  answered(403, 'validation_error', sender, 'This API key is not authorized to send emails from example.org'),
  answered(403, 'validation_error', credentials, 'Forbidden.'),
  answered(400, 'validation_error', credentials, 'API key is invalid'),
  answered(401, 'validation_error', credentials, 'API key is invalid'),
  answered(
    403,
    'validation_error',
    { kind: 'rejected', code: 'blocked_recipient', scope: 'recipient' },
    'You can only send testing emails to your own email address (ada@example.org). To send emails to other recipients, please verify a domain at resend.com/domains, and change the `from` address to an email using this domain.',
  ),
  answered(422, 'missing_required_field', recipient, 'Missing `to` field.'),
  answered(422, 'missing_required_field', ours, 'Missing `subject` field.'),
  answered(422, 'invalid_parameter', ours),
  answered(422, 'invalid_region', ours),
  answered(422, 'invalid_attachment', ours),
  answered(405, 'method_not_allowed', config),
  answered(422, 'invalid_from_address', sender),
  answered(401, 'missing_api_key', credentials),
  answered(403, 'invalid_api_key', { ...credentials, message: 'Not Bearer [secret]!' }, 'Not $credentials!'),
  answered(401, 'restricted_api_key', credentials),
  answered(403, 'invalid_access', credentials),
  answered(404, 'not_found', config),
  answered(429, 'rate_limit_exceeded', { kind: 'retry', code: 'provider_rate_limited', scope: 'account' }),
  answered(429, 'daily_quota_exceeded', quota),
  answered(429, 'monthly_quota_exceeded', quota),
  answered(409, 'concurrent_idempotent_requests', {
    kind: 'retry',
    code: 'provider_unavailable',
    scope: 'message',
  }),
  answered(409, 'invalid_idempotent_request', ours),
  answered(400, 'invalid_idempotency_key', ours),
  answered(451, 'security_error', ours),
  answered(500, 'application_error', faulty),
  answered(500, 'internal_server_error', faulty),
  answered(422, 'brand_new_error', ours),
  {
    row: 'a fault without a name',
    reply: { status: 500, body: 'Internal error' },
    outcome: { ...faulty, providerCode: '500' },
  },
  {
    row: 'a client that is not welcome',
    reply: { status: 403, body: 'error code: 1010' },
    outcome: { ...credentials, providerCode: '403' },
  },
]

providerContract(
  test,
  () =>
    httpProviderHarness({
      provider: (baseUrl) =>
        resend({ apiKey: API_KEY, from: 'no-reply@example.org', baseUrl, maxConcurrent: 4 }),
      message: mailMessage({ body: '' }),
      secrets: [API_KEY],
      accept: (_, number) => accepted(number),
      aside: ({ path }) => (path === '/domains' ? { status: 200, body: { data: [] } } : undefined),
      rows: ROWS,
      overloaded: {
        status: 429,
        body: { statusCode: 429, name: 'rate_limit_exceeded', message: 'Too many requests.' },
      },
      take({ body, headers }) {
        const mail = JSON.parse(body.toString('utf8'))
        const { to, text = null, html = null, cc = [], bcc = [], reply_to: replyTo = [] } = mail
        const attachments = takenFiles(mail.attachments, 'filename', 'content_type', 'content')
        return {
          ...{ to, body: text, id: String(headers['idempotency-key']) },
          mail: { text, html, cc, bcc, replyTo, attachments },
        }
      },
    }),
  ROWS,
  { http: true },
)

describe('a mail to Resend', () => {
  let server: ProviderServer
  afterEach(() => server.close())

  it('is the one that its own client sends, with our id and idempotency key', async () => {
    server = await providerServer({ accept: (_, number) => accepted(number) })
    const channel = resend({
      apiKey: API_KEY,
      from: 'Ada, "Countess" of Lövelace <no-reply@example.org>',
      baseUrl: server.url,
    })
    const context = sendContext({ idempotencyKey: 'once' })
    expect(await channel.send(FULL_MAIL, context)).toEqual({ kind: 'accepted', providerMessageId: 'id1' })

    const client = new Resend(API_KEY, { baseUrl: server.url })
    const answer = await client.emails.send(
      {
        from: '"Ada, \\"Countess\\" of Lövelace" <no-reply@example.org>',
        to: FULL_TO,
        replyTo: [FULL_REPLY_TO],
        subject: 'Grüße 🎉',
        text: FULL_TEXT,
        html: FULL_MAIL.body,
        headers: FULL_HEADERS,
        tags: [{ name: 'carillon_id', value: context.notificationId }],
        attachments: [{ filename: 'Größe.pdf', content: FULL_FILE, contentType: 'application/pdf' }],
      },
      { idempotencyKey: 'once' },
    )
    expect(answer.error).toBeNull()
    expect(answer.data).toEqual({ id: 'id2' })

    const [ours, theirs] = server.requests.map(({ method, path, headers, body }) => ({
      method,
      path,
      authorization: headers.authorization,
      idempotencyKey: headers['idempotency-key'],
      contentType: headers['content-type'],
      userAgent: headers['user-agent'] !== undefined,
      body: JSON.parse(String(body)),
    }))
    expect(ours).toEqual(theirs)
    await channel.close?.()
  })
})
