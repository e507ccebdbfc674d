import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { mailgun } from '../../../../adapters/channels/mailgun/send.ts'
import type { ReceiptRequest } from '../../../../src/core/ports/receipts.ts'
import { believed, NOW, receiptRequest } from '../../../support/receipt-request.ts'

const KEY = 'correct-horse'
const channel = mailgun({
  apiKey: 'x',
  domain: 'mg.example.org',
  from: 'a@example.org',
  receipts: { secret: [KEY, 'battery-staple'] },
})
const parse = (request: ReceiptRequest) => {
  if (channel.parseReceipts === undefined) throw new Error('no reports are received')
  return channel.parseReceipts(request)
}

const TOKEN = 'a8ce0edb2dd8301dee6c2405235584e45aa91d1e9f979f3de0'
const signature = (at = NOW, key = KEY, token = TOKEN) => {
  const timestamp = String(at / 1000)
  return {
    timestamp,
    token,
    signature: createHmac('sha256', key)
      .update(timestamp + token)
      .digest('hex'),
  }
}
const event = (name: string, more: Record<string, unknown> = {}) => ({
  event: name,
  id: 'day-1',
  timestamp: NOW / 1000 - 30.5,
  recipient: 'ada@example.com',
  message: { headers: { 'message-id': 'id1@mg.example.org' } },
  'user-variables': { carillon_id: 'notif_1' },
  ...more,
})
const request = (data: unknown, signed: unknown = signature()) =>
  receiptRequest({ signature: signed, 'event-data': data })

