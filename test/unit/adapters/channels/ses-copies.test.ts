import { describe, expect, it } from 'vitest'
import { receiptsOf } from '../../../../adapters/channels/ses/events.ts'

const mail = {
  messageId: 'ses-1',
  timestamp: '2026-11-21T11:59:00.000Z',
  tags: { carillon_id: ['notif_1'] },
  destination: ['ada@example.com', 'Bob <Bob@example.com>', 'carl@example.com'],
}

function receipts(event: object) {
  const message = { MessageId: 'sns-1', Message: JSON.stringify({ mail, ...event }) }
  return receiptsOf(message as Parameters<typeof receiptsOf>[0])
}

const bounce = { bounceType: 'Permanent', bounceSubType: 'General' }
const at = (...addresses: string[]) => addresses.map((emailAddress) => ({ emailAddress }))

describe('a report of Amazon SES about a mail with copies', () => {
  it.each<[object, readonly unknown[]]>([
    [
      {
        eventType: 'Bounce',
        // The second is where the mailbox of one of them forwards to.
        bounce: { ...bounce, bouncedRecipients: at('bob@example.com', 'forward@example.net') },
      },
      [['bounced', 'bob@example.com', 'hard_bounce']],
    ],
    [
      { eventType: 'Complaint', complaint: { complainedRecipients: at('carl@example.com') } },
      [['complained', 'carl@example.com', 'complaint']],
    ],
    [
      { eventType: 'Delivery', delivery: { recipients: ['carl@example.com', 'ada@example.com'] } },
      [
        ['delivered', 'carl@example.com', undefined],
        ['delivered', 'ada@example.com', undefined],
      ],
    ],
    [
      { eventType: 'DeliveryDelay', deliveryDelay: { delayedRecipients: at('bob@example.com') } },
      [['deferred', 'bob@example.com', undefined]],
    ],
    [{ eventType: 'Open', open: {} }, [['opened', undefined, undefined]]],
  ])('names whom it concerns: %j', (event, expected) => {
    const found = receipts(event)
    expect(found.map(({ fact, suppress }) => [fact?.type, fact?.address, suppress?.reason])).toEqual(expected)
    expect(found.every(({ notificationId }) => notificationId === 'notif_1')).toBe(true)
    expect(new Set(found.map(({ dedupeKey }) => dedupeKey)).size).toBe(found.length)
  })

  it('classifies each address by its own reply', () => {
    const bouncedRecipients = [
      { emailAddress: 'bob@example.com', diagnosticCode: 'smtp; 550 5.1.1 Rate limit exceeded' },
      { emailAddress: 'carl@example.com', diagnosticCode: 'smtp; 550 5.1.1 User unknown' },
    ]
    const found = receipts({ eventType: 'Bounce', bounce: { ...bounce, bouncedRecipients } })
    expect(found.map(({ fact, suppress }) => [fact?.address, fact?.message, suppress?.reason])).toEqual([
      ['bob@example.com', 'smtp; 550 5.1.1 Rate limit exceeded', undefined],
      ['carl@example.com', 'smtp; 550 5.1.1 User unknown', 'hard_bounce'],
    ])
  })

  it('concerns the recipient where there are no copies, whatever address it names', () => {
    const event = { eventType: 'Bounce', bounce: { ...bounce, bouncedRecipients: at('forward@example.net') } }
    const [receipt, ...others] = receipts({ ...event, mail: { ...mail, destination: ['ada@example.com'] } })
    expect([receipt?.fact?.address, receipt?.suppress, others]).toEqual([
      undefined,
      { reason: 'hard_bounce' },
      [],
    ])
  })
})
