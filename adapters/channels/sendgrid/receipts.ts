import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import * as z from 'zod'
import type { ErrorCode } from '../../../src/core/errors/catalogue.ts'
import type { ParsedReceipts, Receipt, ReceiptRequest } from '../../../src/core/ports/receipts.ts'
import { member, textMember } from '../kit/http/provider-answer.ts'
import {
  dedupeKey,
  isFreshSeconds,
  jsonBody,
  malformed,
  timeOf,
  unproven,
} from '../kit/http/receipt-request.ts'
import { OUR_ID } from '../kit/mail/mail-api.ts'
import { addressOf, bounced, hintOf, type Meaning } from '../kit/mail/meaning.ts'
import { oneOrSeveral } from '../kit/options.ts'
import { codeOfReply } from '../kit/smtp/refusal.ts'
import { parseReply } from '../kit/smtp/reply.ts'

const SIGNATURE = 'x-twilio-email-event-webhook-signature'
const TIMESTAMP = 'x-twilio-email-event-webhook-timestamp'

/** 25 hours: SendGrid repeats a report for a day. */
const MAX_AGE_MS = 90_000_000

/** Verification of SendGrid's reports. */
export interface SendgridReceiptOptions {
  /** The webhook's verification key (base64) from the console; several during a rotation. */
  readonly publicKey: string | readonly string[]
}

/** Parses the console's key: base64 of an SPKI on the curve P-256. Null: invalid. */
function publicKeyOf(base64: string): KeyObject | null {
  try {
    const key = createPublicKey({ key: Buffer.from(base64, 'base64'), format: 'der', type: 'spki' })
    return key.asymmetricKeyType === 'ec' ? key : null
  } catch {
    return null
  }
}

const publicKey = z
  .string()
  .max(1000)
  .transform(publicKeyOf)
  .pipe(z.custom<KeyObject>((key) => key !== null, 'must be a public key in base64'))

interface PublicKeys {
  readonly publicKey: readonly KeyObject[]
}

export const receiptOptions: z.ZodType<PublicKeys> = z.strictObject({
  publicKey: oneOrSeveral(publicKey),
})

/** Reads SendGrid's event webhook, signed with ECDSA and SHA-256 over the timestamp and the raw body. */
export function sendgridReceipts({
  publicKey: keys,
}: PublicKeys): (request: ReceiptRequest) => Promise<ParsedReceipts> {
  return async (request) => {
    const timestamp = request.headers[TIMESTAMP] ?? ''
    const signature = Buffer.from(request.headers[SIGNATURE] ?? '', 'base64')
    const signed = Buffer.concat([Buffer.from(timestamp, 'utf8'), request.body])
    if (!keys.some((key) => verify('sha256', signed, { key, dsaEncoding: 'der' }, signature))) {
      return unproven('The signature of the report is invalid.')
    }
    if (!isFreshSeconds(timestamp, request, MAX_AGE_MS)) {
      return unproven('The report was signed too long ago.')
    }
    const events = jsonBody(request)
    if (!Array.isArray(events)) return malformed('The body is not a list of events.')
    return { kind: 'receipts', receipts: events.flatMap((event) => receiptOf(event) ?? []) }
  }
}

function receiptOf(event: unknown): Receipt | null {
  // SendGrid appends a suffix to the id of its answer.
  const providerMessageId = textMember(event, 'sg_message_id')?.split('.')[0]
  const notificationId = textMember(event, OUR_ID)
  const type = textMember(event, 'event')
  if (type === undefined || (providerMessageId === undefined && notificationId === undefined)) return null
  const { suppress, scope, ...fact } = meaningOf(type, event)
  return {
    dedupeKey: dedupeKey(
      textMember(event, 'sg_event_id') ?? dedupeKey(type, providerMessageId, textMember(event, 'timestamp')),
    ),
    notificationId,
    fact: {
      ...fact,
      address: addressOf(textMember(event, 'email')),
      providerMessageId,
      providerCode: codeOf(type, event),
      message: (textMember(event, 'reason') ?? textMember(event, 'response'))?.slice(0, 500),
      occurredAt: timeOf(member(event, 'timestamp')),
    },
    suppress: hintOf(suppress, scope),
  }
}

function meaningOf(event: string, details: unknown): Meaning {
  switch (event) {
    case 'processed':
      return { type: 'sent' }
    case 'deferred':
      return { type: 'deferred' }
    case 'delivered':
      return { type: 'delivered' }
    case 'bounce':
      return bounce(details)
    case 'dropped':
      return dropped(textMember(details, 'reason') ?? '', textMember(details, 'type'))
    case 'spamreport':
      return { type: 'complained', suppress: 'complaint' }
    case 'unsubscribe':
      return { type: 'unsubscribed', suppress: 'unsubscribe' }
    case 'group_unsubscribe':
      return { type: 'unsubscribed', suppress: 'unsubscribe', scope: 'category' }
    case 'open':
      return member(details, 'sg_machine_open') === true
        ? { type: 'opened', machine: true }
        : { type: 'opened' }
    case 'click':
      return { type: 'clicked' }
    default:
      return { type: 'reported' }
  }
}

function bounce(details: unknown): Meaning {
  const reason = textMember(details, 'reason') ?? ''
  // The reason begins with the receiver's code, or is SendGrid's own text.
  const reply = parseReply(reason).basic === 0 ? `${textMember(details, 'status') ?? ''} ${reason}` : reason
  // SendGrid does not suppress the address, so neither do we, regardless of the status.
  return textMember(details, 'type') === 'blocked'
    ? { type: 'undelivered', code: blocked(reply) }
    : bounced(codeOfReply(reply, 'invalid_recipient'))
}

/** The reason of a block, from the receiver's reply or SendGrid's text. */
function blocked(reply: string): ErrorCode {
  const code = codeOfReply(reply, 'blocked_recipient')
  if (code !== 'provider_error' && code !== 'blocked_recipient') return code
  return /spam|reputation/i.test(reply) ? 'spam_detected' : 'blocked_recipient'
}

function dropped(reason: string, type: string | undefined): Meaning {
  if (type === 'expired') return { type: 'undelivered', code: 'expired' }
  if (/bounced address|unsubscribed|spam reporting/i.test(reason))
    return { type: 'undelivered', code: 'blocked_by_provider' }
  if (/spam/i.test(reason)) return { type: 'undelivered', code: 'spam_detected' }
  if (/package quota/i.test(reason)) return { type: 'undelivered', code: 'provider_quota_exceeded' }
  // "Invalid SMTPAPI header" concerns the mail.
  if (/invalid(?! smtpapi)/i.test(reason)) return { type: 'undelivered', code: 'invalid_recipient' }
  return { type: 'undelivered', code: 'provider_error' }
}

/** SendGrid's own terms: the event, the kind of a bounce or drop, and the receiver's status. */
function codeOf(event: string, details: unknown): string {
  return [event, textMember(details, 'type'), textMember(details, 'status')]
    .filter((part) => part !== undefined)
    .join(' ')
}
