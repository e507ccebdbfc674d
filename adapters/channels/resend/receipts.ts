import * as z from 'zod'
import type { ParsedReceipts, Receipt, ReceiptRequest } from '../../../src/core/ports/receipts.ts'
import { isWebhookSecret, webhookSigner } from '../../../src/outgoing/webhook-signer.ts'
import { member, textMember } from '../kit/http/provider-answer.ts'
import {
  dedupeKey,
  isFresh,
  jsonBody,
  malformed,
  sameText,
  timeOf,
  unproven,
} from '../kit/http/receipt-request.ts'
import { OUR_ID } from '../kit/mail/mail-api.ts'
import { addressOf, bounced, hintOf, type Meaning } from '../kit/mail/meaning.ts'
import { oneOrSeveral, type ReceiptSecrets } from '../kit/options.ts'
import { codeOfReply } from '../kit/smtp/refusal.ts'

/** Tag of mails with copies. */
export const COPIED = 'carillon_copies'

/** Verification of Resend's reports. */
export interface ResendReceiptOptions {
  /** The webhook's signing secret, `whsec_…`; several during a rotation. */
  readonly secret: string | readonly string[]
}

export const receiptOptions: z.ZodType<ReceiptSecrets> = z.strictObject({
  secret: oneOrSeveral(
    z.custom<string>(isWebhookSecret, 'must be the signing secret of the webhook, whsec_…'),
  ),
})

/** The tolerance that Svix and Standard Webhooks recommend. Every repetition has a new signature. */
const MAX_AGE_MS = 5 * 60_000

/** Signatures per request: normally one, more during a rotation. Strangers could send thousands in one header. */
const MAX_SIGNATURES = 10
/** `v1,` and the base64 of 32 bytes. */
const SIGNATURE_LENGTH = 47

/** Reads Resend's webhooks: Standard Webhooks with Svix header names. */
export function resendReceipts({
  secret: secrets,
}: ReceiptSecrets): (request: ReceiptRequest) => Promise<ParsedReceipts> {
  const signer = webhookSigner()
  return async (request) => {
    const id = request.headers['svix-id'] ?? ''
    const timestamp = request.headers['svix-timestamp'] ?? ''
    if (id === '' || !/^\d{1,12}$/.test(timestamp)) return unproven('The report is not signed.')
    if (!isFresh(Number(timestamp) * 1000, request.receivedAt, MAX_AGE_MS)) {
      return unproven('The report was signed too long ago.')
    }
    const given = (request.headers['svix-signature'] ?? '')
      .split(' ')
      .filter((each) => each.startsWith('v1,') && each.length === SIGNATURE_LENGTH)
      .slice(0, MAX_SIGNATURES)
    const body = new TextDecoder().decode(request.body)
    const expected = signer.headers(id, Number(timestamp), body, secrets)['webhook-signature'] ?? ''
    const matches = expected.split(' ').flatMap((one) => given.map((other) => sameText(other, one)))
    if (!matches.includes(true)) return unproven('The signature of the report is invalid.')
    const event = jsonBody(request)
    const type = textMember(event, 'type')
    if (type === undefined) return malformed('The body is not a Resend event.')
    return { kind: 'receipts', receipts: receiptsOf(id, type, event) }
  }
}

function receiptsOf(id: string, type: string, event: unknown): readonly Receipt[] {
  const data = member(event, 'data')
  const providerMessageId = textMember(data, 'email_id')
  // Contacts, domains and incoming mails do not concern a sent mail.
  if (providerMessageId === undefined || !type.startsWith('email.') || type === 'email.received') return []
  const tags = member(data, 'tags')
  const { suppress, ...fact } = unlessCopied(meaningOf(type, data), tags)
  return [
    {
      dedupeKey: dedupeKey(id),
      notificationId: textMember(tags, OUR_ID),
      fact: {
        ...fact,
        address: onlyOf(member(data, 'to')),
        providerMessageId,
        providerCode: codeOf(type, data),
        message: messageOf(data)?.slice(0, 500),
        occurredAt: timeOf(member(event, 'created_at')),
      },
      suppress: hintOf(suppress),
    },
  ]
}

/**
 * Resend does not say which addressee of a mail a report concerns. A bounce or complaint of a copy must not count against the
 * recipient.
 */
function unlessCopied(meaning: Meaning, tags: unknown): Meaning {
  if (textMember(tags, COPIED) === undefined || !AGAINST.has(meaning.type)) return meaning
  return { type: 'reported', code: meaning.code }
}

const AGAINST: ReadonlySet<Meaning['type']> = new Set(['bounced', 'undelivered', 'complained'])

/** The address of a report about one recipient. */
function onlyOf(to: unknown): string | undefined {
  const [first, second] = Array.isArray(to) ? to : [to]
  return typeof first === 'string' && second === undefined ? addressOf(first) : undefined
}

function meaningOf(type: string, data: unknown): Meaning {
  switch (type) {
    case 'email.sent':
      return { type: 'sent' }
    case 'email.delivered':
      return { type: 'delivered' }
    case 'email.delivery_delayed':
      return { type: 'deferred' }
    case 'email.bounced':
      return bounce(member(data, 'bounce'))
    case 'email.suppressed':
      return { type: 'undelivered', code: 'blocked_by_provider' }
    case 'email.failed':
      return { type: 'undelivered', code: 'provider_error' }
    case 'email.complained':
      return { type: 'complained', suppress: 'complaint' }
    case 'email.opened':
      return { type: 'opened' }
    case 'email.clicked':
      return { type: 'clicked' }
    default:
      return { type: 'reported' }
  }
}

/**
 * The kinds are those of Amazon SES, which Resend uses. Without a kind, the event itself means a permanent refusal
 * (https://resend.com/docs/webhooks/emails/bounced).
 */
function bounce(details: unknown): Meaning {
  const type = textMember(details, 'type')
  const text = `${textMember(details, 'subType') ?? ''} ${textMember(details, 'message') ?? ''}`
  if (/suppress/i.test(text)) return { type: 'undelivered', code: 'blocked_by_provider' }
  // Automatic replies also count as transient and leave the mail delivered.
  if (type !== 'Permanent' && /mailbox ?full|mailbox is full|\b[45]\.2\.2\b/i.test(text)) {
    return { type: 'undelivered', code: 'mailbox_full' }
  }
  return type === undefined || type === 'Permanent'
    ? bounced(codeOfReply(replyOf(details), 'invalid_recipient'))
    : { type: 'undelivered', code: 'recipient_unreachable' }
}

/** The receiver's reply, or Resend's own sentence, which has no code. */
function replyOf(details: unknown): string {
  const given = member(details, 'diagnosticCode')
  const [first]: readonly unknown[] = Array.isArray(given) ? given : [given]
  return typeof first === 'string' ? first : (textMember(details, 'message') ?? '')
}

function codeOf(type: string, data: unknown): string {
  const details = member(data, 'bounce')
  const parts = [type, textMember(details, 'type'), textMember(details, 'subType')]
  return parts.filter((part) => part !== undefined).join(' ')
}

function messageOf(data: unknown): string | undefined {
  return (
    textMember(member(data, 'bounce'), 'message') ??
    textMember(member(data, 'suppressed'), 'message') ??
    textMember(member(data, 'failed'), 'reason')
  )
}
