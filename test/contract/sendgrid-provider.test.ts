import client from '@sendgrid/mail'
import { afterEach, describe, expect, it, test } from 'vitest'
import { sendgrid } from '../../adapters/channels/sendgrid/send.ts'
import { httpProviderHarness } from '../../src/testing/channel/http-harness.ts'
import {
  type ProviderReply,
  type ProviderRow,
  type ProviderServer,
  providerServer,
} from '../../src/testing/channel/provider-server.ts'
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

const API_KEY = 'SG.correct-horse.battery-staple'

const failed = (message: string, field: string | null = null) => ({
  errors: [{ message, field, help: null }],
})
const accepted = (number: number): ProviderReply => ({
  status: 202,
  headers: { 'x-message-id': `id${number}` },
})

const ROWS: readonly ProviderRow[] = [
  {
    row: 'an invalid sender',
    reply: { status: 400, body: failed('The from email does not contain a valid address.', 'from.email') },
    outcome: {
      kind: 'rejected',
      code: 'invalid_sender',
      scope: 'account',
      providerCode: '400 from.email',
      message: 'The from email does not contain a valid address.',
    },
  },
  {
    row: 'an invalid recipient',
    reply: {
      status: 400,
      body: failed('Does not contain a valid address.', 'personalizations.0.to.0.email'),
    },
    outcome: { kind: 'rejected', code: 'invalid_recipient', scope: 'recipient' },
  },
  {
    row: 'an invalid content',
    reply: { status: 400, body: failed('The content value must be a string', 'content.0.value') },
    outcome: {
      kind: 'rejected',
      code: 'provider_error',
      scope: 'message',
      providerCode: '400 content.0.value',
    },
  },
  {
    row: 'a wrong key',
    reply: { status: 401, body: failed('The provided authorization grant is invalid: $credentials') },
    outcome: {
      kind: 'rejected',
      code: 'provider_auth_failed',
      scope: 'account',
      message: 'The provided authorization grant is invalid: Bearer [secret]',
      providerCode: '401',
    },
  },
  {
    row: 'no credits left',
    reply: { status: 401, body: failed('Maximum credits exceeded') },
    outcome: { kind: 'retry', code: 'provider_quota_exceeded', scope: 'account' },
  },
  {
    row: 'a key without the permission',
    reply: { status: 403, body: failed('access forbidden') },
    outcome: { kind: 'rejected', code: 'provider_auth_failed', scope: 'account' },
  },
  {
    row: 'a sender that is not verified',
    reply: {
      status: 403,
      body: failed('The from address does not match a verified Sender Identity.', 'from'),
    },
    outcome: { kind: 'rejected', code: 'invalid_sender', scope: 'account' },
  },
  {
    row: 'too large',
    reply: { status: 413, body: failed('Payload too large') },
    outcome: { kind: 'rejected', code: 'message_too_large', scope: 'message' },
  },
  {
    row: 'too many requests, until a second',
    reply: {
      status: 429,
      body: failed('too many requests'),
      headers: { 'x-ratelimit-reset': String(Math.floor(Date.now() / 1000) + 90_000) },
    },
    outcome: { kind: 'retry', code: 'provider_rate_limited', scope: 'account' },
  },
  ...[500, 502, 504].map((status) => ({
    row: `a fault with ${status}`,
    reply: { status, body: failed('internal error') },
    outcome: { kind: 'ambiguous', code: 'provider_unavailable', providerCode: String(status) } as const,
  })),
  {
    row: 'out of service',
    reply: { status: 503, body: 'Service unavailable' },
    outcome: { kind: 'retry', code: 'provider_unavailable', scope: 'provider' },
  },
  {
    row: 'a mail that is taken without an id',
    reply: { status: 202 },
    outcome: { kind: 'accepted', providerMessageId: undefined },
  },
  {
    row: 'a success of another kind',
    reply: { status: 200, body: {} },
    outcome: { kind: 'ambiguous', providerCode: '200' },
  },
]

providerContract(
  test,
  () =>
    httpProviderHarness({
      provider: (baseUrl) =>
        sendgrid({ apiKey: API_KEY, from: 'no-reply@example.org', baseUrl, maxConcurrent: 4 }),
      message: mailMessage({ body: '' }),
      secrets: [API_KEY],
      accept: (_, number) => accepted(number),
      aside: ({ path }) =>
        path === '/v3/scopes' ? { status: 200, body: { scopes: ['mail.send'] } } : undefined,
      rows: ROWS,
      overloaded: { status: 429, body: failed('too many requests') },
      take({ body }) {
        const mail = JSON.parse(body.toString('utf8'))
        const [{ to, cc, bcc }] = mail.personalizations
        const addressesOf = (list: { email: string }[] = []) => list.map(({ email }) => email)
        const textOf = (type: string) =>
          mail.content.find((part: { type: string }) => part.type === type)?.value ?? null
        return {
          to: to[0].email,
          body: textOf('text/plain'),
          id: mail.headers['Message-ID'],
          mail: {
            ...{
              cc: addressesOf(cc),
              bcc: addressesOf(bcc),
              replyTo: addressesOf(mail.reply_to_list ?? (mail.reply_to && [mail.reply_to])),
            },
            ...{ text: textOf('text/plain'), html: textOf('text/html') },
            attachments: takenFiles(mail.attachments, 'filename', 'type', 'content'),
          },
        }
      },
    }),
  ROWS,
  { http: true, statusAlone: 'empty' },
)

