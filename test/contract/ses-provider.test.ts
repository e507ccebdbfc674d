import { SESv2Client, SendEmailCommand } from '@aws-sdk/client-sesv2'
import { afterEach, describe, expect, it, test } from 'vitest'
import { awsCaller } from '../../adapters/channels/kit/http/aws-client.ts'
import { providerHttp } from '../../adapters/channels/kit/http/provider-http.ts'
import { loadSes } from '../../adapters/channels/ses/client.ts'
import { sesOutcome } from '../../adapters/channels/ses/errors.ts'
import { type AwsCredentials, type SesOptions, ses } from '../../adapters/channels/ses/send.ts'
import { httpProviderHarness } from '../../src/testing/channel/http-harness.ts'
import {
  type ProviderReply,
  type ProviderRow,
  type ProviderServer,
  providerServer,
} from '../../src/testing/channel/provider-server.ts'
import { type OutcomeRow, providerContract } from '../../src/testing/provider-contract.ts'
import {
  FULL_HEADERS,
  FULL_MAIL,
  FULL_REPLY_TO,
  FULL_TEXT,
  FULL_TO,
  takenFiles,
} from '../support/api-mail.ts'
import { mailMessage, sendContext } from '../support/channel-context.ts'
import { closedPort } from '../support/receivers.ts'

const credentials = { accessKeyId: 'AKIAEXAMPLE', secretAccessKey: 'correct-horse-battery-staple' }

const accepted = (number: number): ProviderReply => ({ status: 200, body: { MessageId: `id${number}` } })

const thrown = (
  status: number,
  exception: string,
  outcome: OutcomeRow['outcome'],
  message = 'No.',
): ProviderRow => ({
  row: `${exception}: ${message}`,
  reply: {
    status,
    headers: { 'x-amzn-errortype': `${exception}:http://internal.amazon.com/coral/com.amazonaws/` },
    body: { message },
  },
  outcome: { message, ...outcome, providerCode: exception },
})

const ours = { kind: 'rejected', code: 'provider_error', scope: 'message' } as const
const sender = { kind: 'rejected', code: 'invalid_sender', scope: 'account' } as const
const recipient = { kind: 'rejected', code: 'invalid_recipient', scope: 'recipient' } as const
const denied = { kind: 'rejected', code: 'provider_auth_failed', scope: 'account' } as const
const suspended = { kind: 'rejected', code: 'provider_suspended', scope: 'account' } as const
const limited = { kind: 'retry', code: 'provider_rate_limited', scope: 'account' } as const

/** The recipient of {@link mailMessage}. */
const TO = 'ada@example.com'
const unverified = (addresses: string) =>
  `Email address is not verified. The following identities failed the check in region EU-CENTRAL-1: ${addresses}`

