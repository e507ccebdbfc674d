import { runInNewContext } from 'node:vm'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { SendInput } from '../../../../src/core/accept/input.ts'
import { MAX_ATTACHMENT_BYTES } from '../../../../src/core/channels/email-files.ts'
import { createNotifier } from '../../../../src/create-notifier.ts'
import type { NotifierOptions } from '../../../../src/options.ts'
import { fakeClock } from '../../../../src/testing/fake-clock.ts'
import type { RecordingProvider } from '../../../../src/testing/recording-provider.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { inMemory } from '../../../support/in-memory.ts'

async function start(deliver = false, options: Partial<NotifierOptions> = {}) {
  const clock = fakeClock()
  const storage = inMemory(clock)
  const [email, sms, push, slack] = [0, 1, 2, 3].map(() => recordingProvider()) as [
    RecordingProvider,
    RecordingProvider,
    RecordingProvider,
    RecordingProvider,
  ]
  const notifier = createNotifier({ channels: { email, sms, push, slack }, storage, clock, ...options })
  await notifier.start({ deliver })
  onTestFinished(() => notifier.stop())
  return { clock, notifier, storage, email, sms }
}

const mail = { channel: 'email', to: 'ada@example.com', body: 'Hello' } as const
const text = { channel: 'sms', to: '+4915112345678', body: 'Hello' } as const
const push = { channel: 'push', to: 'token', body: 'Hello' } as const
const refused = (field: string, message = '') => ({
  code: 'invalid_parameter',
  message: expect.stringContaining(message),
  details: expect.objectContaining({ field }),
})

it.each([text, push])('is HTML on e-mail only', async (message) => {
  const { notifier } = await start()
  for (const call of [notifier.send, notifier.validate])
    await expect(call({ ...message, format: 'html' })).rejects.toMatchObject(
      refused('format', message.channel),
    )
  const { body: _, ...without } = message
  for (const call of [notifier.send, notifier.validate])
    await expect(call({ ...without, html: '<p>Hello</p>', text: 'Hello' })).rejects.toMatchObject(
      refused('html', 'use "text"'),
    )
  await notifier.send({ ...without, text: '<p>Hello</p>' })
  await notifier.send({ ...message, format: 'text' })
  await notifier.send({ ...mail, format: 'html' })
})

it.each(['variables', 'data'] as const)(
  'takes %s for a literal text with placeholders only with a template',
  async (field) => {
    const { notifier } = await start()
    const message = { ...mail, body: 'Hi {{name}}', [field]: { name: 'Ada' } }
    for (const call of [notifier.send, notifier.validate])
      await expect(call(message)).rejects.toMatchObject(refused(field, 'needs a template'))
    const other = { ...mail, subject: '{{name}}', [field]: { name: 'Ada' } }
    const { items } = await notifier.sendBatch([
      message,
      other,
      { ...message, [field]: {} },
      { ...mail, [field]: { a: 1 } },
    ])
    const error = refused(field)
    expect(items).toMatchObject([{ error }, { error }, { status: 'queued' }, { status: 'queued' }])
  },
)

describe('what throws when it is read', () => {
  const cause = new Error('no')
  const fails = (): never => {
    throw cause
  }

  it.each<[string, object]>([
    [
      'a field',
      {
        ...mail,
        get subject() {
          return fails()
        },
      },
    ],
    [
      'the organization',
      {
        ...mail,
        get organizationId() {
          return fails()
        },
      },
    ],
    [
      'a variable',
      {
        ...mail,
        variables: {
          user: {
            get name() {
              return fails()
            },
          },
        },
      },
    ],
    ['what makes JSON of a variable', { ...mail, variables: { user: { toJSON: fails } } }],
  ])('is refused: %s', async (_name, given) => {
    const { notifier } = await start()
    const message = given as SendInput
    const unreadable = { ...refused('notification', 'cannot be read'), cause }
    for (const call of [notifier.send, notifier.validate])
      await expect(call(message, { idempotencyKey: 'k' })).rejects.toMatchObject(unreadable)
    const { items } = await notifier.sendBatch([message, mail], { idempotencyKey: 'k' })
    expect(items).toMatchObject([{ error: refused('notification') }, { status: 'queued' }])
  })
})

