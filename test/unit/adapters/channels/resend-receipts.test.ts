import { Resend } from 'resend'
import { Webhook } from 'svix'
import { describe, expect, it } from 'vitest'
import { resend } from '../../../../adapters/channels/resend/send.ts'
import type { ReceiptRequest } from '../../../../src/core/ports/receipts.ts'
import { webhookSigner } from '../../../../src/outgoing/webhook-signer.ts'
import { believed, NOW, receiptRequest } from '../../../support/receipt-request.ts'

const signer = webhookSigner()
const secret = signer.newSecret()
const older = signer.newSecret()
const channel = resend({ apiKey: 're_x', from: 'a@example.org', receipts: { secret: [secret, older] } })
const parse = (request: ReceiptRequest) => {
  if (channel.parseReceipts === undefined) throw new Error('no reports are received')
  return channel.parseReceipts(request)
}

/** Signed by Svix' own library. */
function signed(body: unknown, { at = NOW, key = secret, id = 'msg_1' } = {}): ReceiptRequest {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return receiptRequest(text, {
    'svix-id': id,
    'svix-timestamp': String(at / 1000),
    'svix-signature': new Webhook(key).sign(id, new Date(at), text),
  })
}

const data = {
  email_id: 're-1',
  message_id: '<1@example.org>',
  from: 'a@example.org',
  to: ['ada@example.com'],
  subject: 'Grüße 🎉',
  tags: { carillon_id: 'notif_1' },
}
const event = (type: string, more: Record<string, unknown> = {}) => ({
  type,
  created_at: '2026-11-21T11:59:30.000Z',
  data: { ...data, ...more },
})

