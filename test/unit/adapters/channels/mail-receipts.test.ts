import { createHmac, generateKeyPairSync, sign } from 'node:crypto'
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mailgun } from '../../../../adapters/channels/mailgun/send.ts'
import { postmark } from '../../../../adapters/channels/postmark/send.ts'
import { resend } from '../../../../adapters/channels/resend/send.ts'
import { sendgrid } from '../../../../adapters/channels/sendgrid/send.ts'
import { ses } from '../../../../adapters/channels/ses/send.ts'
import { EVENT_TYPE_OF } from '../../../../src/core/notification/facts.ts'
import type { Provider } from '../../../../src/core/ports/provider.ts'
import type { ReceiptRequest } from '../../../../src/core/ports/receipts.ts'
import { webhookSigner } from '../../../../src/outgoing/webhook-signer.ts'
import { NOW, receiptRequest } from '../../../support/receipt-request.ts'

/* Whatever a provider says, proven or not: it is understood, logged or refused, and never an exception. */

interface TestedProvider {
  readonly channel: Provider
  /** A request that proves to come from the provider, with an event made of these fields. */
  sign(event: Readonly<Record<string, unknown>>): ReceiptRequest
  /** An event that calls the bounce of ada@example.com permanent, with the receiver's reply. */
  bounce(reply: string): Readonly<Record<string, unknown>>
  /** What makes an event known. */
  readonly events: readonly Readonly<Record<string, unknown>>[]
}

const from = 'a@example.org'
const file = (name: string) => readFileSync(new URL(`../../../fixtures/${name}`, import.meta.url), 'utf8')
const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
const signer = webhookSigner()
const secret = signer.newSecret()
const seconds = String(NOW / 1000)

const PROVIDERS: Readonly<Record<string, TestedProvider>> = {
  sendgrid: {
    channel: sendgrid({
      apiKey: 'x',
      from,
      receipts: { publicKey: publicKey.export({ format: 'der', type: 'spki' }).toString('base64') },
    }),
    sign(event) {
      const body = JSON.stringify([event])
      return receiptRequest(body, {
        'x-twilio-email-event-webhook-timestamp': seconds,
        'x-twilio-email-event-webhook-signature': sign(
          'sha256',
          Buffer.from(seconds + body),
          privateKey,
        ).toString('base64'),
      })
    },
    bounce: (reason) => ({ event: 'bounce', type: 'bounce', sg_message_id: 'a.b', status: '5.1.1', reason }),
    events: ['bounce', 'dropped', 'delivered', 'open'].map((event) => ({ event, sg_message_id: 'a.b' })),
  },
  postmark: {
    channel: postmark({
      serverToken: 'x',
      from,
      receipts: { header: 'x-secret', secret: 'correct horse' },
    }),
    sign: (event) => receiptRequest(event, { 'x-secret': 'correct horse' }),
    bounce: (reply) => ({
      RecordType: 'Bounce',
      Type: 'HardBounce',
      MessageID: 'a',
      Details: `smtp;${reply}`,
    }),
    events: [
      ...['Bounce', 'Delivery', 'SpamComplaint', 'SubscriptionChange'].map((RecordType) => ({
        RecordType,
        MessageID: 'a',
      })),
      { RecordType: 'SubscriptionChange', Recipient: 'ada@example.com', SuppressSending: true },
    ],
  },
  resend: {
    channel: resend({ apiKey: 'x', from, receipts: { secret } }),
    sign(event) {
      const body = JSON.stringify({ data: event, ...event })
      const signed = signer.headers('msg_1', NOW / 1000, body, [secret])
      return receiptRequest(body, {
        'svix-id': 'msg_1',
        'svix-timestamp': seconds,
        'svix-signature': signed['webhook-signature'],
      })
    },
    bounce: (reply) => ({
      type: 'email.bounced',
      email_id: 'a',
      bounce: {
        type: 'Permanent',
        subType: 'General',
        message: 'Bad addresses hurt the reputation of the sender.',
        diagnosticCode: [`smtp; ${reply}`],
      },
    }),
    events: ['email.bounced', 'email.delivered', 'email.complained'].map((type) => ({ type, email_id: 'a' })),
  },
  mailgun: {
    channel: mailgun({ apiKey: 'x', domain: 'example.org', from, receipts: { secret: 'key' } }),
    sign(event) {
      const token = 'a'.repeat(50)
      const signature = createHmac('sha256', 'key')
        .update(seconds + token)
        .digest('hex')
      return receiptRequest({
        signature: { timestamp: seconds, token, signature },
        'event-data': { message: { headers: { 'message-id': 'a' } }, ...event },
      })
    },
    bounce: (message) => ({
      event: 'failed',
      severity: 'permanent',
      reason: 'bounce',
      'delivery-status': { code: 550, message },
    }),
    events: ['failed', 'delivered', 'rejected', 'opened'].map((event) => ({ event })),
  },
  ses: {
    channel: ses({
      region: 'eu-central-1',
      from,
      receipts: {
        topics: 'arn:aws:sns:eu-central-1:123456789012:mail',
        get: async () => file('sns.cert.pem'),
      },
    }),
    sign(event) {
      const fields = {
        Message: JSON.stringify({ mail: { messageId: 'a' }, ...event }),
        MessageId: 'm',
        Timestamp: new Date(NOW).toISOString(),
        TopicArn: 'arn:aws:sns:eu-central-1:123456789012:mail',
        Type: 'Notification',
      }
      const text = Object.entries(fields)
        .map(([name, value]) => `${name}\n${value}\n`)
        .join('')
      return receiptRequest({
        ...fields,
        SignatureVersion: '2',
        Signature: sign('RSA-SHA256', Buffer.from(text), file('sns.key.pem')).toString('base64'),
        SigningCertURL: 'https://sns.eu-central-1.amazonaws.com/a.pem',
      })
    },
    bounce: (reply) => ({
      eventType: 'Bounce',
      bounce: {
        bounceType: 'Permanent',
        bounceSubType: 'General',
        bouncedRecipients: [
          { emailAddress: 'ada@example.com', status: '5.1.1', diagnosticCode: `smtp; ${reply}` },
        ],
      },
    }),
    events: [
      ...['Bounce', 'Complaint', 'Delivery', 'Reject'].map((eventType) => ({ eventType })),
      {
        eventType: 'Bounce',
        mail: { messageId: 'a' },
        bounce: {
          bounceType: 'Permanent',
          bouncedRecipients: ['ada', 'bob'].map((name) => ({ emailAddress: `${name}@example.com` })),
        },
      },
    ],
  },
}

