import Mailgun from 'mailgun.js'
import { afterEach, describe, expect, it, test } from 'vitest'
import { mailgun } from '../../adapters/channels/mailgun/send.ts'
import { LONGEST_HINT_MS } from '../../src/core/delivery/retry-delay.ts'
import { httpProviderHarness } from '../../src/testing/channel/http-harness.ts'
import {
  type ProviderReply,
  type ProviderRow,
  type ProviderServer,
  providerServer,
} from '../../src/testing/channel/provider-server.ts'
import type { ReceivedRequest } from '../../src/testing/channel/receiver.ts'
import { type OutcomeRow, providerContract } from '../../src/testing/provider-contract.ts'
import { FULL_HEADERS, FULL_MAIL, FULL_REPLY_TO, FULL_TEXT, FULL_TO } from '../support/api-mail.ts'
import { mailMessage, sendContext } from '../support/channel-context.ts'

const API_KEY = 'key-correct-horse-battery'
const BASIC = Buffer.from(`api:${API_KEY}`).toString('base64')

const accepted = (number: number): ProviderReply => ({
  status: 200,
  body: { id: `<id${number}@mg.example.org>`, message: 'Queued. Thank you.' },
})

const answered = (status: number, message: string, outcome: OutcomeRow['outcome']): ProviderRow => ({
  row: `${status}: ${message}`,
  reply: { status, body: { message } },
  outcome: { message, ...outcome, providerCode: String(status) },
})

const ours = { kind: 'rejected', code: 'provider_error', scope: 'message' } as const
const sender = { kind: 'rejected', code: 'invalid_sender', scope: 'account' } as const
const recipient = { kind: 'rejected', code: 'invalid_recipient', scope: 'recipient' } as const
const credentials = { kind: 'rejected', code: 'provider_auth_failed', scope: 'account' } as const
const suspended = { kind: 'rejected', code: 'provider_suspended', scope: 'account' } as const
const limited = { kind: 'retry', code: 'provider_quota_exceeded', scope: 'account' } as const
const FAR = new Date(Date.now() + 10 * 86_400_000).toUTCString()
const unavailable = { kind: 'retry', code: 'provider_unavailable', scope: 'provider' } as const

const ROWS: readonly ProviderRow[] = [
  answered(400, "'from' parameter is not a valid address. please check documentation", sender),
  answered(400, 'from parameter is missing', sender),
  answered(400, "'to' parameter is not a valid address. please check documentation", recipient),
  answered(400, 'to parameter is missing', recipient),
  answered(400, 'Too many recipients; max is 1000', ours),
  answered(400, 'The template from the campaign was not found', ours),
  answered(400, "Need at least one of 'text', 'html' or 'template' parameters specified", ours),
  answered(401, 'Invalid private key: $credentials', {
    ...credentials,
    message: 'Invalid private key: Basic [secret]',
  }),
  {
    row: 'a word',
    reply: { status: 401, body: 'Forbidden' },
    outcome: { ...credentials, message: 'Forbidden' },
  },
  answered(402, 'Payment required', { kind: 'retry', code: 'provider_quota_exceeded', scope: 'account' }),
  answered(403, 'Domain mg.example.org is not allowed to send: disabled', suspended),
  answered(
    403,
    'Domain sandbox1.mailgun.org is not allowed to send: Please activate your account.',
    suspended,
  ),
  ...[400, 420, 429].map((status) =>
    answered(status, 'Domain mg.example.org is not allowed to send: recipient limit exceeded', limited),
  ),
  answered(400, 'Domain sandbox1.mailgun.org is not allowed to send: You are sending too fast.', limited),
  answered(
    420,
    `Domain mg.example.org is not allowed to send: recipient limit exceeded, try again after ${FAR.replace('GMT', 'UTC')}`,
    { ...limited, retryAfterMs: LONGEST_HINT_MS },
  ),
  answered(403, 'The domain is unverified and requires DNS configuration.', sender),
  answered(403, 'Sandbox subdomains are for test purposes only.', {
    kind: 'rejected',
    code: 'blocked_recipient',
    scope: 'recipient',
  }),
  answered(404, 'Domain not found: mg.example.org', {
    kind: 'rejected',
    code: 'provider_error',
    scope: 'account',
  }),
  answered(413, 'Message is too large', { kind: 'rejected', code: 'message_too_large', scope: 'message' }),
  answered(429, 'Too many requests', { kind: 'retry', code: 'provider_rate_limited', scope: 'account' }),
  ...[500, 502, 504].map((status) => ({
    row: `a fault with ${status}`,
    reply: { status, body: { message: 'It went wrong.' } },
    outcome: { kind: 'ambiguous', code: 'provider_unavailable', reason: 'It went wrong.' } as const,
  })),
  {
    row: 'a page for an error',
    reply: { status: 503, body: '<h1>Away</h1>' },
    outcome: { ...unavailable, message: 'The provider answered 503.', providerCode: '503' },
  },
]