describe('a report of Resend', () => {
  it('is believed when it is signed, by its secret or the one before', async () => {
    for (const key of [secret, older]) {
      expect(believed(await parse(signed(event('email.delivered'), { key })))).toEqual([
        {
          dedupeKey: 'msg_1',
          notificationId: 'notif_1',
          fact: {
            type: 'delivered',
            address: 'ada@example.com',
            providerMessageId: 're-1',
            providerCode: 'email.delivered',
            occurredAt: Date.parse('2026-11-21T11:59:30.000Z'),
          },
        },
      ])
    }
  })

  it('signed by us is believed by the verifiers of Svix and Resend', () => {
    const body = JSON.stringify(event('email.delivered'))
    const now = Math.floor(Date.now() / 1000)
    const ours = signer.headers('msg_1', now, body, [secret])
    const signature = ours['webhook-signature'] ?? ''
    const headers = { 'svix-id': 'msg_1', 'svix-timestamp': String(now), 'svix-signature': signature }
    expect(() => new Webhook(secret).verify(body, headers)).not.toThrow()
    expect(
      new Resend('re_x').webhooks.verify({
        payload: body,
        headers: { id: 'msg_1', timestamp: String(now), signature },
        webhookSecret: secret,
      }),
    ).toMatchObject({ type: 'email.delivered' })
  })

  const right = signed(event('email.delivered'))
  const changed = new Uint8Array(right.body)
  changed[10] = (changed[10] ?? 0) ^ 1
  const header = (name: string, value: string | undefined): ReceiptRequest => ({
    ...right,
    headers: { ...right.headers, [name]: value },
  })
  it.each<[string, ReceiptRequest]>([
    ['a secret of somebody else', signed(event('email.delivered'), { key: signer.newSecret() })],
    ['a changed byte', { ...right, body: changed }],
    ['another id', header('svix-id', 'msg_2')],
    ['no id', header('svix-id', undefined)],
    ['another time', header('svix-timestamp', String(NOW / 1000 + 1))],
    ['no time', header('svix-timestamp', undefined)],
    ['no signature', header('svix-signature', undefined)],
    ['an empty signature', header('svix-signature', 'v1,')],
    [
      'another version of signature',
      header('svix-signature', right.headers['svix-signature']?.replace('v1,', 'v2,')),
    ],
    ['an old time', signed(event('email.delivered'), { at: NOW - 301_000 })],
    ['a time to come', signed(event('email.delivered'), { at: NOW + 301_000 })],
  ])('is refused with %s', async (_, request) => {
    expect(await parse(request)).toMatchObject({ kind: 'refused', why: 'signature' })
  })

  it('may carry several signatures', async () => {
    const several = header('svix-signature', `v1,AAAA ${right.headers['svix-signature']} v2,BBBB`)
    expect(await parse(several)).toMatchObject({ kind: 'receipts' })
  })

  it('is verified by its first ten signatures that could be right', async () => {
    const own = right.headers['svix-signature'] ?? ''
    const wrong = `v1,${'A'.repeat(43)}=`
    const among = (before: readonly string[]) => header('svix-signature', [...before, own].join(' '))
    const short = Array<string>(5_000).fill('v1,AAAA')
    expect(await parse(among(short))).toMatchObject({ kind: 'receipts' })
    expect(await parse(among([...short, ...Array<string>(9).fill(wrong)]))).toMatchObject({
      kind: 'receipts',
    })
    expect(await parse(among(Array<string>(10).fill(wrong)))).toMatchObject({ kind: 'refused' })
  })

  it('is checked by its age before its signatures are looked at', async () => {
    const old = header('svix-timestamp', String(NOW / 1000 - 301))
    expect(await parse(old)).toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('too long ago'),
    })
  })

  it.each(['', 'x', '[]', '{}'])('that is %j is malformed', async (body) => {
    expect(await parse(signed(body))).toMatchObject({ kind: 'refused', why: 'malformed' })
  })

  const bounce = (type: string, subType: string, message = 'No.') =>
    event('email.bounced', { bounce: { type, subType, message } })
  it.each<[Record<string, unknown>, Record<string, unknown>, string?]>([
    [event('email.sent'), { type: 'sent' }],
    [event('email.delivered'), { type: 'delivered' }],
    [event('email.delivery_delayed'), { type: 'deferred' }],
    [
      bounce('Permanent', 'General'),
      {
        type: 'bounced',
        code: 'invalid_recipient',
        message: 'No.',
        providerCode: 'email.bounced Permanent General',
      },
      'hard_bounce',
    ],
    [bounce('Permanent', 'Suppressed'), { type: 'undelivered', code: 'blocked_by_provider' }],
    [
      bounce('Permanent', 'General', 'The address is on the suppression list.'),
      { type: 'undelivered', code: 'blocked_by_provider' },
    ],
    [
      event('email.bounced'),
      { type: 'bounced', code: 'invalid_recipient', providerCode: 'email.bounced' },
      'hard_bounce',
    ],
    [
      event('email.bounced', { bounce: { message: 'No such user.', type: null, subType: null } }),
      { type: 'bounced', code: 'invalid_recipient', message: 'No such user.' },
      'hard_bounce',
    ],
    [
      event('email.bounced', { bounce: { message: '552 5.2.2 Over quota' } }),
      { type: 'undelivered', code: 'mailbox_full' },
    ],
    [
      event('email.bounced', { bounce: { message: 'The address is suppressed.' } }),
      { type: 'undelivered', code: 'blocked_by_provider' },
    ],
    [bounce('Transient', 'MailboxFull'), { type: 'undelivered', code: 'mailbox_full' }],
    [bounce('Transient', 'General'), { type: 'undelivered', code: 'recipient_unreachable' }],
    [bounce('Undetermined', 'Undetermined'), { type: 'undelivered', code: 'recipient_unreachable' }],
    [
      event('email.suppressed', { suppressed: { type: 'x', message: 'Listed.' } }),
      { type: 'undelivered', code: 'blocked_by_provider', message: 'Listed.' },
    ],
    [
      event('email.failed', { failed: { reason: 'quota' } }),
      { type: 'undelivered', code: 'provider_error', message: 'quota' },
    ],
    [event('email.complained'), { type: 'complained' }, 'complaint'],
    [event('email.opened'), { type: 'opened' }],
    [event('email.clicked', { click: { link: 'https://example.org' } }), { type: 'clicked' }],
    [event('email.scheduled'), { type: 'reported' }],
    [event('email.brand_new'), { type: 'reported', providerCode: 'email.brand_new' }],
  ])('%j means %j', async (body, fact, reason) => {
    const [receipt, ...others] = believed(await parse(signed(body)))
    expect(others).toEqual([])
    expect(receipt?.fact).toMatchObject({ providerMessageId: 're-1', ...fact })
    expect(receipt?.suppress).toEqual(reason === undefined ? undefined : { reason })
  })

  it.each([
    ['email.bounced', 'reported'],
    ['email.complained', 'reported'],
    ['email.suppressed', 'reported'],
    ['email.delivered', 'delivered'],
    ['email.opened', 'opened'],
  ])('about a mail with copies counts against nobody: %s', async (type, fact) => {
    const tags = { ...data.tags, carillon_copies: 'yes' }
    const [receipt] = believed(await parse(signed(event(type, { tags }))))
    expect([receipt?.fact?.type, receipt?.suppress]).toEqual([fact, undefined])
  })

  it('about anything but a mail that was sent is left out', async () => {
    for (const other of [event('email.received'), event('contact.created'), { type: 'email.sent' }]) {
      expect(believed(await parse(signed(other)))).toEqual([])
    }
  })
})
