import { describe, expect, it } from 'vitest'
import { type PostmarkReceiptOptions, postmark } from '../../../../adapters/channels/postmark/send.ts'
import type { ReceiptRequest } from '../../../../src/core/ports/receipts.ts'
import { believed, receiptRequest } from '../../../support/receipt-request.ts'

const parser = (receipts: PostmarkReceiptOptions) => {
  const { parseReceipts } = postmark({ serverToken: 'x', from: 'a@example.org', receipts })
  if (parseReceipts === undefined) throw new Error('no reports are received')
  return parseReceipts
}
const parse = parser({ user: 'postmark', password: ['correct hörse', 'battery staple'] })
const parseHeader = parser({ header: 'X-Our-Secret', secret: ['correct hörse', 'battery staple'] })
const basic = (user: string, password: string) => ({
  authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
})
const right = basic('postmark', 'correct hörse')
const at = '2026-11-21T11:59:30.0000000Z'
const delivery = {
  RecordType: 'Delivery',
  MessageID: 'pm-1',
  Recipient: 'ada@example.com',
  DeliveredAt: at,
  Details: '250 ok',
  Metadata: { carillon_id: 'notif_1' },
}

describe('a report of Postmark', () => {
  it.each([
    ['its user and password', parse, right],
    ['the password before', parse, basic('postmark', 'battery staple')],
    ['its header', parseHeader, { 'x-our-secret': 'correct hörse' }],
    ['the secret before in its header', parseHeader, { 'x-our-secret': 'battery staple' }],
  ])('is believed with %s', async (_, parse, headers) => {
    expect(believed(await parse(receiptRequest(delivery, headers)))).toEqual([
      {
        dedupeKey: `Delivery|pm-1|${at}|ada@example.com`,
        notificationId: 'notif_1',
        fact: {
          type: 'delivered',
          address: 'ada@example.com',
          providerMessageId: 'pm-1',
          providerCode: 'Delivery',
          message: '250 ok',
          occurredAt: Date.parse(at),
        },
      },
    ])
  })

  it.each<[string, ReceiptRequest['headers']]>([
    ['nothing', {}],
    ['another password', basic('postmark', 'wrong')],
    ['another user', basic('postman', 'correct hörse')],
    ['a password that is longer', basic('postmark', 'correct hörse!')],
    ['the password of an empty user', basic('', 'correct hörse')],
    ['another scheme', { authorization: right.authorization.replace('Basic', 'Bearer') }],
    ['another header', { 'x-our-secret': 'battery' }],
    ['an empty header', { 'x-our-secret': '' }],
  ])('is refused with %s', async (_, headers) => {
    const refused = { kind: 'refused', why: 'signature' }
    expect(await parse(receiptRequest(delivery, headers))).toMatchObject(refused)
    expect(await parseHeader(receiptRequest(delivery, headers))).toMatchObject(refused)
  })

  it('is not received without a secret', () => {
    expect(postmark({ serverToken: 'x', from: 'a@example.org' }).parseReceipts).toBeUndefined()
  })

  it.each(['', 'x', '[]', '{}', '{"RecordType":""}'])('that is %j is malformed', async (body) => {
    expect(await parse(receiptRequest(body, right))).toMatchObject({ kind: 'refused', why: 'malformed' })
  })

  const bounce = (Type: string) => ({
    RecordType: 'Bounce',
    ID: 42,
    Type,
    Email: 'ada@example.com',
    BouncedAt: at,
  })
  it.each<[Record<string, unknown>, Record<string, unknown>, string?]>([
    [delivery, { type: 'delivered' }],
    [
      bounce('HardBounce'),
      { type: 'bounced', code: 'invalid_recipient', providerCode: 'Bounce HardBounce' },
      'hard_bounce',
    ],
    [bounce('BadEmailAddress'), { type: 'bounced', code: 'invalid_recipient' }, 'hard_bounce'],
    [bounce('SoftBounce'), { type: 'undelivered', code: 'recipient_unreachable' }],
    [bounce('Transient'), { type: 'deferred' }],
    [bounce('DnsError'), { type: 'deferred' }],
    [bounce('OpenRelayTest'), { type: 'deferred' }],
    [bounce('Blocked'), { type: 'undelivered', code: 'spam_detected' }],
    [bounce('SpamNotification'), { type: 'undelivered', code: 'spam_detected' }],
    [bounce('DMARCPolicy'), { type: 'undelivered', code: 'invalid_sender' }],
    [bounce('Unconfirmed'), { type: 'undelivered', code: 'invalid_sender' }],
    [bounce('ManuallyDeactivated'), { type: 'undelivered', code: 'blocked_by_provider' }],
    [bounce('VirusNotification'), { type: 'undelivered', code: 'content_rejected' }],
    [bounce('SpamComplaint'), { type: 'complained' }, 'complaint'],
    [bounce('Unsubscribe'), { type: 'unsubscribed' }, 'unsubscribe'],
    [bounce('SMTPApiError'), { type: 'undelivered', code: 'provider_error' }],
    [bounce('TemplateRenderingFailed'), { type: 'undelivered', code: 'template_error' }],
    ...['AutoResponder', 'AddressChange', 'ChallengeVerification', 'Subscribe', 'Unknown', 'BrandNew'].map(
      (type): [Record<string, unknown>, Record<string, unknown>] => [
        bounce(type),
        { type: 'reported', providerCode: `Bounce ${type}` },
      ],
    ),
    [{ RecordType: 'SpamComplaint', ID: 42, Email: 'ada@example.com' }, { type: 'complained' }, 'complaint'],
    [{ RecordType: 'Open', FirstOpen: true, Recipient: 'ada@example.com' }, { type: 'opened' }],
    [{ RecordType: 'Click', OriginalLink: 'https://example.org' }, { type: 'clicked' }],
    [
      {
        RecordType: 'SubscriptionChange',
        SuppressSending: true,
        SuppressionReason: 'ManualSuppression',
        Recipient: 'ada@example.com',
      },
      { type: 'unsubscribed' },
      'unsubscribe',
    ],
    [
      { RecordType: 'SubscriptionChange', SuppressSending: true, SuppressionReason: 'HardBounce' },
      { type: 'bounced', code: 'invalid_recipient' },
      'hard_bounce',
    ],
    [
      { RecordType: 'SubscriptionChange', SuppressSending: true, SuppressionReason: 'SpamComplaint' },
      { type: 'complained' },
      'complaint',
    ],
    [
      { RecordType: 'SubscriptionChange', SuppressSending: true, SuppressionReason: 'BrandNew' },
      { type: 'reported' },
    ],
    ...['HardBounce', 'Unsubscribe', 'SpamComplaint'].map(
      (Type): [Record<string, unknown>, Record<string, unknown>, string] => [
        { RecordType: 'Bounce', ID: 42, Type },
        { providerCode: `Bounce ${Type}` },
        { HardBounce: 'hard_bounce', Unsubscribe: 'unsubscribe', SpamComplaint: 'complaint' }[Type] ?? '',
      ],
    ),
    [{ RecordType: 'SubscriptionChange', SuppressSending: false }, { type: 'reported' }],
    [{ RecordType: 'BrandNew' }, { type: 'reported', providerCode: 'BrandNew' }],
  ])('%j means %j', async (event, fact, reason) => {
    const [receipt, ...others] = believed(await parse(receiptRequest({ MessageID: 'pm-1', ...event }, right)))
    expect(others).toEqual([])
    expect(receipt?.fact).toMatchObject({ providerMessageId: 'pm-1', ...fact })
    expect(receipt?.suppress).toEqual(reason === undefined ? undefined : { reason })
  })

  it('of a suppression that names no mail concerns the recipient alone', async () => {
    const change = {
      RecordType: 'SubscriptionChange',
      MessageID: null,
      Metadata: {},
      SuppressSending: true,
      SuppressionReason: 'ManualSuppression',
      Recipient: 'ada@example.com',
      ChangedAt: at,
    }
    const receipts = believed(await parse(receiptRequest(change, right)))
    expect(receipts).toEqual([
      {
        dedupeKey: `SubscriptionChange||${at}|ada@example.com`,
        suppress: { address: 'ada@example.com', reason: 'unsubscribe' },
      },
    ])
    expect(believed(await parse(receiptRequest(change, right)))).toEqual(receipts)
    const bounced = { ...change, SuppressionReason: 'HardBounce' }
    expect(believed(await parse(receiptRequest(bounced, right)))).toMatchObject([
      { suppress: { address: 'ada@example.com', reason: 'hard_bounce' } },
    ])
    const { Recipient, ...nobody } = change
    expect(believed(await parse(receiptRequest(nobody, right)))).toEqual([])
  })

  it('of the end of a suppression lifts it here where the recipient asked for it', async () => {
    const change = {
      RecordType: 'SubscriptionChange',
      MessageID: null,
      Metadata: {},
      SuppressSending: false,
      SuppressionReason: null,
      Recipient: 'ada@example.com',
      ChangedAt: at,
    }
    const receipts = async (Origin: string) =>
      believed(await parse(receiptRequest({ ...change, Origin }, right)))
    expect(await receipts('Recipient')).toEqual([
      {
        dedupeKey: `SubscriptionChange||${at}|ada@example.com`,
        unsuppress: { address: 'ada@example.com' },
      },
    ])
    expect([await receipts('Customer'), await receipts('Admin')]).toEqual([[], []])
  })

  it('about a mail that came in, or that nobody can name, is left out', async () => {
    for (const event of [{ RecordType: 'Inbound', MessageID: 'pm-2' }, { RecordType: 'Open' }]) {
      expect(believed(await parse(receiptRequest(event, right)))).toEqual([])
    }
  })
})