describe('a blank message', () => {
  const literal = refused('body', 'blank')
  const rendered = { code: 'invalid_template_variable', details: { field: 'variables', missing: [] } }

  it.each([text, push])('is refused: %j', async (message) => {
    const { notifier } = await start()
    const { channel, to } = message
    await notifier.templates.create({ name: 'note', channel, body: ' {{a}}\n' })
    const fromTemplate = (a: string) => ({ to, template: 'note', variables: { a } })
    for (const call of [notifier.send, notifier.validate]) {
      await expect(call({ ...message, body: ' \n\t\u00A0' })).rejects.toMatchObject(literal)
      await expect(call(fromTemplate(' '))).rejects.toMatchObject(rendered)
    }
    const { items } = await notifier.sendBatch([
      fromTemplate(''),
      { ...message, body: ' ' },
      fromTemplate('x'),
    ])
    expect(items).toMatchObject([{ error: rendered }, { error: literal }, { status: 'queued' }])
  })

  it('is none with the title or the data of a push message, and may be meant so in a mail', async () => {
    const { notifier } = await start()
    await notifier.send({ ...push, subject: 'News', body: ' ' })
    await notifier.send({ ...push, body: ' ', push: { data: { sync: '1' } } })
    await notifier.send({ ...mail, body: ' ' })
    await expect(notifier.send({ ...push, subject: ' ', body: ' ' })).rejects.toMatchObject(literal)
  })

  it('fails where it was accepted before, and no provider is asked', async () => {
    const { notifier, storage, sms, clock } = await start(true)
    const accept = storage.accept.bind(storage)
    vi.spyOn(storage, 'accept').mockImplementation((requests) =>
      accept(
        requests.map((request) => ({
          ...request,
          notifications: request.notifications.map((each) => ({ ...each, content: { body: ' ' } })),
        })),
      ),
    )
    const { id } = await notifier.send(text)
    await clock.advance(1_000)
    expect(await notifier.notifications.get(id)).toMatchObject({
      status: 'failed',
      error: { code: 'template_error', message: 'The text of the message is blank.' },
    })
    expect(sms?.calls).toEqual([])
  })
})

it('is refused where its template makes too much of it', async () => {
  const { notifier } = await start()
  await notifier.templates.create({ name: 'note', channel: 'email', body: '{{#a}}{{t}}{{/a}}' })
  const of = (times: number) => ({
    to: mail.to,
    template: 'note',
    variables: { a: Array.from({ length: times }, () => 1), t: 'x'.repeat(1_000) },
  })
  const tooLarge = { code: 'message_too_large', status: 422 }
  for (const call of [notifier.send, notifier.validate])
    await expect(call(of(1_000))).rejects.toMatchObject(tooLarge)
  const { items } = await notifier.sendBatch([of(1_000), of(250)])
  expect(items).toMatchObject([{ error: { code: 'message_too_large' } }, { status: 'queued' }])
})

describe('an object that is used for the next message before the first is stored', () => {
  it('gives each its own recipient, text, parts and values', async () => {
    const { notifier, storage } = await start()
    await notifier.templates.create({ name: 'note', channel: 'push', body: '{{user.name}}' })
    const variables = { user: { name: '' }, list: [0] }
    const message = { to: '', template: 'note', variables, push: { data: { n: '' } } }
    const sends = ['a', 'b', 'c'].map((name, n) => {
      message.to = name
      variables.user.name = name
      variables.list[0] = n
      message.push.data.n = name
      return notifier.send(message, { idempotencyKey: name })
    })
    for (const [n, { id, to }] of (await Promise.all(sends)).entries()) {
      const name = 'abc'[n]
      expect(to).toBe(name)
      const stored = await storage.notifications.get(id)
      expect(stored).toMatchObject({
        to: name,
        content: { variables: { user: { name }, list: [n] }, parts: { data: { n: name } } },
      })
    }
  })

  it('takes the whole of a list that is emptied meanwhile', async () => {
    const { notifier } = await start()
    const messages = Array.from({ length: 1_200 }, () => mail)
    const batch = notifier.sendBatch(messages)
    // It has been looked at for a turn by then.
    await new Promise(setImmediate)
    messages.length = 0
    const { accepted, rejected, items } = await batch
    expect([accepted, rejected, items.length]).toEqual([1_200, 0, 1_200])
  })
})

