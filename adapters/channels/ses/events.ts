import type { Receipt } from '../../../src/ports/receipts.ts'
import { jsonOf, member, rowOf, textMember } from '../kit/http/provider-answer.ts'
import { dedupeKey, timeOf } from '../kit/http/receipt-request.ts'
import { OUR_ID } from '../kit/mail/mail-api.ts'
import { addressOf, hintOf, type Meaning } from '../kit/mail/meaning.ts'
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
  const { suppress, ...meaning } = meaningOf(type, details)
  const fact = {
    ...meaning,
    providerMessageId,
    providerCode: codeOf(type, details),
    message: messageOf(details)?.slice(0, 500),
    occurredAt: timeOf(member(details, 'timestamp') ?? member(mail, 'timestamp')),
  }
  const notificationId = ourIdOf(mail)
  const reported = copiesIn(mail, details)
  if (reported.length > 0) {
    return reported.map((address, index) => ({
      dedupeKey: index === 0 ? dedupeKey(MessageId) : dedupeKey(MessageId, address),
      notificationId,
      fact: { ...fact, address },
      suppress: hintOf(suppress),
    }))
  }
  return [
    { dedupeKey: dedupeKey(MessageId), notificationId, fact, suppress: hintOf(suppress) },
    ...(suppress === undefined
      ? []
      : recipientsOf(details)
          .slice(1)
          .map((address) => ({
            dedupeKey: dedupeKey(MessageId, address),
            suppress: { address, reason: suppress },
          }))),
  ]
}

/** SES returns tags as lists. */
function ourIdOf(mail: unknown): string | undefined {
  const values = member(member(mail, 'tags'), OUR_ID)
  const [first] = Array.isArray(values) ? values : []
  return typeof first === 'string' ? first : undefined
}

function meaningOf(type: string, details: unknown): Meaning {
  switch (type) {
    case 'Send':
      return { type: 'sent' }
    case 'Delivery':
      return { type: 'delivered' }
    case 'DeliveryDelay':
      return { type: 'deferred' }
    case 'Bounce':
      return bounce(textMember(details, 'bounceType'), textMember(details, 'bounceSubType') ?? '')
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

function bounce(type: string | undefined, subType: string): Meaning {
  if (type === 'Permanent') {
    // Opted out through an SES contact list, or on a suppression list: SES did not try.
    return /suppress|^UnsubscribedRecipient$/i.test(subType)
      ? { type: 'undelivered', code: 'blocked_by_provider' }
      : { type: 'bounced', code: 'invalid_recipient', suppress: 'hard_bounce' }
  }
  return rowOf(TRANSIENT, subType) ?? { type: 'undelivered', code: 'recipient_unreachable' }
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

function messageOf(details: unknown): string | undefined {
  const bounced = member(details, 'bouncedRecipients')
  return (
    textMember(Array.isArray(bounced) ? bounced[0] : undefined, 'diagnosticCode') ??
    textMember(details, 'smtpResponse') ??
    textMember(details, 'reason') ??
    textMember(details, 'errorMessage')
  )
}