describe('a mail to SendGrid', () => {
  let server: ProviderServer
  afterEach(() => server.close())
  const open = async () => {
    server = await providerServer({ accept: (_, number) => accepted(number) })
    return sendgrid({
      apiKey: API_KEY,
      from: 'Ada, "Countess" of Lövelace <no-reply@example.org>',
      baseUrl: `${server.url}/`,
    })
  }

  it('is the one that its own client sends, with our id and Message-ID', async () => {
    const channel = await open()
    const context = sendContext()
    expect(await channel.send(FULL_MAIL, context)).toEqual({ kind: 'accepted', providerMessageId: 'id1' })

    client.setApiKey(API_KEY)
    // The client's own default is private to its types.
    Reflect.get(client, 'client').setDefaultRequest('baseUrl', server.url)
    const messageId = JSON.parse(String(server.requests[0]?.body)).headers['Message-ID']
    const [answer] = await client.send({
      from: { name: 'Ada, "Countess" of Lövelace', email: 'no-reply@example.org' },
      to: FULL_TO,
      replyTo: FULL_REPLY_TO,
      subject: 'Grüße 🎉',
      text: FULL_TEXT,
      html: FULL_MAIL.body,
      headers: { 'Message-ID': messageId, ...FULL_HEADERS },
      customArgs: { carillon_id: context.notificationId },
      attachments: [
        { content: FULL_FILE, filename: 'Größe.pdf', type: 'application/pdf', disposition: 'attachment' },
      ],
    })
    expect(answer.statusCode).toBe(202)

    const [ours, theirs] = server.requests.map(({ method, path, headers, body }) => ({
      method,
      path,
      authorization: headers.authorization,
      contentType: headers['content-type'],
      body: JSON.parse(String(body)),
    }))
    expect(ours).toEqual(theirs)
    expect(messageId).toMatch(/^<notif_[^@]+@example\.org>$/)
    await channel.close?.()
  })

  it('says the type of an attachment without parameters, which SendGrid refuses', async () => {
    const channel = await open()
    const contentType = 'text/calendar; method=REQUEST; charset=utf-8'
    const attachments = [{ filename: 'invite.ics', contentType, content: new Uint8Array([66]) }]
    await channel.send(mailMessage({ email: { attachments } }), sendContext())
    expect(JSON.parse(String(server.requests[0]?.body)).attachments).toMatchObject([
      { filename: 'invite.ics', type: 'text/calendar' },
    ])
    await channel.close?.()
  })

  it('has no page where a template made an empty one, which SendGrid refuses', async () => {
    const channel = await open()
    for (const body of ['', ' \n']) await channel.send(mailMessage({ body, format: 'html' }), sendContext())
    for (const { body } of server.requests) {
      expect(JSON.parse(String(body)).content).toEqual([{ type: 'text/plain', value: 'Hello' }])
    }
    expect(server.requests).toHaveLength(2)
    await channel.close?.()
  })

  it('waits as long as its limit says', async () => {
    server = await providerServer({
      accept: (_, number) => accepted(number),
      rows: ROWS,
    })
    const channel = sendgrid({ apiKey: API_KEY, from: 'a@example.org', baseUrl: server.url })
    server.act({ kind: 'answer', row: 'too many requests, until a second' })
    const outcome = await channel.send(mailMessage(), sendContext())
    const hint = outcome.kind === 'retry' ? (outcome.retryAfterMs ?? 0) : 0
    expect(hint).toBeGreaterThan(80_000_000)
    expect(hint).toBeLessThanOrEqual(90_000_000)
    await channel.close?.()
  })

  it('goes to nobody whose address cannot be carried', async () => {
    const channel = await open()
    for (const to of [
      'ü@example.com',
      'a@b@example.com',
      'Ada <ada@example.com>',
      'a@example.com\r\nBcc: b@c.d',
    ]) {
      expect(await channel.send(mailMessage({ to }), sendContext())).toMatchObject({
        kind: 'rejected',
        code: 'invalid_recipient',
        scope: 'recipient',
      })
    }
    expect(server.requests).toEqual([])
    await channel.close?.()
  })

  it('goes at the pace and in the time that its options say', async () => {
    server = await providerServer({ accept: (_, number) => accepted(number) })
    const options = {
      apiKey: API_KEY,
      from: 'a@example.org',
      name: 'bulk',
      maxPerSecond: 0.5,
      timeoutMs: 7000,
    }
    expect(sendgrid(options)).toMatchObject({
      name: 'bulk',
      kind: { name: 'email' },
      maxConcurrent: 10,
      maxPerSecond: 0.5,
      timeoutMs: 8000,
      onAmbiguous: 'retry',
    })
  })

  it.each([
    ['apiKey', { apiKey: 'with\r\nline' }],
    ['baseUrl', { baseUrl: 'http://api.example.org' }],
    ['baseUrl', { baseUrl: 'https://user:pass@api.example.org' }],
    ['baseUrl', { baseUrl: 'https://api.example.org/?' }],
    ['from', { from: 'nobody' }],
    ['receipts.publicKey', { receipts: { publicKey: 'AAAA' } }],
    ['maxPerSecond', { maxPerSecond: 1.5 }],
    ['maxPerSecond', { maxPerSecond: 0 }],
    ['sandbox', { sandbox: true }],
  ])('is not sent with a wrong option %s', async (option, wrong) => {
    server = await providerServer({ accept: (_, number) => accepted(number) })
    expect(() => sendgrid({ apiKey: API_KEY, from: 'a@example.org', ...wrong })).toThrow(
      expect.objectContaining({ code: 'invalid_configuration', details: { option } }),
    )
  })
})