describe('headers on which mail systems act', () => {
  const ACTED_ON = [
    'X-SMTPAPI',
    'x-smtpapi',
    'X-MC-MergeVars',
    'X-MSYS-API',
    'X-SES-Source-Arn',
    'X-PM-Message-Stream',
    'X-Mailgun-Recipient-Variables',
    'X-MJ-CustomID',
    'X-Mailjet-Campaign',
    'X-Mandrill-x',
    'X-Sparkpost-x',
    'X-Resend-x',
    'X-Mailin-Tag',
    'X-MS-Exchange-Organization-SCL',
    'Authentication-Results',
    'ARC-Seal',
    'DKIM-Signature',
    'DKIM-Filter',
    'Received',
    'Received-SPF',
    'Return-Path',
    'Resent-To',
    'Errors-To',
    'Sender',
    'Authentication-Results-Original',
    'X-Google-DKIM-Signature',
    'X-Received',
    'BIMI-Selector',
    'X-Spam-Status',
    'X-Spam',
    'X-Failed-Recipients',
    'Original-Recipient',
    'X-MSFBL',
    'X-Sender',
    'Disposition-Notification-To',
    'disposition-notification-options',
    'Return-Receipt-To',
    'Return-Receipt-Requested',
    'Read-Receipt-To',
    'X-Confirm-Reading-To',
    'X-Return-Receipt-To',
    'Generate-Delivery-Report',
    'List-Post',
    'List-Help',
    'List-Subscribe',
    'List-Owner',
    'List-Archive',
    'List-Unsubscribe',
    'X-List-Unsubscribe',
    'Autocrypt',
    'Autocrypt-Setup-Message',
    'Apparently-To',
    'Supersedes',
    'Obsoletes',
    'X-Errors-To',
    'X-Virtual-MTA',
    'X-xsMessageId',
    'X-Smtpcom-Tag',
    'X-MS-Reactions',
    'Acme-Order',
  ]

  it.each(ACTED_ON)('%s is refused by its name', async (name) => {
    const { notifier } = await start()
    const message = { ...mail, email: { headers: { [name]: 'x' } } }
    const expected = refused('email.headers', `"${name}"`)
    for (const call of [notifier.send, notifier.validate])
      await expect(call(message)).rejects.toMatchObject(expected)
    const { items } = await notifier.sendBatch([message])
    expect(items).toMatchObject([{ error: expected }])
  })

  it('pass where the option names them, also once more', async () => {
    const { notifier, email, clock } = await start(true, { email: { allowedHeaders: ['x-pm-tag'] } })
    const message = {
      ...mail,
      email: { headers: { 'X-PM-Tag': 'a', 'X-Campaign': 'b', 'Feedback-ID': 'c' } },
    }
    const { id } = await notifier.send(message)
    await notifier.notifications.resend(id)
    await clock.until(async () => (email?.messages.length === 2 ? true : null))
    expect(email?.messages[1]?.email?.headers).toEqual(message.email.headers)
    const other = { ...mail, email: { headers: { 'X-PM-Message-Stream': 'a' } } }
    await expect(notifier.send(other)).rejects.toMatchObject(refused('email.headers'))
  })

  it.each([
    ['In-Reply-To', '<a@example.com>'],
    ['References', '<a@example.com> <b.c@[192.0.2.1]>'],
    ['X-Entity-Ref-ID', '1'],
    ['X-Listing', '1'],
    ['X-Auto-Response-Suppress', 'All'],
    ['Auto-Submitted', 'no'],
    ['List-Id', '<news.example.com>'],
    ['Precedence', 'bulk'],
    ['Importance', 'high'],
  ])('do not include %s', async (name, value) => {
    const { notifier } = await start()
    const headers = { [name]: value }
    expect(await notifier.validate({ ...mail, email: { headers } })).toMatchObject({
      rendered: { email: { headers } },
    })
  })

  it.each([
    ['In-Reply-To', ''],
    ['In-Reply-To', 'a@example.com'],
    ['in-reply-to', '<a>'],
    ['In-Reply-To', '<a@example.com'],
    ['References', '<a@example.com>,<b@example.com>'],
    ['References', '<a@example.com> b'],
    ['References', '<a b@example.com>'],
    ['References', '<ä@example.com>'],
    ['References', `<${'a'.repeat(300)}@example.com>`],
  ])('need message ids where they name other mails: not %s: %s', async (name, value) => {
    const { notifier } = await start()
    const message = { ...mail, email: { headers: { [name]: value } } }
    await expect(notifier.send(message)).rejects.toMatchObject(refused('email.headers', 'message ids'))
  })

  it.each([['X-Campaign'], ['From'], [5], ['X-PM-Tag: x'], ['References']])(
    'the option refuses %j',
    async (name) => {
      const options = { email: { allowedHeaders: [name as string] } }
      await expect(start(false, options)).rejects.toMatchObject({
        code: 'invalid_configuration',
        details: { option: 'email.allowedHeaders[0]' },
      })
    },
  )
})

