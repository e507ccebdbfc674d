import { sign } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { globalAgent } from 'node:https'
import MessageValidator from 'sns-validator'
import { describe, expect, it } from 'vitest'
import { type SesReceiptOptions, ses } from '../../../../adapters/channels/ses/send.ts'
import type { ReceiptRequest } from '../../../../src/core/ports/receipts.ts'
import { certificate as localhost } from '../../../support/localhost-certificate.ts'
import { believed, NOW, receiptRequest } from '../../../support/receipt-request.ts'
import { httpsReceiver } from '../../../support/receivers.ts'

const file = (name: string) => readFileSync(new URL(`../../../fixtures/${name}`, import.meta.url), 'utf8')
const certificate = file('sns.cert.pem')
const key = file('sns.key.pem')

const TOPIC = 'arn:aws:sns:eu-central-1:123456789012:mail'
const CERTIFICATE_URL = 'https://sns.eu-central-1.amazonaws.com/SimpleNotificationService-0123.pem'
const SUBSCRIBE_URL =
  'https://sns.eu-central-1.amazonaws.com/?Action=ConfirmSubscription&TopicArn=arn&Token=abc'

type Fields = Readonly<Record<string, string>>

/** Signs a message as SNS does (its documentation, "Verifying the signatures of Amazon SNS messages"). */
function signed(fields: Fields, version: '1' | '2' = '2'): Fields {
  const names =
    fields.Type === 'Notification'
      ? ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type']
      : ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type']
  const text = names
    .flatMap((name) => (fields[name] === undefined ? [] : `${name}\n${fields[name]}\n`))
    .join('')
  const signature = sign(version === '1' ? 'RSA-SHA1' : 'RSA-SHA256', Buffer.from(text), key)
  return { ...fields, SignatureVersion: version, Signature: signature.toString('base64') }
}

const notification = (message: unknown, more: Fields = {}): Fields => ({
  Type: 'Notification',
  MessageId: 'sns-1',
  TopicArn: TOPIC,
  Message: typeof message === 'string' ? message : JSON.stringify(message),
  Timestamp: new Date(NOW).toISOString(),
  SigningCertURL: CERTIFICATE_URL,
  UnsubscribeURL: 'https://sns.eu-central-1.amazonaws.com/?Action=Unsubscribe',
  ...more,
})
const confirmation = (more: Fields = {}): Fields =>
  notification('You have chosen to subscribe.', {
    Type: 'SubscriptionConfirmation',
    Token: 'abc',
    SubscribeURL: SUBSCRIBE_URL,
    ...more,
  })

/** A channel, and what it asked of SNS. */
function receiving(more: Partial<SesReceiptOptions> = {}) {
  const asked: string[] = []
  const channel = ses({
    region: 'eu-central-1',
    from: 'a@example.org',
    receipts: {
      topics: TOPIC,
      get: async (url) => {
        asked.push(url)
        return certificate
      },
      ...more,
    },
  })
  const { parseReceipts } = channel
  if (parseReceipts === undefined) throw new Error('no reports are received')
  return {
    asked,
    parse: (body: unknown, request: Partial<ReceiptRequest> = {}) =>
      parseReceipts(receiptRequest(body, { 'content-type': 'text/plain; charset=UTF-8' }, request)),
  }
}

const mail = {
  messageId: 'ses-1',
  timestamp: '2026-11-21T11:59:00.000Z',
  tags: { 'ses:operation': ['SendEmail'], carillon_id: ['notif_1'] },
}
const delivery = { eventType: 'Delivery', mail, delivery: { timestamp: '2026-11-21T11:59:30.000Z' } }