/** Names that the readers look for, with values of any kind. */
const NAMES = [
  ...[
    'event',
    'type',
    'status',
    'reason',
    'email',
    'sg_event_id',
    'sg_message_id',
    'carillon_id',
    'timestamp',
  ],
  ...[
    'RecordType',
    'Type',
    'ID',
    'Email',
    'Recipient',
    'Metadata',
    'BouncedAt',
    'SuppressSending',
    'Details',
  ],
  ...['data', 'email_id', 'to', 'tags', 'bounce', 'failed', 'suppressed', 'created_at'],
  ...['severity', 'delivery-status', 'message', 'recipient', 'user-variables', 'client-info', 'reject'],
  ...['eventType', 'mail', 'delivery', 'complaint', 'bouncedRecipients', '__proto__', 'constructor'],
]
const anything = fc.jsonValue({ maxDepth: 3 })
const fields = fc.dictionary(fc.constantFrom(...NAMES), anything, { maxKeys: 8 })

describe.each(Object.entries(PROVIDERS))('a report of %s', (_, { channel, sign: prove, events, bounce }) => {
  const parse = (request: ReceiptRequest) => {
    if (channel.parseReceipts === undefined) throw new Error('no reports are received')
    return channel.parseReceipts(request)
  }

  it('that is proven is understood, whatever is in it, and twice in the same way', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom({}, ...events), fields, async (known, more) => {
        const request = prove({ ...more, ...known })
        const parsed = await parse(request)
        expect(await parse(request)).toEqual(parsed)
        if (parsed.kind === 'refused') {
          expect(parsed.why).toBe('malformed')
          return
        }
        if (parsed.kind === 'later') throw new Error('nothing outside is asked')
        for (const { dedupeKey, fact, suppress } of parsed.receipts) {
          expect(dedupeKey.length).toBeGreaterThan(0)
          expect(dedupeKey.length).toBeLessThanOrEqual(255)
          if (fact !== undefined) expect(EVENT_TYPE_OF).toHaveProperty(fact.type)
          if (suppress !== undefined && fact === undefined)
            expect(suppress.address).toMatch(/^(?:ada|bob)@example\.com$/)
        }
      }),
      { numRuns: 200 },
    )
  })

  it.each([
    ['550 5.1.1 <ada@example.com> 203.0.113.9 has sent to too many recipients this hour', false],
    ['550 5.1.1 Rejected by policy', false],
    ['550 5.7.1 Service unavailable; client [203.0.113.9] blocked using zen.spamhaus.org', false],
    ['550 5.7.606 Access denied, banned sending IP [203.0.113.9]', false],
    ['554 5.7.1 <ada@example.com>: Relay access denied', false],
    ['550 5.4.310 DNS domain example.com does not exist', false],
    ['550-5.7.26 This mail has been blocked because the sender is unauthenticated.', false],
    ['552 5.2.2 <ada@example.com>: user is over quota', false],
    ['554 4.4.7 Message expired: unable to deliver in 840 minutes', false],
    ['550 5.1.1 <limit@policy.example>: user unknown', true],
    ['550 5.1.351 Remote server returned unknown recipient or mailbox unavailable', true],
    ['550 No such user', true],
  ])('that calls a bounce permanent suppresses only who does not exist: %s', async (reply, suppresses) => {
    const parsed = await parse(prove(bounce(reply)))
    if (parsed.kind !== 'receipts') throw new Error(parsed.message)
    expect(parsed.receipts).toMatchObject([{ fact: { type: 'bounced', message: expect.anything() } }])
    expect(parsed.receipts[0]?.suppress?.reason).toBe(suppresses ? 'hard_bounce' : undefined)
    expect(parsed.receipts[0]?.fact?.code === 'invalid_recipient').toBe(suppresses)
  })

  it('that is not proven is refused, whatever is in it', async () => {
    const header = fc.constantFrom(
      'authorization',
      'svix-id',
      'svix-timestamp',
      'svix-signature',
      'x-twilio-email-event-webhook-timestamp',
      'x-twilio-email-event-webhook-signature',
    )
    const value = fc.oneof(fc.string(), fc.base64String(), fc.constant(seconds), fc.constant('v1,'))
    await fc.assert(
      fc.asyncProperty(fc.oneof(anything, fields), fc.dictionary(header, value), async (body, headers) => {
        expect(await parse(receiptRequest(JSON.stringify(body), headers))).toMatchObject({
          kind: 'refused',
        })
      }),
      { numRuns: 200 },
    )
  })
})
