import type { ErrorCode } from '../../../src/core/errors/catalogue.ts'
import type { Outcome } from '../../../src/core/notification/outcome.ts'
import {
  type Classification,
  member,
  type ProviderAnswer,
  refuse,
  rowOf,
  textMember,
} from '../kit/http/provider-answer.ts'

const auth: Classification = ['rejected', 'provider_auth_failed', 'account']
const blocked: Classification = ['rejected', 'blocked_recipient', 'recipient']

/**
 * `messages[].status` of the SMS API: https://developer.vonage.com/en/api-errors/sms. The HTTP status is always 200.
 *
 * @internal exported for tests
 */
export const VONAGE_STATUSES: Readonly<Record<string, Classification>> = {
  1: ['retry', 'provider_rate_limited', 'account'],
  2: ['rejected', 'provider_error', 'message'],
  3: ['rejected', 'provider_error', 'message'],
  4: auth,
  5: ['retry', 'provider_unavailable', 'provider'],
  6: ['rejected', 'carrier_blocked', 'recipient'],
  7: blocked,
  8: ['rejected', 'provider_suspended', 'account'],
  9: ['retry', 'provider_quota_exceeded', 'account'],
  10: ['retry', 'provider_rate_limited', 'account'],
  11: ['rejected', 'provider_error', 'account'],
  12: ['rejected', 'message_too_large', 'message'],
  14: auth,
  // Concerns the recipient's country or carrier. A pause would hold up all other countries.
  15: ['rejected', 'invalid_sender', 'recipient'],
  22: ['rejected', 'provider_error', 'message'],
  23: ['rejected', 'provider_error', 'account'],
  29: blocked,
  32: auth,
  33: ['rejected', 'invalid_phone_number', 'recipient'],
}

/**
 * `err-code` of a delivery receipt, from 1000 on in the Messages API's numbering
 * (https://developer.vonage.com/en/api-errors/messages). Null: no fault.
 */
const RECEIPT_CODES: Readonly<Record<string, ErrorCode | null>> = {
  0: null,
  1: 'provider_error',
  2: 'recipient_unreachable',
  3: 'invalid_phone_number',
  4: 'blocked_recipient',
  5: 'invalid_phone_number',
  6: 'spam_detected',
  7: 'recipient_unreachable',
  8: 'recipient_unreachable',
  // Named "Illegal Number"; it means that the user opted out.
  9: 'unsubscribed',
  10: 'content_rejected',
  11: 'carrier_blocked',
  12: 'recipient_unreachable',
  13: 'blocked_recipient',
  14: 'carrier_blocked',
  // The recipient's own prepaid credit.
  15: 'recipient_unreachable',
  16: 'provider_quota_exceeded',
  39: 'invalid_sender',
  // Missing from India's registry of senders, texts and consents.
  50: 'sender_not_registered',
  51: 'sender_not_registered',
  52: 'content_rejected',
  53: 'blocked_recipient',
  99: 'provider_error',
  1000: 'provider_rate_limited',
  1030: 'provider_unavailable',
  1040: 'carrier_blocked',
  1050: 'blocked_recipient',
  1060: 'provider_suspended',
  1070: 'provider_quota_exceeded',
  1090: 'message_too_large',
  1100: 'provider_unavailable',
  1120: 'invalid_sender',
  1160: 'blocked_recipient',
  1170: 'invalid_phone_number',
  1180: 'recipient_unreachable',
  1190: 'invalid_phone_number',
  1200: 'invalid_phone_number',
  1210: 'spam_detected',
  1220: 'recipient_unreachable',
  1230: 'recipient_unreachable',
  1240: 'unsubscribed',
  1250: 'carrier_blocked',
  1260: 'recipient_unreachable',
  1270: 'blocked_recipient',
  1280: 'carrier_blocked',
  1290: 'recipient_unreachable',
  1360: 'expired',
}

/** The code for an undelivered message's receipt. */
export function vonageReceiptCode(code: string | undefined): ErrorCode {
  return rowOf(RECEIPT_CODES, code) ?? 'provider_error'
}

/** The outcome of an answer to `POST /sms/json`: one entry per segment of the text. */
export function vonageOutcome(answer: ProviderAnswer): Outcome | null {
  const messages = member(answer.json, 'messages')
  if (answer.status !== 200 || !Array.isArray(messages) || messages.length === 0) return null
  const parts = messages.map((part: unknown) => ({
    status: textMember(part, 'status'),
    id: textMember(part, 'message-id'),
    why: textMember(part, 'error-text'),
  }))
  const bad = parts.find(({ status }) => status !== '0')
  const first = parts[0]
  if (bad === undefined) {
    // Receipts of the other segments have their own message ids, and carry the notification's id.
    return first?.id === undefined ? null : { kind: 'accepted', providerMessageId: first.id }
  }
  const outcome = refuse(
    answer,
    { code: bad.status, message: bad.why },
    classify(bad.status ?? '', bad.why ?? ''),
  )
  if (parts.every(({ status }) => status !== '0')) return outcome
  // Some segments were sent: a full retry would repeat them.
  return {
    kind: 'ambiguous',
    code: outcome.kind === 'accepted' ? 'provider_error' : outcome.code,
    reason: `Vonage accepted ${parts.filter(({ status }) => status === '0').length} of ${parts.length} parts: ${bad.why ?? bad.status}`,
    providerCode: bad.status,
  }
}

/** Matches the parameter name. The word alone is too common. */
const TO = /\bto\b[`'"]? param|\bparam\w*:? [`'"]?to\b[`'"]?(?! \w)|\bmsisdn\b|\brecipient\b/i

function classify(status: string, why: string): Classification {
  // Missing and invalid parameters: only the text names the parameter.
  if ((status === '2' || status === '3') && TO.test(why)) {
    return ['rejected', 'invalid_phone_number', 'recipient']
  }
  if ((status === '2' || status === '3') && /\b(?:from|sender)\b/i.test(why)) {
    return ['rejected', 'invalid_sender', 'account']
  }
  return rowOf(VONAGE_STATUSES, status) ?? ['rejected', 'provider_error', 'message']
}
