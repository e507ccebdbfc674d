import type { Receipt } from '../../../src/core/ports/receipts.ts'
import { jsonOf, member, rowOf, textMember } from '../kit/http/provider-answer.ts'
import { dedupeKey, timeOf } from '../kit/http/receipt-request.ts'
import { OUR_ID } from '../kit/mail/mail-api.ts'
import { addressOf, bounced, hintOf, type Meaning } from '../kit/mail/meaning.ts'
import { codeOfReply } from '../kit/smtp/refusal.ts'
import type { SnsMessage } from './sns-message.ts'

/** Member with an event's details, where it differs from the event's lower-case name. */
const DETAILS: Readonly<Record<string, string>> = {
  'Rendering Failure': 'failure',
  DeliveryDelay: 'deliveryDelay',
}

/** The receipts in an SNS notification. Empty for the confirmation text of a new subscription. */
export function receiptsOf({ MessageId, Message }: SnsMessage): readonly Receipt[] {
  const event = jsonOf(Message)
  // `eventType` for published events, `notificationType` for the older identity notifications.
  const type = textMember(event, 'eventType') ?? textMember(event, 'notificationType')
  const mail = member(event, 'mail')
  const providerMessageId = textMember(mail, 'messageId')
  if (type === undefined || providerMessageId === undefined) return []
  const details = member(event, rowOf(DETAILS, type) ?? type.toLowerCase())
  const notificationId = ourIdOf(mail)
  // Each recipient in a report has its own reply.
  const receipt = (about: string | undefined, key: string, address?: string): Receipt => {
    const { suppress, ...meaning } = meaningOf(type, details, about)
    return {
      dedupeKey: key,
      notificationId,
      fact: {
        ...meaning,
        ...(address === undefined ? {} : { address }),
        providerMessageId,
        providerCode: codeOf(type, details),
        message: messageOf(details, about)?.slice(0, 500),
        occurredAt: timeOf(member(details, 'timestamp') ?? member(mail, 'timestamp')),
      },
      suppress: hintOf(suppress),
    }
  }
  const copies = copiesIn(mail, details)
  if (copies.length > 0) {
    return copies.map((address, index) =>
      receipt(address, index === 0 ? dedupeKey(MessageId) : dedupeKey(MessageId, address), address),
    )
  }
  const [first, ...others] = recipientsOf(details)
  return [
    receipt(first, dedupeKey(MessageId)),
    ...others.flatMap((address): readonly Receipt[] => {
      const { suppress: reason } = meaningOf(type, details, address)
      return reason === undefined
        ? []
        : [{ dedupeKey: dedupeKey(MessageId, address), suppress: { address, reason } }]
    }),
  ]
}

/** SES returns tags as lists. */
function ourIdOf(mail: unknown): string | undefined {
  const values = member(member(mail, 'tags'), OUR_ID)
  const [first] = Array.isArray(values) ? values : []
  return typeof first === 'string' ? first : undefined
}

function meaningOf(type: string, details: unknown, address: string | undefined): Meaning {
  switch (type) {
    case 'Send':
      return { type: 'sent' }
    case 'Delivery':
      return { type: 'delivered' }
    case 'DeliveryDelay':
      return { type: 'deferred' }
    case 'Bounce':
      return bounce(details, address)
    case 'Complaint':
      return complaint(details)
    case 'Reject':
      return { type: 'undelivered', code: 'content_rejected' }
    case 'Rendering Failure':
      return { type: 'undelivered', code: 'template_error' }
    case 'Open':
      return { type: 'opened' }
    case 'Click':
      return { type: 'clicked' }
    default:
      return { type: 'reported' }
  }
}

/** Transient bounces: SES has stopped trying. Automatic replies are included and leave the mail delivered. */
const TRANSIENT: Readonly<Record<string, Meaning>> = {
  MailboxFull: { type: 'undelivered', code: 'mailbox_full' },
  MessageTooLarge: { type: 'undelivered', code: 'message_too_large' },
  ContentRejected: { type: 'undelivered', code: 'content_rejected' },
  AttachmentRejected: { type: 'undelivered', code: 'content_rejected' },
}

function bounce(details: unknown, address: string | undefined): Meaning {
  const subType = textMember(details, 'bounceSubType') ?? ''
  if (textMember(details, 'bounceType') !== 'Permanent') {
    return rowOf(TRANSIENT, subType) ?? { type: 'undelivered', code: 'recipient_unreachable' }
  }
  // Opted out through an SES contact list, or on a suppression list: SES did not try.
  if (/suppress|^UnsubscribedRecipient$/i.test(subType)) {
    return { type: 'undelivered', code: 'blocked_by_provider' }
  }
  // SES also calls refusals permanent that are about the sender or a limit. The receiver's reply says so.
  return bounced(codeOfReply(replyAbout(details, address) ?? '', 'invalid_recipient'))
}

/** The receiver's reply about one recipient. */
function replyAbout(details: unknown, address: string | undefined): string | undefined {
  const listed = member(details, 'bouncedRecipients')
  const own: unknown = (Array.isArray(listed) ? listed : []).find(
    (one: unknown) =>
      address === undefined ||
      [textMember(one, 'emailAddress')].flatMap((given) => [given, addressOf(given)]).includes(address),
  )
  return textMember(own, 'diagnosticCode') ?? textMember(own, 'status')
}

/** Feedback about mails moved out of the spam folder, or by machines (RFC 5965 7.3, RFC 6591). */
const NO_COMPLAINTS: ReadonlySet<string | undefined> = new Set(['not-spam', 'auth-failure', 'virus'])

function complaint(details: unknown): Meaning {
  // On a suppression list of the account or a tenant: SES did not try.
  if (/suppress/i.test(textMember(details, 'complaintSubType') ?? '')) {
    return { type: 'undelivered', code: 'blocked_by_provider' }
  }
  if (NO_COMPLAINTS.has(textMember(details, 'complaintFeedbackType'))) return { type: 'reported' }
  return { type: 'complained', suppress: 'complaint' }
}

function recipientsOf(details: unknown): readonly string[] {
  const listed =
    member(details, 'bouncedRecipients') ??
    member(details, 'complainedRecipients') ??
    member(details, 'delayedRecipients') ??
    // Of a delivery: the addresses themselves.
    member(details, 'recipients')
  return (Array.isArray(listed) ? listed : []).flatMap((one) =>
    typeof one === 'string' ? [one] : (textMember(one, 'emailAddress') ?? []),
  )
}

/**
 * The recipients that a report about a mail with copies concerns. Empty for a mail with one recipient: the address in a bounce
 * may be the one that it forwards to.
 */
function copiesIn(mail: unknown, details: unknown): readonly string[] {
  const all = member(mail, 'destination')
  if (!Array.isArray(all) || all.length < 2) return []
  const known = new Set(all.map((one) => String(addressOf(String(one))).toLowerCase()))
  return recipientsOf(details)
    .flatMap((one) => addressOf(one) ?? [])
    .filter((address) => known.has(address.toLowerCase()))
}

function codeOf(type: string, details: unknown): string {
  const parts = ['bounceType', 'bounceSubType', 'complaintSubType', 'complaintFeedbackType', 'delayType']
  return [type, ...parts.flatMap((name) => textMember(details, name) ?? [])].join(' ')
}

function messageOf(details: unknown, address: string | undefined): string | undefined {
  return (
    replyAbout(details, address) ??
    textMember(details, 'smtpResponse') ??
    textMember(details, 'reason') ??
    textMember(details, 'errorMessage')
  )
}
