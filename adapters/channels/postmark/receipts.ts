import * as z from 'zod'
import type { ParsedReceipts, Receipt, ReceiptRequest } from '../../../src/core/ports/receipts.ts'
import { member, rowOf, textMember } from '../kit/http/provider-answer.ts'
import { dedupeKey, jsonBody, malformed, sameText, timeOf, unproven } from '../kit/http/receipt-request.ts'
import { OUR_ID } from '../kit/mail/mail-api.ts'
import { addressOf, bounced, hintOf, type Meaning } from '../kit/mail/meaning.ts'
import { oneOrSeveral } from '../kit/options.ts'
import { codeOfReply } from '../kit/smtp/refusal.ts'

/**
 * Secret of Postmark's webhooks, at least 8 characters: the password of HTTP basic authentication, or the value of a
 * custom header. Several during a rotation.
 */
export type PostmarkReceiptOptions =
  | { readonly user: string; readonly password: string | readonly string[] }
  | { readonly header: string; readonly secret: string | readonly string[] }

type WebhookCredentials =
  | { readonly user: string; readonly password: readonly string[] }
  | { readonly header: string; readonly secret: readonly string[] }

const presented = oneOrSeveral(z.string().min(8))

export const receiptOptions: z.ZodType<WebhookCredentials> = z.union(
  [
    z.strictObject({ user: z.string().min(1), password: presented }),
    z.strictObject({ header: z.string().regex(/^[A-Za-z0-9-]{1,64}$/), secret: presented }),
  ],
  'must be { user, password } or { header, secret }, the password or secret of at least 8 characters',
)

/** Reads Postmark's webhooks. They carry no signature, so the secret is the only proof. */
export function postmarkReceipts(
  credentials: WebhookCredentials,
): (request: ReceiptRequest) => Promise<ParsedReceipts> {
  return async (request) => {
    if (!isProven(request, credentials)) return unproven('The report lacks the secret of the webhook.')
    const event = jsonBody(request)
    const type = textMember(event, 'RecordType')
    if (type === undefined) return malformed('The body is not a Postmark report.')
    return { kind: 'receipts', receipts: receiptOf(type, event) }
  }
}

function isProven({ headers }: ReceiptRequest, credentials: WebhookCredentials): boolean {
  if ('header' in credentials) {
    const given = headers[credentials.header.toLowerCase()] ?? ''
    return credentials.secret.map((secret) => sameText(given, secret)).includes(true)
  }
  const [, given = ''] = /^basic +(\S+)$/i.exec(headers.authorization ?? '') ?? []
  return credentials.password
    .map((password) =>
      sameText(given, Buffer.from(`${credentials.user}:${password}`, 'utf8').toString('base64')),
    )
    .includes(true)
}

function receiptOf(type: string, event: unknown): readonly Receipt[] {
  const providerMessageId = textMember(event, 'MessageID')
  const notificationId = textMember(member(event, 'Metadata'), OUR_ID)
  if (type === 'Inbound') return []
  const address = textMember(event, 'Recipient') ?? textMember(event, 'Email')
  const at = ['DeliveredAt', 'BouncedAt', 'ReceivedAt', 'ChangedAt']
    .map((name) => textMember(event, name))
    .find((time) => time !== undefined)
  const { suppress: reason, ...fact } = meaningOf(type, event)
  const key = dedupeKey(type, providerMessageId, textMember(event, 'ID') ?? at, address)
  if (providerMessageId === undefined && notificationId === undefined) {
    // Only a change of the suppression list can concern a recipient without a mail.
    return type === 'SubscriptionChange' ? wishOf(event, key, reason) : []
  }
  return [
    {
      dedupeKey: key,
      notificationId,
      fact: {
        ...fact,
        address: addressOf(address),
        providerMessageId,
        providerCode: type === 'Bounce' ? `${type} ${textMember(event, 'Type') ?? ''}`.trim() : type,
        message: (textMember(event, 'Details') ?? textMember(event, 'Description'))?.slice(0, 500),
        occurredAt: timeOf(at),
      },
      suppress: hintOf(reason),
    },
  ]
}

function meaningOf(type: string, event: unknown): Meaning {
  switch (type) {
    case 'Delivery':
      return { type: 'delivered' }
    case 'Bounce':
      return bounce(event)
    case 'SpamComplaint':
      return { type: 'complained', suppress: 'complaint' }
    case 'Open':
      return { type: 'opened' }
    case 'Click':
      return { type: 'clicked' }
    case 'SubscriptionChange':
      return subscription(event)
    default:
      return { type: 'reported' }
  }
}

function bounce(event: unknown): Meaning {
  const type = textMember(event, 'Type')
  // Postmark's types are guesses from the receiver's reply, which its details quote.
  return type === 'HardBounce'
    ? bounced(codeOfReply(textMember(event, 'Details') ?? '', 'invalid_recipient'))
    : (rowOf(BOUNCES, type) ?? { type: 'reported' })
}

/** Postmark's bounce types: https://postmarkapp.com/developer/api/bounce-api#bounce-types */
const BOUNCES: Readonly<Record<string, Meaning>> = {
  BadEmailAddress: bounced('invalid_recipient'),
  // May come after a delivery, and before a HardBounce.
  SoftBounce: { type: 'undelivered', code: 'recipient_unreachable' },
  Transient: { type: 'deferred' },
  DnsError: { type: 'deferred' },
  OpenRelayTest: { type: 'deferred' },
  Blocked: { type: 'undelivered', code: 'spam_detected' },
  SpamNotification: { type: 'undelivered', code: 'spam_detected' },
  DMARCPolicy: { type: 'undelivered', code: 'invalid_sender' },
  Unconfirmed: { type: 'undelivered', code: 'invalid_sender' },
  ManuallyDeactivated: { type: 'undelivered', code: 'blocked_by_provider' },
  VirusNotification: { type: 'undelivered', code: 'content_rejected' },
  SpamComplaint: { type: 'complained', suppress: 'complaint' },
  Unsubscribe: { type: 'unsubscribed', suppress: 'unsubscribe' },
  SMTPApiError: { type: 'undelivered', code: 'provider_error' },
  TemplateRenderingFailed: { type: 'undelivered', code: 'template_error' },
}

function wishOf(event: unknown, dedupeKey: string, reason: Meaning['suppress']): readonly Receipt[] {
  const address = textMember(event, 'Recipient')
  if (address === undefined) return []
  if (reason !== undefined) return [{ dedupeKey, suppress: { address, reason } }]
  // Only if the recipient did it: the report does not name other reasons for a removal from Postmark's list.
  const optsIn = member(event, 'SuppressSending') === false && textMember(event, 'Origin') === 'Recipient'
  return optsIn ? [{ dedupeKey, unsuppress: { address } }] : []
}

/** The bounce or complaint behind a suppression has its own webhook, which may not be registered. */
const SUPPRESSIONS: Readonly<Record<string, Meaning>> = {
  HardBounce: bounced('invalid_recipient'),
  SpamComplaint: { type: 'complained', suppress: 'complaint' },
  ManualSuppression: { type: 'unsubscribed', suppress: 'unsubscribe' },
}

function subscription(event: unknown): Meaning {
  if (member(event, 'SuppressSending') !== true) return { type: 'reported' }
  const reason = textMember(event, 'SuppressionReason') ?? 'ManualSuppression'
  return rowOf(SUPPRESSIONS, reason) ?? { type: 'reported' }
}