describe('a report of Mailgun', () => {
  it('is believed when it is signed, by its key or the one before', async () => {
    for (const key of [KEY, 'battery-staple']) {
      expect(believed(await parse(request(event('delivered'), signature(NOW, key))))).toEqual([
        {
          dedupeKey: TOKEN,
          notificationId: 'notif_1',
          fact: {
            type: 'delivered',
            address: 'ada@example.com',
            providerMessageId: 'id1@mg.example.org',
            providerCode: 'delivered',
            occurredAt: NOW - 30_500,
          },
        },
      ])
    }
  })

  // The example of Mailgun's documentation cannot be checked: its key is secret. This one was made with OpenSSL.
  it('is signed as OpenSSL signs', async () => {
    expect(signature(1_700_000_000_000, 'key', '0'.repeat(50)).signature).toBe(
      'dbcb2da5ddec86ee8b92df9db02e119224bb5cc802e55b02e97de9a05cb85830',
    )
  })

  it('copied with another event has the same key, so that it is recorded once', async () => {
    const [first] = believed(await parse(request(event('delivered'))))
    const [copy] = believed(await parse(request(event('complained'))))
    expect(copy?.dedupeKey).toBe(first?.dedupeKey)
  })

  const right = signature()
  it.each<[string, unknown]>([
    ['a key of somebody else', signature(NOW, 'somebody')],
    ['another token', { ...right, token: right.token.replace('a8', 'b8') }],
    ['another time', { ...right, timestamp: String(NOW / 1000 + 1) }],
    [
      'a digit that moved from the time to the token',
      { ...right, timestamp: right.timestamp.slice(0, -1), token: right.timestamp.slice(-1) + right.token },
    ],
    ['another case', { ...right, signature: right.signature.toUpperCase() }],
    ['no signature', { ...right, signature: undefined }],
    ['nothing', null],
    ['an old time', signature(NOW - 9 * 3_600_000 - 1000)],
    ['a time to come', signature(NOW + 301_000)],
  ])('is refused with %s', async (_, signed) => {
    expect(await parse(request(event('delivered'), signed))).toMatchObject({
      kind: 'refused',
      why: 'signature',
    })
  })

  it('in the form of a legacy webhook is refused with the way out', async () => {
    const form = new URLSearchParams({ event: 'bounced', ...signature() }).toString()
    for (const type of ['application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']) {
      expect(await parse(receiptRequest(form, { 'content-type': type }))).toMatchObject({
        kind: 'refused',
        why: 'malformed',
        message: expect.stringContaining('legacy webhook'),
      })
    }
  })

  it('without an event is malformed', async () => {
    expect(await parse(request(undefined))).toMatchObject({ kind: 'refused', why: 'malformed' })
    expect(await parse(receiptRequest('no json'))).toMatchObject({ kind: 'refused' })
  })

  const failed = (severity: string, status: Record<string, unknown>, more: Record<string, unknown> = {}) =>
    event('failed', { severity, 'delivery-status': status, ...more })
  it.each<[Record<string, unknown>, Record<string, unknown>, string?]>([
    [event('accepted'), { type: 'sent' }],
    [event('delivered'), { type: 'delivered' }],
    [failed('temporary', { code: 450, message: 'busy' }), { type: 'deferred', message: 'busy' }],
    [
      failed('permanent', { code: 605 }, { reason: 'suppress-bounce' }),
      { type: 'undelivered', code: 'blocked_by_provider' },
    ],
    [
      failed('permanent', {}, { reason: 'suppress-bounce' }),
      { type: 'undelivered', code: 'blocked_by_provider' },
    ],
    [failed('permanent', { code: 606 }), { type: 'undelivered', code: 'blocked_by_provider' }],
    [failed('permanent', { code: 607 }), { type: 'undelivered', code: 'blocked_by_provider' }],
    [failed('permanent', { code: 625 }), { type: 'undelivered', code: 'provider_suspended' }],
    [
      failed('permanent', { code: 550, message: '5.1.1 no such user' }, { reason: 'bounce' }),
      {
        type: 'bounced',
        code: 'invalid_recipient',
        message: '5.1.1 no such user',
        providerCode: 'failed permanent 550 bounce',
      },
      'hard_bounce',
    ],
    [
      failed('permanent', { code: 552, 'enhanced-code': '5.2.2', message: 'full' }),
      { type: 'bounced', code: 'mailbox_full' },
    ],
    [
      failed('permanent', { code: 550, message: '5.7.1 blocked as spam' }),
      { type: 'bounced', code: 'spam_detected' },
    ],
    [failed('permanent', { code: 554, message: '5.6.0 no' }), { type: 'bounced', code: 'content_rejected' }],
    [
      failed('permanent', { code: 450, message: '4.4.1 silent' }),
      { type: 'bounced', code: 'recipient_unreachable' },
    ],
    [
      failed('permanent', { code: 498, message: 'No MX' }),
      { type: 'bounced', code: 'recipient_unreachable' },
    ],
    [
      event('rejected', { reject: { reason: 'Virus' } }),
      { type: 'undelivered', code: 'content_rejected', message: 'Virus' },
    ],
    [event('opened', { 'client-info': { bot: '' } }), { type: 'opened' }],
    [event('opened', { 'client-info': { bot: 'apple' } }), { type: 'opened', machine: true }],
    [event('clicked', { 'client-info': { bot: 'generic' } }), { type: 'clicked', machine: true }],
    [event('clicked'), { type: 'clicked' }],
    [event('unsubscribed'), { type: 'unsubscribed' }, 'unsubscribe'],
    [event('complained'), { type: 'complained' }, 'complaint'],
    [event('brand_new'), { type: 'reported', providerCode: 'brand_new' }],
  ])('%j means %j', async (data, fact, reason) => {
    const [receipt, ...others] = believed(await parse(request(data)))
    expect(others).toEqual([])
    expect(receipt?.fact).toMatchObject({ providerMessageId: 'id1@mg.example.org', ...fact })
    expect(receipt?.fact?.machine).toBe(fact.machine)
    expect(receipt?.suppress).toEqual(reason === undefined ? undefined : { reason })
  })

  it('about a mail that nobody can name says nothing, and its token is used up all the same', async () => {
    for (const name of ['complained', 'brand_new']) {
      const data = event(name, { message: {}, 'user-variables': [] })
      expect(believed(await parse(request(data)))).toEqual([
        { dedupeKey: TOKEN, fact: { type: 'reported', providerCode: name } },
      ])
    }
  })
})
