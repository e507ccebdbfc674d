import { ServerClient } from 'postmark'
import { afterEach, describe, expect, it, test } from 'vitest'
import { postmark } from '../../adapters/channels/postmark/send.ts'
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

const TOKEN = '3f1c0e1b-correct-horse-battery'

const accepted = (number: number): ProviderReply => ({
  status: 200,
  body: {
    To: 'ada@example.com',
    SubmittedAt: '2026-11-21T12:00:00.0000000Z',
    MessageID: `id${number}`,
    ErrorCode: 0,
    Message: 'OK',
  },
})

const answered = (
  status: number,
  ErrorCode: number,
  outcome: OutcomeRow['outcome'],
  Message = 'No.',
): ProviderRow => ({
  row: `${status} with ${ErrorCode}: ${Message}`,
  reply: { status, body: { ErrorCode, Message } },
  outcome: { ...outcome, providerCode: String(ErrorCode) },
})

const ours = { kind: 'rejected', code: 'provider_error', scope: 'message' } as const
const config = { kind: 'rejected', code: 'provider_error', scope: 'account' } as const
const sender = { kind: 'rejected', code: 'invalid_sender', scope: 'account' } as const
const denied = { kind: 'rejected', code: 'provider_auth_failed', scope: 'account' } as const
const suspended = { kind: 'rejected', code: 'provider_suspended', scope: 'account' } as const
const unavailable = { kind: 'retry', code: 'provider_unavailable', scope: 'provider' } as const

const ROWS: readonly ProviderRow[] = [
  answered(
    401,
    10,
    { kind: 'rejected', code: 'provider_auth_failed', scope: 'account', message: 'Not [secret]!' },
    'Not $credentials!',
  ),
  answered(503, 100, unavailable),
  answered(422, 300, sender, "Invalid 'From' address: 'x'."),
  answered(
    422,
    300,
    { kind: 'rejected', code: 'invalid_recipient', scope: 'recipient' },
    "Error parsing 'To': Illegal email address 'x'.",
  ),
  answered(422, 300, ours, 'Zero recipients specified'),
  answered(422, 400, sender),
  answered(422, 401, sender),
  answered(422, 402, ours),
  answered(422, 403, ours),
  answered(422, 405, { kind: 'retry', code: 'provider_quota_exceeded', scope: 'account' }),
  answered(422, 406, { kind: 'rejected', code: 'blocked_by_provider', scope: 'recipient' }),
  answered(422, 409, ours),
  answered(422, 410, ours),
  answered(422, 411, { kind: 'rejected', code: 'content_rejected', scope: 'message' }),
  answered(422, 412, { kind: 'rejected', code: 'blocked_recipient', scope: 'recipient' }),
  answered(422, 413, suspended),
  answered(429, 429, { kind: 'retry', code: 'provider_rate_limited', scope: 'account' }),
  answered(422, 1235, config, "The 'MessageStream' provided does not exist on this server."),
  answered(422, 1236, config, "Sending is not supported on the supplied 'MessageStream'."),
  answered(422, 422, denied, 'Invalid Server or Account.'),
  answered(422, 1480, denied, 'You are not authorized to send emails from your current IP address.'),
  answered(422, 9999, ours),
  answered(413, 9998, { kind: 'rejected', code: 'message_too_large', scope: 'message' }),
  {
    row: 'a success with an error in it',
    reply: { status: 200, body: { ErrorCode: 300, Message: 'No.' } },
    outcome: { kind: 'ambiguous', providerCode: '200' },
  },
  {
    row: 'a fault',
    reply: { status: 500, body: 'Internal error' },
    outcome: { kind: 'ambiguous', code: 'provider_unavailable', providerCode: '500' },
  },
  {
    row: 'a gateway without its server',
    reply: { status: 504, body: 'Gateway timeout' },
    outcome: { kind: 'ambiguous', code: 'provider_unavailable', providerCode: '504' },
  },
]

providerContract(
  test,
  () =>
    httpProviderHarness({
      provider: (baseUrl) =>
        postmark({ serverToken: TOKEN, from: 'no-reply@example.org', baseUrl, maxConcurrent: 4 }),
      message: mailMessage({ body: '' }),
      secrets: [TOKEN],
      accept: (_, number) => accepted(number),
      aside: ({ path }) => (path === '/server' ? { status: 200, body: { ID: 1 } } : undefined),
      rows: ROWS,
      overloaded: { status: 429, body: { ErrorCode: 429, Message: 'Too many requests.' } },
      take({ body }) {
        const mail = JSON.parse(body.toString('utf8'))
        const addressesOf = (list = '') => list.split(', ').filter(Boolean)
        return {
          to: mail.To,
          body: mail.TextBody,
          id: mail.Headers[0].Value,
          mail: {
            ...{ cc: addressesOf(mail.Cc), bcc: addressesOf(mail.Bcc), replyTo: addressesOf(mail.ReplyTo) },
            ...{ text: mail.TextBody ?? null, html: mail.HtmlBody ?? null },
            attachments: takenFiles(mail.Attachments, 'Name', 'ContentType', 'Content'),
          },
        }
      },
    }),
  ROWS,
  { http: true },
)

describe('a mail to Postmark', () => {
  let server: ProviderServer
  afterEach(() => server.close())

  it('is the one that its own client sends, with our id and Message-ID', async () => {
    server = await providerServer({ accept: (_, number) => accepted(number) })
    const channel = postmark({
      serverToken: TOKEN,
      from: 'Ada, "Countess" of Lövelace <no-reply@example.org>',
      baseUrl: server.url,
      messageStream: 'broadcast',
    })
    const context = sendContext()
    expect(await channel.send(FULL_MAIL, context)).toEqual({ kind: 'accepted', providerMessageId: 'id1' })

    const client = new ServerClient(TOKEN, { requestHost: new URL(server.url).host, useHttps: false })
    const [messageId] = JSON.parse(String(server.requests[0]?.body)).Headers
    const answer = await client.sendEmail({
      From: '"Ada, \\"Countess\\" of Lövelace" <no-reply@example.org>',
      To: FULL_TO,
      ReplyTo: FULL_REPLY_TO,
      Subject: 'Grüße 🎉',
      TextBody: FULL_TEXT,
      HtmlBody: FULL_MAIL.body,
      Headers: [
        messageId,
        { Name: 'X-PM-KeepID', Value: 'true' },
        ...Object.entries(FULL_HEADERS).map(([Name, Value]) => ({ Name, Value })),
      ],
      Metadata: { carillon_id: context.notificationId },
      MessageStream: 'broadcast',
      Attachments: [
        { Name: 'Größe.pdf', Content: FULL_FILE, ContentType: 'application/pdf', ContentID: null },
      ],
    })
    expect(answer.MessageID).toBe('id2')

    const [ours, theirs] = server.requests.map(({ method, path, headers, body }) => ({
      method,
      path,
      token: headers['x-postmark-server-token'],
      accept: headers.accept,
      contentType: headers['content-type'],
      // The client's type asks for a ContentID where the API does not.
      body: JSON.parse(String(body), (key, value) => (key === 'ContentID' ? undefined : value)),
    }))
    expect(ours).toEqual({ ...theirs, path: '/email' })
    expect(theirs?.path).toMatch(/^\/email\/?$/)
    expect(messageId.Value).toMatch(/^<notif_[^@]+@example\.org>$/)
    await channel.close?.()
  })
})