describe('the content of an attachment', () => {
  const bytes = Uint8Array.from([0, 255, 128, 10, 13])
  const other = new Uint8Array(8).fill(1)
  other.set(bytes, 2)
  const file = { filename: 'a.bin', contentType: 'application/octet-stream' }

  it.each([
    ['a Uint8Array', bytes],
    ['a part of one', other.subarray(2, 7)],
    ['a Buffer', Buffer.from(bytes)],
    ['an ArrayBuffer', bytes.slice().buffer],
    ['one of another realm', runInNewContext('Uint8Array.from([0, 255, 128, 10, 13])') as Uint8Array],
    ['base64', Buffer.from(bytes).toString('base64')],
  ])('may be %s', async (_kind, content) => {
    const { notifier, email, clock } = await start(true)
    await notifier.send({ ...mail, email: { attachments: [{ ...file, content }] } })
    await clock.until(async () => (email?.messages.length === 1 ? true : null))
    const [attachment] = email?.messages[0]?.email?.attachments ?? []
    expect(Buffer.from(attachment?.content ?? [])).toEqual(Buffer.from(bytes))
  })

  it.each([
    ['nothing', new Uint8Array(), 'empty'],
    ['too much', new Uint8Array(MAX_ATTACHMENT_BYTES + 1), 'bytes'],
    ['wider elements', new Uint16Array(5), 'Uint8Array'],
    ['a list', [1, 2, 3], 'Uint8Array'],
  ])('is not %s', async (_kind, content, why) => {
    const { notifier } = await start()
    const attachments = [{ ...file, content: content as Uint8Array }]
    await expect(notifier.send({ ...mail, email: { attachments } })).rejects.toMatchObject(
      refused('email.attachments.0.content', why),
    )
  })

  it('is copied before the call returns', async () => {
    const { notifier, email, clock } = await start(true)
    const content = bytes.slice()
    const sending = notifier.send({ ...mail, email: { attachments: [{ ...file, content }] } })
    content.fill(7)
    await sending
    await clock.until(async () => (email?.messages.length === 1 ? true : null))
    expect(email?.messages[0]?.email?.attachments?.[0]?.content[0]).toBe(0)
  })
})