const ROWS: readonly ProviderRow[] = [
  thrown(400, 'MessageRejected', { kind: 'rejected', code: 'content_rejected', scope: 'message' }),
  thrown(400, 'MessageRejected', sender, unverified('a@example.org')),
  thrown(400, 'MessageRejected', sender, unverified(`${TO}, no-reply@example.org`)),
  thrown(400, 'MessageRejected', sender, unverified(`${TO}, example.org`)),
  thrown(400, 'MessageRejected', sender, 'Email address is not verified.'),
  thrown(
    400,
    'MessageRejected',
    { kind: 'rejected', code: 'blocked_recipient', scope: 'recipient' },
    unverified(TO),
  ),
  thrown(
    400,
    'MessageRejected',
    suspended,
    'Sending paused for this account. For more information, see the console.',
  ),
  thrown(400, 'MessageRejected', suspended, 'Your account has been suspended.'),
  thrown(400, 'ConfigurationSetSendingPausedException', suspended),
  thrown(400, 'AccountSendingPausedException', suspended),
  thrown(400, 'MailFromDomainNotVerifiedException', sender),
  thrown(400, 'AccountSuspendedException', suspended),
  thrown(400, 'SendingPausedException', suspended),
  thrown(400, 'BadRequestException', ours, "Missing final '@domain'"),
  thrown(400, 'BadRequestException', ours, 'Domain contains illegal character: no-reply@exämple.org'),
  thrown(400, 'BadRequestException', ours, 'Invalid reply address <her.ada@example.com>.'),
  thrown(400, 'BadRequestException', recipient, 'Invalid address <Ada@Example.com>.'),
  thrown(
    400,
    'BadRequestException',
    { kind: 'rejected', code: 'template_error', scope: 'message' },
    'Template x does not exist.',
  ),
  thrown(400, 'BadRequestException', ours, 'Something is not right.'),
  thrown(404, 'NotFoundException', { kind: 'rejected', code: 'provider_error', scope: 'account' }),
  thrown(400, 'LimitExceededException', limited),
  thrown(429, 'TooManyRequestsException', limited),
  ...['TooManyRequestsException', 'LimitExceededException', 'ThrottlingException'].flatMap((exception) => [
    thrown(429, exception, { ...limited, retryAfterMs: 1000 }, 'Maximum sending rate exceeded.'),
    thrown(
      429,
      exception,
      { kind: 'retry', code: 'provider_quota_exceeded', scope: 'account', retryAfterMs: 600_000 },
      'Daily message quota exceeded.',
    ),
  ]),
  thrown(403, 'AccessDeniedException', denied),
  thrown(403, 'ExpiredTokenException', denied),
  thrown(
    403,
    'InvalidSignatureException',
    { ...denied, message: 'With [secret]?' },
    'With correct-horse-battery-staple?',
  ),
  thrown(403, 'SignatureDoesNotMatch', denied),
  thrown(403, 'UnrecognizedClientException', denied),
  thrown(403, 'InvalidClientTokenId', denied),
  thrown(403, 'IncompleteSignature', denied),
  thrown(403, 'MissingAuthenticationToken', denied),
  thrown(403, 'OptInRequired', denied),
  thrown(400, 'NotAuthorized', denied),
  thrown(403, 'RequestExpired', denied),
  thrown(503, 'ServiceUnavailable', { kind: 'retry', code: 'provider_unavailable', scope: 'provider' }),
  thrown(503, 'ServiceUnavailableException', {
    kind: 'retry',
    code: 'provider_unavailable',
    scope: 'provider',
  }),
  thrown(409, 'BrandNewException', ours),
  {
    row: 'an exception that is named in the body',
    reply: {
      status: 400,
      body: { __type: 'com.amazonaws.sesv2#SendingPausedException', message: 'Paused.' },
    },
    outcome: { ...suspended, message: 'Paused.', providerCode: 'SendingPausedException' },
  },
  {
    row: 'a fault',
    reply: { status: 500, body: {}, headers: { 'x-amzn-errortype': 'InternalFailure' } },
    outcome: { kind: 'ambiguous', code: 'provider_unavailable', providerCode: 'InternalFailure' },
  },
  {
    row: 'a gateway without its server',
    reply: { status: 504, body: '<h1>Timeout</h1>' },
    outcome: { kind: 'ambiguous', code: 'provider_unavailable', providerCode: '504' },
  },
]

function sesProvider(baseUrl: string, more: Partial<SesOptions> = {}) {
  return ses({
    region: 'eu-central-1',
    credentials,
    from: 'Ada, "Countess" of Lövelace <no-reply@example.org>',
    baseUrl,
    maxConcurrent: 4,
    ...more,
  })
}

providerContract(
  test,
  () =>
    httpProviderHarness({
      provider: (url) => sesProvider(url),
      message: mailMessage({ body: '' }),
      secrets: [credentials.secretAccessKey],
      accept: (_, number) => accepted(number),
      aside: ({ path }) =>
        path === '/v2/email/account' ? { status: 200, body: { SendingEnabled: true } } : undefined,
      rows: ROWS,
      overloaded: { status: 429, headers: { 'x-amzn-errortype': 'TooManyRequestsException' }, body: {} },
      take({ body }) {
        const mail = JSON.parse(body.toString('utf8'))
        const { Body, Attachments } = mail.Content.Simple
        const { ToAddresses, CcAddresses: cc = [], BccAddresses: bcc = [] } = mail.Destination
        const { ReplyToAddresses: replyTo = [] } = mail
        return {
          to: ToAddresses[0],
          body: Body.Text.Data,
          // It sets the Message-ID itself, and deduplicates nothing; our id is for its reports.
          id: mail.EmailTags[0].Value,
          mail: {
            ...{ cc, bcc, replyTo, text: Body.Text.Data, html: Body.Html?.Data ?? null },
            attachments: takenFiles(Attachments, 'FileName', 'ContentType', 'RawContent'),
          },
        }
      },
    }),
  ROWS,
  { http: true },
)

