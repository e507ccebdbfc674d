import type { SendEmailCommandInput } from '@aws-sdk/client-sesv2'
import type { Message as PostmarkMessage } from 'postmark'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { mailgun } from '../../adapters/channels/mailgun/send.ts'
import { postmark } from '../../adapters/channels/postmark/send.ts'
import { resend } from '../../adapters/channels/resend/send.ts'
import { sendgrid } from '../../adapters/channels/sendgrid/send.ts'
import { ses } from '../../adapters/channels/ses/send.ts'
import type { EmailKind } from '../../src/core/channels/email.ts'
import type { Provider } from '../../src/core/ports/provider.ts'
import { type ProviderServer, providerServer } from '../../src/testing/channel/provider-server.ts'
import { FULL_MAIL, INVITATION, SHARED_MAIL } from '../support/api-mail.ts'
import { sendContext } from '../support/channel-context.ts'

/*
 * A mail with a sender, copies, an inline image and an invitation of its own, as each API wants it. Each copy is named once,
 * since some APIs refuse a mail that names an address twice.
 */

let server: ProviderServer
beforeAll(async () => {
  const body = { id: '<1@example.org>', MessageId: '1', MessageID: '1', ErrorCode: 0 }
  server = await providerServer({
    accept: ({ path }) =>
      path === '/v3/mail/send' ? { status: 202, headers: { 'x-message-id': '1' } } : { status: 200, body },
  })
})
afterAll(() => server.close())

/** The request that a provider makes of the mail. */
async function requestOf(provider: Provider<EmailKind>) {
  const outcome = await provider.send(SHARED_MAIL, sendContext())
  expect(outcome).toMatchObject({ kind: 'accepted' })
  await provider.close?.()
  const request = server.requests.at(-1)
  if (request === undefined) throw new Error('no request')
  return request
}

async function jsonOf(provider: Provider<EmailKind>): Promise<Record<string, unknown>> {
  return JSON.parse(String((await requestOf(provider)).body))
}

const mail = { from: 'no-reply@example.org', senders: ['acme.example'] }
const CALENDAR = Buffer.from(INVITATION).toString('base64')
const TYPE = 'text/calendar; charset=utf-8; method=REQUEST'
const SENDER = '"Büro, Acme" <news@acme.example>'
const BOB = '"Bob" <bob@xn--bcher-kva.example>'

describe('a mail with copies, an inline image and an invitation', () => {
  it('goes to SendGrid with the invitation as an alternative', async () => {
    const { personalizations, content, attachments, ...rest } = await jsonOf(
      sendgrid({ apiKey: 'SG.a', ...mail, baseUrl: server.url }),
    )
    expect(personalizations).toEqual([
      {
        to: [{ email: 'ada@xn--bcher-kva.example' }],
        cc: [{ email: 'bob@xn--bcher-kva.example', name: 'Bob' }],
        bcc: [{ email: 'carl@example.com' }],
      },
    ])
    expect(rest).toMatchObject({
      from: { email: 'news@acme.example', name: 'Büro, Acme' },
      reply_to_list: [{ email: 'help@acme.example', name: 'Help' }, { email: 'sales@acme.example' }],
    })
    expect(rest).not.toHaveProperty('reply_to')
    expect(content).toMatchObject([
      { type: 'text/plain' },
      { type: 'text/html' },
      { type: 'text/calendar; method=REQUEST', value: INVITATION },
    ])
    expect(attachments).toEqual([
      {
        content: 'AQI=',
        filename: 'logo.png',
        type: 'image/png',
        disposition: 'inline',
        content_id: 'logo@acme',
      },
    ])
  })

  it('goes to Postmark with the invitation as a file', async () => {
    const expected: Partial<PostmarkMessage> = {
      From: SENDER,
      To: 'ada@xn--bcher-kva.example',
      Cc: BOB,
      Bcc: 'carl@example.com',
      ReplyTo: '"Help" <help@acme.example>, sales@acme.example',
    }
    const request = await jsonOf(postmark({ serverToken: 'token-of-ours', ...mail, baseUrl: server.url }))
    expect(request).toMatchObject({
      ...expected,
      Attachments: [
        { Name: 'logo.png', Content: 'AQI=', ContentType: 'image/png', ContentID: 'cid:logo@acme' },
        { Name: 'invite.ics', Content: CALENDAR, ContentType: TYPE },
      ],
    })
  })

  it('goes to Resend with the invitation as a file', async () => {
    expect(await jsonOf(resend({ apiKey: 're_a', ...mail, baseUrl: server.url }))).toMatchObject({
      from: SENDER,
      to: 'ada@xn--bcher-kva.example',
      cc: [BOB],
      bcc: ['carl@example.com'],
      reply_to: ['"Help" <help@acme.example>', 'sales@acme.example'],
      attachments: [
        { filename: 'logo.png', content: 'AQI=', content_type: 'image/png', content_id: 'logo@acme' },
        { filename: 'invite.ics', content: CALENDAR, content_type: TYPE },
      ],
    })
  })

  it('goes to Amazon SES with the invitation as a file', async () => {
    const credentials = { accessKeyId: 'AKIA', secretAccessKey: 'secret' }
    const expected: Partial<SendEmailCommandInput> = {
      FromEmailAddress: '=?UTF-8?B?QsO8cm8sIEFjbWU=?= <news@acme.example>',
      Destination: {
        ToAddresses: ['ada@xn--bcher-kva.example'],
        CcAddresses: [BOB],
        BccAddresses: ['carl@example.com'],
      },
      ReplyToAddresses: ['"Help" <help@acme.example>', 'sales@acme.example'],
    }
    const request = await jsonOf(ses({ region: 'eu-central-1', credentials, ...mail, baseUrl: server.url }))
    expect(request).toMatchObject(expected)
    expect(request).toMatchObject({
      Content: {
        Simple: {
          Attachments: [
            {
              FileName: 'logo.png',
              ContentDisposition: 'INLINE',
              ContentId: 'logo@acme',
              RawContent: 'AQI=',
            },
            {
              FileName: 'invite.ics',
              ContentDisposition: 'ATTACHMENT',
              ContentType: TYPE,
              RawContent: CALENDAR,
            },
          ],
        },
      },
    })
  })

  it('goes to Mailgun, where the name of an inline file is its content id', async () => {
    const { headers, body } = await requestOf(
      mailgun({ apiKey: 'key-a', domain: 'mg.example.org', ...mail, baseUrl: server.url }),
    )
    const request = { headers: { 'content-type': headers['content-type'] ?? '' } }
    const form = await new Response(new Uint8Array(body), request).formData()
    const fields = ['from', 'to', 'cc', 'bcc', 'h:Reply-To'].map((name) => [name, form.getAll(name)])
    expect(Object.fromEntries(fields)).toEqual({
      from: [SENDER],
      to: ['ada@xn--bcher-kva.example'],
      cc: [BOB],
      bcc: ['carl@example.com'],
      'h:Reply-To': ['"Help" <help@acme.example>, sales@acme.example'],
    })
    const files = [...form.getAll('inline'), ...form.getAll('attachment')]
    expect(files.map((file) => (typeof file === 'string' ? file : [file.name, file.type]))).toEqual([
      ['logo@acme', 'image/png'],
      // Forms of the runtime have media types in lower case. The method is the same in any case (RFC 5545 3.2).
      ['invite.ics', TYPE.toLowerCase()],
    ])
  })
})

