import { generateKeyPairSync, sign } from 'node:crypto'
import { EventWebhook } from '@sendgrid/eventwebhook'
import { describe, expect, it } from 'vitest'
import { sendgrid } from '../../../../adapters/channels/sendgrid/send.ts'
import type { ReceiptRequest } from '../../../../src/core/ports/receipts.ts'
import { believed, NOW, receiptRequest } from '../../../support/receipt-request.ts'

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
const stranger = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
const published = publicKey.export({ format: 'der', type: 'spki' }).toString('base64')

const channel = sendgrid({ apiKey: 'SG.x', from: 'a@example.org', receipts: { publicKey: published } })
const parse = (request: ReceiptRequest) => {
  if (channel.parseReceipts === undefined) throw new Error('no reports are received')
  return channel.parseReceipts(request)
}

function signed(body: string, { at = NOW, key = privateKey } = {}): ReceiptRequest {
  const timestamp = String(at / 1000)
  return receiptRequest(body, {
    'x-twilio-email-event-webhook-timestamp': timestamp,
    'x-twilio-email-event-webhook-signature': sign('sha256', Buffer.from(timestamp + body), key).toString(
      'base64',
    ),
  })
}

const event = (more: Record<string, unknown>) => ({
  email: 'ada@example.com',
  timestamp: NOW / 1000,
  sg_event_id: 'event-1',
  sg_message_id: 'abc123.recvd-5f9.0',
  carillon_id: 'notif_1',
  ...more,
})
const report = async (more: Record<string, unknown>) => {
  const [only, ...others] = believed(await parse(signed(JSON.stringify([event(more)]))))
  expect(others).toEqual([])
  return only
}