describe('a mail to Amazon SES', () => {
  let server: ProviderServer
  afterEach(() => server?.close())

  it('is the one that the AWS SDK sends by itself, with our id', async () => {
    server = await providerServer({ accept: (_, number) => accepted(number) })
    const channel = sesProvider(server.url, { configurationSet: 'events' })
    const context = sendContext()
    expect(await channel.send(FULL_MAIL, context)).toEqual({ kind: 'accepted', providerMessageId: 'id1' })

    const client = new SESv2Client({ region: 'eu-central-1', credentials, endpoint: server.url })
    const answer = await client.send(
      new SendEmailCommand({
        // The name in RFC 2047: SES takes 7-bit text only.
        FromEmailAddress: '=?UTF-8?B?QWRhLCAiQ291bnRlc3MiIG9mIEzDtnZlbGFjZQ==?= <no-reply@example.org>',
        Destination: { ToAddresses: [FULL_TO] },
        ReplyToAddresses: [FULL_REPLY_TO],
        Content: {
          Simple: {
            Subject: { Data: 'Grüße 🎉', Charset: 'UTF-8' },
            Body: {
              Text: { Data: FULL_TEXT, Charset: 'UTF-8' },
              Html: { Data: FULL_MAIL.body, Charset: 'UTF-8' },
            },
            Headers: Object.entries(FULL_HEADERS).map(([Name, Value]) => ({ Name, Value })),
            Attachments: [
              {
                FileName: 'Größe.pdf',
                ContentType: 'application/pdf',
                ContentDisposition: 'ATTACHMENT',
                ContentTransferEncoding: 'BASE64',
                RawContent: FULL_MAIL.email?.attachments?.[0]?.content,
              },
            ],
          },
        },
        EmailTags: [{ Name: 'carillon_id', Value: context.notificationId }],
        ConfigurationSetName: 'events',
      }),
    )
    expect(answer.MessageId).toBe('id2')

    const [ours, theirs] = server.requests.map(({ method, path, headers, body }) => ({
      method,
      path,
      host: headers.host,
      contentType: headers['content-type'],
      signedHeaders: /SignedHeaders=([^,]+)/.exec(headers.authorization ?? '')?.[1],
      body: JSON.parse(String(body)),
    }))
    expect(ours).toEqual(theirs)
    client.destroy()
    await channel.close?.()
  })

  it('names the types of files in at most 78 characters, which are all that SES takes', async () => {
    server = await providerServer({ accept: (_, number) => accepted(number) })
    const channel = sesProvider(server.url)
    const document = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'
    const file = (contentType: string) => ({ filename: 'a', contentType, content: new Uint8Array([1]) })
    const attachments = ['text/csv; charset=utf-8', `${document}; charset=binary`].map(file)
    await channel.send(mailMessage({ email: { attachments } }), sendContext())
    const { Content } = JSON.parse(String(server.requests[0]?.body))
    const types = Content.Simple.Attachments.map(({ ContentType }: { ContentType: string }) => ContentType)
    expect(types).toEqual(['text/csv; charset=utf-8', document])
    await channel.close?.()
  })

  it.each(['TooManyRequestsException: No.', 'ServiceUnavailable: No.', 'a fault'])(
    'is handed over once, whatever the SDK would do: %s',
    async (row) => {
      server = await providerServer({ accept: (_, number) => accepted(number), rows: ROWS })
      const channel = sesProvider(server.url)
      server.act({ kind: 'answer', row })
      await channel.send(mailMessage(), sendContext())
      expect(server.requests).toHaveLength(1)
      await channel.close?.()
    },
  )

  it.each([
    ['keys', (keys: AwsCredentials) => keys],
    ['a function that gives them', (keys: AwsCredentials) => async () => keys],
  ])('leaves the credentials as they are, for a second use: %s', async (_name, give) => {
    server = await providerServer({ accept: (_, number) => accepted(number) })
    const keys = Object.freeze({ ...credentials })
    for (const number of [1, 2]) {
      const channel = sesProvider(server.url, { credentials: give(keys) })
      expect(await channel.send(mailMessage(), sendContext())).toMatchObject({
        kind: 'accepted',
        providerMessageId: `id${number}`,
      })
      await channel.close?.()
    }
    expect(keys).toEqual(credentials)
  })

  it('keeps to itself what a function gave, where the refusal repeats what was signed', async () => {
    const refused: ProviderRow = {
      row: 'repeats what was signed',
      reply: {
        status: 403,
        headers: { 'x-amzn-errortype': 'InvalidSignatureException' },
        body: { message: 'The canonical string should have been: $credentials' },
      },
      outcome: { kind: 'rejected' },
    }
    server = await providerServer({ accept: (_, number) => accepted(number), rows: [refused] })
    server.act({ kind: 'answer', row: refused.row })
    const sessionToken = `FwoGZXIvYXdzE${'+/x9='.repeat(40)}`
    const channel = sesProvider(server.url, { credentials: async () => ({ ...credentials, sessionToken }) })
    const outcome = await channel.send(mailMessage(), sendContext())
    expect(outcome).toMatchObject({ ...denied, message: expect.stringContaining('[secret]') })
    expect(JSON.stringify(outcome)).not.toContain(sessionToken.slice(0, 20))
    const [, signature = ''] = /Signature=(\w+)/.exec(server.requests[0]?.headers.authorization ?? '') ?? []
    expect(signature).not.toBe('')
    expect(JSON.stringify(outcome)).not.toContain(signature)
    await channel.close?.()
  })

  it('blames nobody as the recipient for an address that is the sender as well', async () => {
    server = await providerServer({ accept: (_, number) => accepted(number), rows: ROWS })
    const channel = sesProvider(server.url, { from: TO })
    server.act({ kind: 'answer', row: `MessageRejected: ${unverified(TO)}` })
    expect(await channel.send(mailMessage(), sendContext())).toMatchObject(sender)
    server.act({ kind: 'answer', row: 'BadRequestException: Invalid address <Ada@Example.com>.' })
    expect(await channel.send(mailMessage(), sendContext())).toMatchObject(ours)
    await channel.close?.()
  })

  it('does not begin when its signal has aborted, whatever is missing', async () => {
    server = await providerServer({ accept: (_, number) => accepted(number) })
    const channel = sesProvider(server.url, { credentials: () => new Promise(() => {}) })
    expect(await channel.send(mailMessage(), sendContext({ signal: AbortSignal.abort() }))).toMatchObject({
      kind: 'retry',
      scope: 'provider',
    })
    await channel.close?.()
  })

  it('is not sent without a part that the installed SDK leaves out', async () => {
    server = await providerServer({ accept: (_, number) => accepted(number) })
    const http = providerHttp({ maxConnections: 1, timeoutMs: 20_000, secrets: [] })
    const caller = awsCaller({
      http,
      region: 'eu-central-1',
      endpoint: server.url,
      credentials,
      load: loadSes,
      create: ({ SESv2Client: Client }, options) => new Client(options),
    })
    const send = (expected: readonly string[]) =>
      caller.call(
        ({ SendEmailCommand: Command }) => new Command({ Content: { Simple: {} }, FutureField: 1 }),
        new AbortController().signal,
        () => sesOutcome,
        expected,
      )
    expect(await send(['Content', 'FutureField'])).toMatchObject({
      kind: 'rejected',
      code: 'missing_peer',
      scope: 'account',
      message: expect.stringContaining('npm install @aws-sdk/client-sesv2@latest'),
    })
    expect(server.requests).toEqual([])
    expect(await send(['Content'])).toMatchObject({ kind: 'accepted' })
    await caller.close()
    http.close()
  })

  it('cannot have left when nobody listens', async () => {
    const channel = sesProvider(`http://127.0.0.1:${await closedPort()}`)
    expect(await channel.send(mailMessage(), sendContext())).toMatchObject({
      kind: 'retry',
      code: 'provider_unavailable',
      scope: 'provider',
    })
    await channel.close?.()
  })

  it('cannot have left without credentials, and says so', async () => {
    server = await providerServer({ accept: (_, number) => accepted(number) })
    const channel = sesProvider(server.url, {
      credentials: () =>
        Promise.reject(Object.assign(new Error('no role'), { name: 'CredentialsProviderError' })),
    })
    expect(await channel.send(mailMessage(), sendContext())).toMatchObject({
      kind: 'rejected',
      code: 'provider_auth_failed',
      scope: 'account',
      providerCode: 'CredentialsProviderError',
    })
    expect(server.requests).toEqual([])
    await channel.close?.()
  })

  it('ends with its signal while the credentials are looked for', async () => {
    server = await providerServer({ accept: (_, number) => accepted(number) })
    const abort = new AbortController()
    const channel = sesProvider(server.url, {
      credentials: () => {
        abort.abort()
        return new Promise(() => {})
      },
    })
    expect(await channel.send(mailMessage(), sendContext({ signal: abort.signal }))).toMatchObject({
      kind: 'retry',
      scope: 'provider',
    })
    expect(server.requests).toEqual([])
    await channel.close?.()
  })
})