describe('a message of SNS', () => {
  it.each(['1', '2'] as const)(
    'with signature version %s is believed, as AWS itself says',
    async (version) => {
      const server = await httpsReceiver((response) => response.end(certificate))
      const message = signed(notification(delivery, { Subject: 'Amazon SES' }), version)
      globalAgent.options.ca = localhost
      const vendor = new MessageValidator(/^localhost:\d+$/)
      // The address of the certificate is not signed: the vendor's validator may fetch it from here.
      const local = { ...message, SigningCertURL: `https://localhost:${server.port}/${version}.pem` }
      const verdict = await new Promise((resolve) => vendor.validate(local, (error) => resolve(error)))
      globalAgent.options.ca = undefined
      globalAgent.destroy()
      await server.close()
      expect(verdict).toBeNull()

      const { parse, asked } = receiving()
      expect(believed(await parse(message))).toEqual([
        {
          dedupeKey: 'sns-1',
          notificationId: 'notif_1',
          fact: {
            type: 'delivered',
            providerMessageId: 'ses-1',
            providerCode: 'Delivery',
            occurredAt: Date.parse('2026-11-21T11:59:30.000Z'),
          },
        },
      ])
      expect(asked).toEqual([CERTIFICATE_URL])
    },
  )

  it('is believed as late as SNS repeats it: an hour after the first attempt, which takes its own time', async () => {
    const Timestamp = new Date(NOW - 3_630_000).toISOString()
    const { parse } = receiving()
    expect(believed(await parse(signed(notification(delivery, { Timestamp }))))).toHaveLength(1)
  })

  it('needs its certificate fetched once, and again after a failure', async () => {
    let failures = 1
    const asked: string[] = []
    const { parse } = receiving({
      get: async (url) => {
        asked.push(url)
        if (failures-- > 0) throw new Error('no way out')
        return certificate
      },
    })
    const message = signed(notification(delivery))
    expect(await parse(message)).toMatchObject({ kind: 'later' })
    await Promise.all([parse(message), parse(message)])
    await parse(message)
    expect(asked).toHaveLength(2)
  })

  const right = signed(notification(delivery))
  it.each<[string, Fields, number]>([
    ['a changed message', { ...right, Message: right.Message?.replace('notif_1', 'notif_2') ?? '' }, 1],
    ['a changed time', { ...right, Timestamp: new Date(NOW - 1).toISOString() }, 1],
    ['a subject that was not signed', { ...right, Subject: 'x' }, 1],
    ['the other version of signature', { ...right, SignatureVersion: '1' }, 1],
    ['a signature that is none', { ...right, Signature: '????' }, 1],
    ['a topic that is not allowed', signed(notification(delivery, { TopicArn: `${TOPIC}2` })), 0],
    [
      'an old time',
      signed(notification(delivery, { Timestamp: new Date(NOW - 4_501_000).toISOString() })),
      1,
    ],
    ['a time that is none', signed(notification(delivery, { Timestamp: 'yesterday' })), 1],
    ...[
      'https://sns.eu-central-1.amazonaws.com.example.org/a.pem',
      'https://sns.s3-us-west-2.amazonaws.com/a.pem',
      'https://sns.s3.amazonaws.com/a.pem',
      'https://example.org/sns.eu-central-1.amazonaws.com/a.pem',
      'https://sns.eu-central-1.amazonaws.com@example.org/a.pem',
      'https://sns.eu-central-1.amazonaws.com:8443/a.pem',
      'http://sns.eu-central-1.amazonaws.com/a.pem',
      'https://sns.eu-central-1.amazonaws.com/a.txt',
      'https://sns.eu-central-1.amazonaws.com/?x=a.pem',
      'https://sns.eu-central-1.amazonaws.com/a.pem?x=1',
      'https://sns.eu-central-1.amazonaws.com/a.pem#x',
      'https://sns.eu-central-1.amazonaws.com/a.pem#.pem',
      'https://a:b@sns.eu-central-1.amazonaws.com/a.pem',
      'https://sns.eu-central-1.amazonaws.com/a.pem?',
      'https://sns.us-east-1.amazonaws.com/a.pem',
      'https://sns.eu-central-1.amazonaws.com.cn/a.pem',
      'https://sns.eu-central-1.amazonaws.com./a.pem',
      'file:///etc/passwd.pem',
    ].map((url): [string, Fields, number] => [
      `the certificate ${url}`,
      { ...right, SigningCertURL: url },
      0,
    ]),
  ])('is refused with %s', async (_, message, fetches) => {
    const { parse, asked } = receiving()
    expect(await parse(message)).toMatchObject({ kind: 'refused', why: 'signature' })
    expect(asked).toHaveLength(fetches)
  })

  it('is refused with a certificate of somebody else, or none', async () => {
    for (const other of [localhost, 'no certificate', '']) {
      const { parse } = receiving({ get: async () => other })
      expect(await parse(right)).toMatchObject({ kind: 'refused', why: 'signature' })
    }
  })

  it.each([
    '',
    'x',
    '[]',
    '{}',
    JSON.stringify({ ...right, Type: 'Other' }),
    JSON.stringify({ ...right, Message: 1 }),
    JSON.stringify({ ...right, SignatureVersion: '3' }),
  ])('that is %j is malformed', async (body) => {
    expect(await receiving().parse(body)).toMatchObject({ kind: 'refused', why: 'malformed' })
  })

  it.each([
    ['HTTPS:\\\\sns.eu-central-1.amazonaws.com\\a.pem', 'a.pem'],
    ['https://SNS.eu-central-1.amazonaws.com:443/b/../a.pem', 'a.pem'],
    [' https://sns.eu-central-1.amazo\nnaws.com/a.pem\t', 'a.pem'],
    ['https:sns.eu-central-1.amazonaws.com/"a.pem', '%22a.pem'],
    ['https://@sns.eu-central-1.amazonaws.com/a.pem', 'a.pem'],
  ])('has its certificate fetched from the address as it was checked, not from %j', async (url, path) => {
    const { parse, asked } = receiving()
    expect(await parse({ ...right, SigningCertURL: url })).toMatchObject({ kind: 'receipts' })
    expect(asked).toEqual([`https://sns.eu-central-1.amazonaws.com/${path}`])
  })

  it("from China, a region for governments or Europe's own cloud is one too", async () => {
    for (const [partition, region, host] of [
      ['aws-cn', 'cn-north-1', 'sns.cn-north-1.amazonaws.com.cn'],
      ['aws-us-gov', 'us-gov-west-1', 'sns.us-gov-west-1.amazonaws.com'],
      ['aws-eusc', 'eusc-de-east-1', 'sns.eusc-de-east-1.amazonaws.eu'],
    ]) {
      const topic = `arn:${partition}:sns:${region}:123456789012:mail`
      const { parse } = receiving({ topics: topic })
      const more = { TopicArn: topic, SigningCertURL: `https://${host}/a.pem` }
      expect(await parse(signed(notification(delivery, more)))).toMatchObject({ kind: 'receipts' })
    }
  })

  it('causes few requests by strangers, who do not push out the certificate that is known', async () => {
    const { parse, asked } = receiving({
      get: async (url) => {
        asked.push(url)
        if (url === CERTIFICATE_URL) return certificate
        throw new Error('404')
      },
    })
    expect(await parse(right)).toMatchObject({ kind: 'receipts' })
    const stranger = (number: number) => ({
      ...right,
      SigningCertURL: `https://sns.eu-central-1.amazonaws.com/${number}.pem`,
    })
    await Promise.all(Array.from({ length: 100 }, (_, number) => parse(stranger(number))))
    expect(asked.length).toBeLessThanOrEqual(10)
    expect(await parse(right)).toMatchObject({ kind: 'receipts' })
    expect(asked.filter((url) => url === CERTIFICATE_URL)).toHaveLength(1)
    const before = asked.length
    expect(await parse(stranger(1), { receivedAt: NOW + 60_000 })).toMatchObject({ kind: 'later' })
    expect(asked).toHaveLength(before + 1)
  })
})