describe('a refusal of a mail with copies', () => {
  it.each([
    ['counts against a recipient that it names', 'ada@xn--bcher-kva.example is no address', 'recipient'],
    ['counts against no recipient otherwise', 'bob@xn--bcher-kva.example is no address', 'message'],
  ])('%s', async (_, message, scope) => {
    const refusing = await providerServer({
      accept: () => ({
        status: 400,
        body: { errors: [{ message, field: 'personalizations.0.cc.0.email' }] },
      }),
    })
    const provider = sendgrid({ apiKey: 'SG.a', ...mail, baseUrl: refusing.url })
    const outcome = await provider.send(SHARED_MAIL, sendContext())
    const code = scope === 'recipient' ? 'invalid_recipient' : 'provider_error'
    expect(outcome).toMatchObject({ kind: 'rejected', scope, code, message })
    const alone = await provider.send(FULL_MAIL, sendContext())
    expect(alone).toMatchObject({ scope: 'recipient', code: 'invalid_recipient' })
    await provider.close?.()
    await refusing.close()
  })
})

describe('metadata of a mail', () => {
  const metadata = { order: '4711', event: 'bounce', 'a b': 'ü', ['n'.repeat(21)]: 'x' }

  it.each<[string, (url: string) => Provider<EmailKind>, (body: never) => unknown, unknown]>([
    [
      'SendGrid, with marked names',
      (baseUrl) => sendgrid({ apiKey: 'SG.a', ...mail, baseUrl }),
      ({ custom_args }: { custom_args: object }) => custom_args,
      Object.fromEntries(Object.entries(metadata).map(([name, value]) => [`metadata_${name}`, value])),
    ],
    [
      'Postmark, as far as it fits',
      (baseUrl) => postmark({ serverToken: 'token-of-ours', ...mail, baseUrl }),
      ({ Metadata }: { Metadata: object }) => Metadata,
      { order: '4711', event: 'bounce', 'a b': 'ü' },
    ],
    [
      'Resend, as far as tags can hold it',
      (baseUrl) => resend({ apiKey: 're_a', ...mail, baseUrl }),
      ({ tags }: { tags: { name: string; value: string }[] }) =>
        Object.fromEntries(tags.map(({ name, value }) => [name, value])),
      { order: '4711', event: 'bounce', ['n'.repeat(21)]: 'x' },
    ],
    [
      'Amazon SES, as far as tags can hold it',
      (baseUrl) =>
        ses({
          ...{ region: 'eu-central-1', credentials: { accessKeyId: 'AKIA', secretAccessKey: 'secret' } },
          ...{ ...mail, baseUrl },
        }),
      ({ EmailTags }: { EmailTags: { Name: string; Value: string }[] }) =>
        Object.fromEntries(EmailTags.map(({ Name, Value }) => [Name, Value])),
      { order: '4711', event: 'bounce', ['n'.repeat(21)]: 'x' },
    ],
  ])('goes to %s, beside our id', async (_, open, told, expected) => {
    const provider = open(server.url)
    const context = sendContext()
    const message = { ...FULL_MAIL, metadata: { ...metadata, carillon_id: 'forged' } }
    expect(await provider.send(message, context)).toMatchObject({ kind: 'accepted' })
    await provider.close?.()
    const body = JSON.parse(String(server.requests.at(-1)?.body)) as never
    const marked = _.includes('marked') ? { metadata_carillon_id: 'forged' } : {}
    expect(told(body)).toEqual({ ...Object(expected), ...marked, carillon_id: context.notificationId })
  })

  it('goes to Mailgun as variables', async () => {
    const provider = mailgun({ apiKey: 'key-a', domain: 'mg.example.org', ...mail, baseUrl: server.url })
    await provider.send({ ...FULL_MAIL, metadata: { order: '4711' } }, sendContext())
    await provider.close?.()
    expect(String(server.requests.at(-1)?.body)).toMatch(/name="v:order"\r\n\r\n4711\r\n/)
  })
})