function mailgunProvider(baseUrl: string) {
  return mailgun({
    apiKey: API_KEY,
    domain: 'mg.example.org',
    from: 'Ada, "Countess" of Lövelace <no-reply@mg.example.org>',
    baseUrl,
    maxConcurrent: 4,
  })
}

providerContract(
  test,
  () =>
    httpProviderHarness({
      provider: mailgunProvider,
      message: mailMessage({ body: '' }),
      secrets: [API_KEY, BASIC],
      accept: (_, number) => accepted(number),
      aside: ({ body }) =>
        body.includes('name="to"')
          ? undefined
          : { status: 400, body: { message: 'to parameter is missing' } },
      rows: ROWS,
      overloaded: { status: 429, body: { message: 'Too many requests' } },
      async take(request) {
        const form = await formOf(request)
        const textOf = (name: string) => form.get(name)?.toString() ?? null
        const addressesOf = (name: string) => textOf(name)?.split(', ') ?? []
        const files = form.getAll('attachment').flatMap((file) => (typeof file === 'string' ? [] : [file]))
        return {
          to: String(form.get('to')),
          body: String(form.get('text')),
          id: String(form.get('h:Message-Id')),
          mail: {
            ...{ cc: addressesOf('cc'), bcc: addressesOf('bcc'), replyTo: addressesOf('h:Reply-To') },
            ...{ text: textOf('text'), html: textOf('html') },
            attachments: await Promise.all(
              files.map(async (file) => ({
                filename: file.name,
                contentType: file.type,
                content: new Uint8Array(await file.arrayBuffer()),
              })),
            ),
          },
        }
      },
    }),
  ROWS,
  { http: true },
)

/** Parsed by the runtime's own reader of forms. */
function formOf({ headers, body }: ReceivedRequest): Promise<FormData> {
  return new Response(new Uint8Array(body), {
    headers: { 'content-type': headers['content-type'] ?? '' },
  }).formData()
}

async function partsOf(request: ReceivedRequest | undefined) {
  if (request === undefined) throw new Error('no request')
  const parts: Record<string, unknown> = {}
  for (const [name, value] of await formOf(request)) {
    parts[name] =
      typeof value === 'string'
        ? // Readers and writers of forms differ in the ends of lines.
          value.replaceAll('\r\n', '\n')
        : { name: value.name, type: value.type, bytes: [...new Uint8Array(await value.arrayBuffer())] }
  }
  const { method, path, headers } = request
  return { method, path, authorization: headers.authorization, parts }
}

describe('a mail to Mailgun', () => {
  let server: ProviderServer
  afterEach(() => server.close())

  it('is the one that its own client sends, with our id and Message-ID', async () => {
    server = await providerServer({ accept: (_, number) => accepted(number) })
    const channel = mailgunProvider(server.url)
    const context = sendContext()
    expect(await channel.send(FULL_MAIL, context)).toEqual({
      kind: 'accepted',
      providerMessageId: 'id1@mg.example.org',
    })
    const ours = await partsOf(server.requests[0])

    const client = new Mailgun(FormData).client({ username: 'api', key: API_KEY, url: server.url })
    const answer = await client.messages.create('mg.example.org', {
      from: '"Ada, \\"Countess\\" of Lövelace" <no-reply@mg.example.org>',
      to: FULL_TO,
      subject: 'Grüße 🎉',
      text: FULL_TEXT,
      html: FULL_MAIL.body,
      'h:Message-Id': String(ours.parts['h:Message-Id']),
      'h:Reply-To': FULL_REPLY_TO,
      ...Object.fromEntries(Object.entries(FULL_HEADERS).map(([name, value]) => [`h:${name}`, value])),
      'v:carillon_id': context.notificationId,
      attachment: [
        {
          filename: 'Größe.pdf',
          data: new Blob([new Uint8Array(FULL_MAIL.email?.attachments?.[0]?.content ?? [])], {
            type: 'application/pdf',
          }),
        },
      ],
    })
    expect(answer.id).toBe('<id2@mg.example.org>')
    expect(ours).toEqual(await partsOf(server.requests[1]))
    expect(ours.parts['h:Message-Id']).toMatch(/^<notif_[^@]+@mg\.example\.org>$/)
    await channel.close?.()
  })
})