describe('a subscription', () => {
  it('of an allowed topic is confirmed, at SNS itself', async () => {
    const { parse, asked } = receiving()
    expect(believed(await parse(signed(confirmation())))).toEqual([])
    expect(asked).toEqual([CERTIFICATE_URL, SUBSCRIBE_URL])
  })

  it('is confirmed at the address as it was checked', async () => {
    const { parse, asked } = receiving()
    const SubscribeURL = SUBSCRIBE_URL.replace('//', '\\\\')
    expect(believed(await parse(signed(confirmation({ SubscribeURL }))))).toEqual([])
    expect(asked).toEqual([CERTIFICATE_URL, SUBSCRIBE_URL])
  })

  it.each([
    ['of another topic', signed(confirmation({ TopicArn: `${TOPIC}2` })), []],
    [
      'that leads to another region',
      signed(confirmation({ SubscribeURL: SUBSCRIBE_URL.replace('eu-central-1', 'us-east-1') })),
      [CERTIFICATE_URL],
    ],
    [
      'that leads elsewhere',
      signed(confirmation({ SubscribeURL: 'https://example.org/' })),
      [CERTIFICATE_URL],
    ],
    [
      'whose address was changed',
      { ...signed(confirmation()), SubscribeURL: `${SUBSCRIBE_URL}2` },
      [CERTIFICATE_URL],
    ],
  ])('%s is not confirmed', async (_, message, fetched) => {
    const { parse, asked } = receiving()
    expect(await parse(message)).toMatchObject({ kind: 'refused', why: 'signature' })
    expect(asked).toEqual(fetched)
  })

  it('that cannot be confirmed now is asked for again', async () => {
    const { parse } = receiving({
      get: async (url) => {
        if (url === SUBSCRIBE_URL) throw new Error('no way out')
        return certificate
      },
    })
    expect(await parse(signed(confirmation()))).toMatchObject({ kind: 'later' })
  })

  it('that ends, or begins with a greeting, says nothing about mails', async () => {
    const { parse, asked } = receiving()
    expect(believed(await parse(signed(confirmation({ Type: 'UnsubscribeConfirmation' }))))).toEqual([])
    const greeting = 'Successfully validated SNS topic for Amazon SES event publishing.'
    expect(believed(await parse(signed(notification(greeting))))).toEqual([])
    expect(asked).toEqual([CERTIFICATE_URL])
  })
})