describe('a report of SendGrid', () => {
  it('is believed when its signature is right, which its own verifier says too', async () => {
    const request = signed(`${JSON.stringify([event({ event: 'delivered' })])}\r\n`)
    const vendor = new EventWebhook()
    expect(
      vendor.verifySignature(
        vendor.convertPublicKeyToECDSA(published),
        Buffer.from(request.body),
        String(request.headers['x-twilio-email-event-webhook-signature']),
        String(request.headers['x-twilio-email-event-webhook-timestamp']),
      ),
    ).toBe(true)
    expect(believed(await parse(request))).toEqual([
      {
        dedupeKey: 'event-1',
        notificationId: 'notif_1',
        fact: {
          type: 'delivered',
          address: 'ada@example.com',
          providerMessageId: 'abc123',
          providerCode: 'delivered',
          occurredAt: NOW,
        },
      },
    ])
  })

  const right = signed(JSON.stringify([event({ event: 'delivered' })]))
  const changed = new Uint8Array(right.body)
  changed[10] = (changed[10] ?? 0) ^ 1
  const header = (name: string, value: string | undefined): ReceiptRequest => ({
    ...right,
    headers: { ...right.headers, [name]: value },
  })
  it.each<[string, ReceiptRequest]>([
    ['a key of somebody else', signed('[]', { key: stranger.privateKey })],
    ['a changed byte', { ...right, body: changed }],
    ['no signature', header('x-twilio-email-event-webhook-signature', undefined)],
    ['a signature that is none', header('x-twilio-email-event-webhook-signature', '????')],
    ['another time', header('x-twilio-email-event-webhook-timestamp', String(NOW / 1000 + 1))],
    ['no time', header('x-twilio-email-event-webhook-timestamp', undefined)],
    ['an old time', signed('[]', { at: NOW - 26 * 3_600_000 })],
    ['a time to come', signed('[]', { at: NOW + 600_000 })],
  ])('is refused with %s', async (_, request) => {
    expect(await parse(request)).toMatchObject({ kind: 'refused', why: 'signature' })
  })

  it('may come a day late, and from the key before', async () => {
    const rotating = sendgrid({
      apiKey: 'SG.x',
      from: 'a@example.org',
      receipts: {
        publicKey: [stranger.publicKey.export({ format: 'der', type: 'spki' }).toString('base64'), published],
      },
    })
    expect(await rotating.parseReceipts?.(signed('[]', { at: NOW - 24 * 3_600_000 }))).toEqual({
      kind: 'receipts',
      receipts: [],
    })
  })

  it.each(['{}', 'null', '"x"', 'no json', '[', ''])('that is %j is malformed', async (body) => {
    expect(await parse(signed(body))).toMatchObject({ kind: 'refused', why: 'malformed' })
  })

  it.each<[Record<string, unknown>, Record<string, unknown>, string?]>([
    [{ event: 'processed' }, { type: 'sent' }],
    [
      { event: 'deferred', response: '450 busy' },
      { type: 'deferred', message: '450 busy' },
    ],
    [{ event: 'delivered' }, { type: 'delivered' }],
    [
      { event: 'bounce', type: 'bounce', reason: '550 5.1.1 unknown', status: '5.1.1' },
      {
        type: 'bounced',
        code: 'invalid_recipient',
        providerCode: 'bounce bounce 5.1.1',
        message: '550 5.1.1 unknown',
      },
      'hard_bounce',
    ],
    [
      { event: 'bounce', type: 'bounce', status: '5.2.2' },
      { type: 'bounced', code: 'mailbox_full' },
    ],
    [
      { event: 'bounce', type: 'bounce', status: '4.4.7' },
      { type: 'bounced', code: 'recipient_unreachable' },
    ],
    [
      { event: 'bounce', type: 'blocked', reason: 'Spam' },
      { type: 'undelivered', code: 'spam_detected' },
    ],
    [
      { event: 'bounce', type: 'blocked', reason: 'No' },
      { type: 'undelivered', code: 'blocked_recipient' },
    ],
    ...(
      [
        ['552 5.2.2 The email account is over quota', '5.2.2', 'mailbox_full'],
        ['552 5.2.2 The email account is over quota', undefined, 'mailbox_full'],
        ['452 4.2.2 Mailbox full', '4.2.2', 'mailbox_full'],
        ['550 5.1.1 No such user', '5.1.1', 'invalid_recipient'],
        ['550 5.2.1 The account is disabled', '5.2.1', 'blocked_recipient'],
        ['552 5.3.4 Message too big', '5.3.4', 'message_too_large'],
        ['421 4.7.0 Try again later', '4.7.0', 'recipient_unreachable'],
        ['554 5.7.1 Blocked using bl.spamcop.net', '5.7.1', 'spam_detected'],
        ['550 5.7.26 Unauthenticated mail', '5.7.26', 'invalid_sender'],
        ['550 5.7.1 Relay access denied', '5.7.1', 'blocked_recipient'],
        ['550 5.0.0 No', '5.0.0', 'blocked_recipient'],
        ['unable to get mx info', undefined, 'blocked_recipient'],
      ] as const
    ).map(([reason, status, code]): [Record<string, unknown>, Record<string, unknown>] => [
      { event: 'bounce', type: 'blocked', reason, status },
      { type: 'undelivered', code },
    ]),
    [
      { event: 'dropped', reason: 'Bounced Address' },
      { type: 'undelivered', code: 'blocked_by_provider' },
    ],
    [
      { event: 'dropped', reason: 'Invalid' },
      { type: 'undelivered', code: 'invalid_recipient' },
    ],
    [
      { event: 'dropped', reason: 'Invalid SMTPAPI header' },
      { type: 'undelivered', code: 'provider_error' },
    ],
    [
      { event: 'dropped', reason: 'Recipient List over Package Quota' },
      { type: 'undelivered', code: 'provider_quota_exceeded' },
    ],
    [
      { event: 'dropped', reason: 'Unsubscribed Address' },
      { type: 'undelivered', code: 'blocked_by_provider' },
    ],
    [
      { event: 'dropped', reason: 'Spam Reporting Address' },
      { type: 'undelivered', code: 'blocked_by_provider' },
    ],
    [
      { event: 'dropped', reason: 'Spam Content' },
      { type: 'undelivered', code: 'spam_detected' },
    ],
    [
      { event: 'dropped', type: 'expired', reason: 'x' },
      { type: 'undelivered', code: 'expired' },
    ],
    [
      { event: 'dropped', reason: 'Brand new' },
      { type: 'undelivered', code: 'provider_error' },
    ],
    [{ event: 'spamreport' }, { type: 'complained' }, 'complaint'],
    [{ event: 'unsubscribe' }, { type: 'unsubscribed' }, 'unsubscribe'],
    [{ event: 'open' }, { type: 'opened' }],
    [
      { event: 'open', sg_machine_open: true },
      { type: 'opened', machine: true },
    ],
    [{ event: 'click', url: 'https://example.org' }, { type: 'clicked' }],
    [{ event: 'brand_new' }, { type: 'reported', providerCode: 'brand_new' }],
  ])('%j means %j', async (more, fact, reason) => {
    const receipt = await report(more)
    expect(receipt?.fact).toMatchObject({ providerMessageId: 'abc123', occurredAt: NOW, ...fact })
    expect(receipt?.fact?.machine).toBe(fact.machine)
    expect(receipt?.suppress).toEqual(reason === undefined ? undefined : { reason })
  })

  it('about a group of mails concerns one list only', async () => {
    const receipt = await report({ event: 'group_unsubscribe' })
    expect(receipt?.fact?.type).toBe('unsubscribed')
    expect(receipt?.suppress).toEqual({ reason: 'unsubscribe', scope: 'category' })
  })

  it('is known again by its own id, and without one by what it says', async () => {
    expect((await report({ event: 'open', sg_event_id: 'x'.repeat(300) }))?.dedupeKey).toMatch(
      /^[0-9a-f]{64}$/,
    )
    const first = await report({ event: 'open', sg_event_id: undefined })
    expect(await report({ event: 'open', sg_event_id: undefined })).toEqual(first)
    expect((await report({ event: 'click', sg_event_id: undefined }))?.dedupeKey).not.toBe(first?.dedupeKey)
  })

  it('about mails that nobody can name is left out, and so is what is no event', async () => {
    const events = [
      null,
      1,
      'x',
      [],
      {},
      event({ event: 'open', sg_message_id: undefined, carillon_id: undefined }),
    ]
    expect(believed(await parse(signed(JSON.stringify(events))))).toEqual([])
  })
})
