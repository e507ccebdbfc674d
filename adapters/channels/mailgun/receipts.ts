import { createHmac } from 'node:crypto'
import * as z from 'zod'
import type { ParsedReceipts, Receipt, ReceiptRequest } from '../../../src/core/ports/receipts.ts'
import { member, rowOf, textMember } from '../kit/http/provider-answer.ts'
import { credential } from '../kit/http/provider-options.ts'
import {
  dedupeKey,
  isFreshSeconds,
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
import { bareId } from './errors.ts'

/** Nine hours: Mailgun repeats a report for eight. */
const MAX_AGE_MS = 32_400_000

/** Verification of Mailgun's reports. */
export interface MailgunReceiptOptions {
  /** The account's HTTP webhook signing key; several during a rotation. */
  readonly secret: string | readonly string[]
}

export const receiptOptions: z.ZodType<ReceiptSecrets> = z.strictObject({
  secret: oneOrSeveral(credential),
})

/**
 * Reads Mailgun's webhooks: HMAC-SHA256 over the timestamp and a single-use token.
 *
 * The signature does not cover the event. It protects the token, which is the deduplication key: a copy with another
 * event has no effect on any machine while its age is acceptable.
 */
export function mailgunReceipts({
  secret: keys,
}: ReceiptSecrets): (request: ReceiptRequest) => Promise<ParsedReceipts> {
  return async (request) => {
    if ((request.headers['content-type'] ?? '').includes('form')) {
      return malformed('This is a legacy webhook of Mailgun. Create a current one, which sends JSON.')
    }
    const body = jsonBody(request)
    const signature = member(body, 'signature')
    const timestamp = textMember(signature, 'timestamp') ?? ''
    const token = textMember(signature, 'token') ?? ''
    const given = textMember(signature, 'signature') ?? ''
    // Without a fixed length, a digit could move between timestamp and token.
    if (!/^\d{10}$/.test(timestamp) || !/^[0-9a-zA-Z]{32,128}$/.test(token)) {
      return unproven('The report is not signed.')
    }
    const matches = keys.map((key) =>
      sameText(given, createHmac('sha256', key).update(`${timestamp}${token}`).digest('hex')),
    )
    if (!matches.includes(true)) return unproven('The signature of the report is invalid.')
    if (!isFreshSeconds(timestamp, request, MAX_AGE_MS)) {
      return unproven('The report was signed too long ago.')
    }
    const event = member(body, 'event-data')
    const type = textMember(event, 'event')
    if (type === undefined) return malformed('The body is not a Mailgun event.')
    return { kind: 'receipts', receipts: receiptsOf(token, type, event) }
  }
}

function receiptsOf(token: string, type: string, event: unknown): readonly Receipt[] {
  const id = textMember(member(member(event, 'message'), 'headers'), 'message-id')
  const notificationId = textMember(member(event, 'user-variables'), OUR_ID)
  if (id === undefined && notificationId === undefined) {
    // The event concerns no message, but its token is used up: a forged copy must not come first.
    return [{ dedupeKey: dedupeKey(token), fact: { type: 'reported', providerCode: codeOf(type, event) } }]
  }
  const { suppress, ...fact } = meaningOf(type, event)
  return [
    {
      dedupeKey: dedupeKey(token),
      notificationId,
      fact: {
        ...fact,
        address: addressOf(textMember(event, 'recipient')),
        providerMessageId: id === undefined ? undefined : bareId(id),
        providerCode: codeOf(type, event),
        message: messageOf(event)?.slice(0, 500),
        occurredAt: timeOf(member(event, 'timestamp')),
      },
      suppress: hintOf(suppress),
    },
  ]
}

function meaningOf(type: string, event: unknown): Meaning {
  switch (type) {
    case 'accepted':
      return { type: 'sent' }
    case 'delivered':
      return { type: 'delivered' }
    case 'failed':
      return textMember(event, 'severity') === 'temporary' ? { type: 'deferred' } : failed(event)
    case 'rejected':
      return { type: 'undelivered', code: 'content_rejected' }
    case 'opened':
    case 'clicked':
      return byMachine(event) ? { type, machine: true } : { type }
    case 'unsubscribed':
      return { type: 'unsubscribed', suppress: 'unsubscribe' }
    case 'complained':
      return { type: 'complained', suppress: 'complaint' }
    default:
      return { type: 'reported' }
  }
}

/** Mailgun's codes for mails that it did not attempt to deliver. */
const OWN: Readonly<Record<string, Meaning>> = {
  '605': { type: 'undelivered', code: 'blocked_by_provider' },
  '606': { type: 'undelivered', code: 'blocked_by_provider' },
  '607': { type: 'undelivered', code: 'blocked_by_provider' },
  '625': { type: 'undelivered', code: 'provider_suspended' },
}
const REASONS: Readonly<Record<string, string>> = {
  'suppress-bounce': '605',
  'suppress-unsubscribe': '606',
  'suppress-complaint': '607',
}

function failed(event: unknown): Meaning {
  const status = member(event, 'delivery-status')
  const code = textMember(status, 'code') ?? ''
  const own = rowOf(OWN, rowOf(REASONS, textMember(event, 'reason')) ?? code)
  if (own !== undefined) return own
  return bounced(
    codeOfReply([code, textMember(status, 'enhanced-code'), textMember(status, 'message')].join(' ')),
  )
}

function byMachine(event: unknown): boolean {
  return textMember(member(event, 'client-info'), 'bot') !== undefined
}

function codeOf(type: string, event: unknown): string {
  const parts = [
    type,
    textMember(event, 'severity'),
    textMember(member(event, 'delivery-status'), 'code'),
    textMember(event, 'reason'),
  ]
  return parts.filter((part) => part !== undefined).join(' ')
}

function messageOf(event: unknown): string | undefined {
  const status = member(event, 'delivery-status')
  return (
    textMember(status, 'message') ??
    textMember(status, 'description') ??
    textMember(member(event, 'reject'), 'reason')
  )
}