describe('an event of SES', () => {
  const bounce = (bounceType: string, bounceSubType: string) => ({
    eventType: 'Bounce',
    mail,
    bounce: {
      bounceType,
      bounceSubType,
      timestamp: '2026-11-21T11:59:30.000Z',
      bouncedRecipients: [{ emailAddress: 'ada@example.com', diagnosticCode: 'smtp; 550 5.1.1 unknown' }],
    },
  })
  const complaint = (more: Record<string, unknown>) => ({
    eventType: 'Complaint',
    mail,
    complaint: { complainedRecipients: [{ emailAddress: 'ada@example.com' }], ...more },
  })

  it.each<[Record<string, unknown>, Record<string, unknown>, string?]>([
    [
      { eventType: 'Send', send: {} },
      { type: 'sent', occurredAt: Date.parse(mail.timestamp) },
    ],
    [delivery, { type: 'delivered' }],
    [
      bounce('Permanent', 'General'),
      {
        type: 'bounced',
        code: 'invalid_recipient',
        providerCode: 'Bounce Permanent General',
        message: 'smtp; 550 5.1.1 unknown',
      },
      'hard_bounce',
    ],
    [bounce('Permanent', 'NoEmail'), { type: 'bounced', code: 'invalid_recipient' }, 'hard_bounce'],
    [bounce('Permanent', 'Suppressed'), { type: 'undelivered', code: 'blocked_by_provider' }],
    [bounce('Permanent', 'UnsubscribedRecipient'), { type: 'undelivered', code: 'blocked_by_provider' }],
    [bounce('Permanent', 'OnAccountSuppressionList'), { type: 'undelivered', code: 'blocked_by_provider' }],
    [bounce('Transient', 'MailboxFull'), { type: 'undelivered', code: 'mailbox_full' }],
    [bounce('Transient', 'MessageTooLarge'), { type: 'undelivered', code: 'message_too_large' }],
    [bounce('Transient', 'ContentRejected'), { type: 'undelivered', code: 'content_rejected' }],
    [bounce('Transient', 'AttachmentRejected'), { type: 'undelivered', code: 'content_rejected' }],
    [bounce('Transient', 'General'), { type: 'undelivered', code: 'recipient_unreachable' }],
    [bounce('Undetermined', 'Undetermined'), { type: 'undelivered', code: 'recipient_unreachable' }],
    [
      { ...bounce('Permanent', 'General'), eventType: undefined, notificationType: 'Bounce' },
      { type: 'bounced' },
      'hard_bounce',
    ],
    [complaint({ complaintFeedbackType: 'abuse' }), { type: 'complained' }, 'complaint'],
    [
      complaint({ complaintFeedbackType: 'not-spam' }),
      { type: 'reported', providerCode: 'Complaint not-spam' },
    ],
    [
      complaint({ complaintFeedbackType: 'auth-failure' }),
      { type: 'reported', providerCode: 'Complaint auth-failure' },
    ],
    [complaint({ complaintFeedbackType: 'virus' }), { type: 'reported', providerCode: 'Complaint virus' }],
    [
      complaint({ complaintSubType: 'OnAccountSuppressionList' }),
      { type: 'undelivered', code: 'blocked_by_provider' },
    ],
    [
      complaint({ complaintSubType: 'OnTenantSuppressionList' }),
      { type: 'undelivered', code: 'blocked_by_provider' },
    ],
    [
      { eventType: 'Reject', reject: { reason: 'Bad content' } },
      { type: 'undelivered', code: 'content_rejected', message: 'Bad content' },
    ],
    [
      { eventType: 'Rendering Failure', failure: { errorMessage: 'No name.' } },
      { type: 'undelivered', code: 'template_error', message: 'No name.' },
    ],
    [
      { eventType: 'DeliveryDelay', deliveryDelay: { delayType: 'SpamDetected' } },
      { type: 'deferred', providerCode: 'DeliveryDelay SpamDetected' },
    ],
    [{ eventType: 'Open', open: {} }, { type: 'opened' }],
    [{ eventType: 'Click', click: { link: 'https://example.org' } }, { type: 'clicked' }],
    [
      { eventType: 'Subscription', subscription: {} },
      { type: 'reported', providerCode: 'Subscription' },
    ],
    [{ eventType: 'Brand New' }, { type: 'reported', providerCode: 'Brand New' }],
  ])('%j means %j', async (event, fact, reason) => {
    const { parse } = receiving()
    const [receipt, ...others] = believed(await parse(signed(notification({ mail, ...event }))))
    expect(others).toEqual([])
    expect(receipt?.notificationId).toBe('notif_1')
    expect(receipt?.fact).toMatchObject({ providerMessageId: 'ses-1', ...fact })
    expect(receipt?.suppress).toEqual(reason === undefined ? undefined : { reason })
  })

  it('about several recipients suppresses that of the mail and each other, once', async () => {
    const event = complaint({
      complainedRecipients: [{ emailAddress: 'ada@example.com' }, { emailAddress: 'bob@example.com' }],
    })
    const receipts = believed(await receiving().parse(signed(notification(event))))
    expect(receipts.map(({ suppress }) => suppress?.address)).toEqual([undefined, 'bob@example.com'])
    expect(new Set(receipts.map(({ dedupeKey }) => dedupeKey)).size).toBe(2)
  })

  it('that names no mail is left out', async () => {
    for (const event of [
      'no json',
      '"x"',
      '{}',
      '{"eventType":"Bounce"}',
      '{"eventType":"Open","mail":{}}',
    ]) {
      expect(believed(await receiving().parse(signed(notification(event))))).toEqual([])
    }
  })
})
