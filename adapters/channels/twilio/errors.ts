import type { ErrorCode } from '../../../src/core/errors/catalogue.ts'
import type { Outcome } from '../../../src/core/notification/outcome.ts'
import {
  byStatus,
  type Classification,
  type ProviderAnswer,
  refuse,
  rowOf,
  textMember,
} from '../kit/http/provider-answer.ts'

/** A sender's full queue drains at its rate, at worst one message per second. */
const QUEUE_MS = 60_000

const badNumber: Classification = ['rejected', 'invalid_phone_number', 'recipient']
const badSender: Classification = ['rejected', 'invalid_sender', 'account']
const badContent: Classification = ['rejected', 'content_rejected', 'message']
const badTemplate: Classification = ['rejected', 'template_error', 'message']
const blocked: Classification = ['rejected', 'blocked_recipient', 'recipient']
const unknownEnd: Classification = ['ambiguous', 'provider_unavailable', 'provider']
const unregistered: Classification = ['rejected', 'sender_not_registered', 'account']
const suspended: Classification = ['rejected', 'provider_suspended', 'account']
const unavailable: Classification = ['retry', 'provider_unavailable', 'provider']
const quota: Classification = ['retry', 'provider_quota_exceeded', 'account']
const throttled: Classification = ['retry', 'provider_rate_limited', 'account']

/**
 * Twilio's error codes (https://www.twilio.com/docs/api/errors). Codes from 30001 on appear in delivery reports, where
 * only the error code matters.
 *
 * @internal exported for tests
 */
export const TWILIO_ERRORS: Readonly<Record<string, Classification>> = {
  20003: ['rejected', 'provider_auth_failed', 'account'],
  10001: suspended,
  20005: suspended,
  20403: suspended,
  90010: suspended,
  20404: ['rejected', 'provider_error', 'account'],
  // Invalid report address, for example of this machine or a private network.
  21609: ['rejected', 'provider_error', 'account'],
  20429: throttled,
  14107: throttled,
  20500: unknownEnd,
  20503: unavailable,
  30410: unknownEnd,
  30500: unknownEnd,

  21211: badNumber,
  21217: badNumber,
  21265: badNumber,
  21266: badNumber,
  21401: badNumber,
  21604: badNumber,
  21614: ['rejected', 'landline', 'recipient'],
  21635: ['rejected', 'landline', 'recipient'],
  // The account lacks the permission or a sender for the recipient's country. A pause would hold up every other
  // country.
  21408: ['rejected', 'region_not_permitted', 'recipient'],
  21606: ['rejected', 'invalid_sender', 'recipient'],
  21657: ['rejected', 'invalid_sender', 'recipient'],
  21659: ['rejected', 'invalid_sender', 'recipient'],
  21219: blocked,
  21608: blocked,
  21610: ['rejected', 'unsubscribed', 'recipient'],
  21268: ['rejected', 'recipient_unreachable', 'recipient'],
  21612: ['rejected', 'recipient_unreachable', 'recipient'],

  21212: badSender,
  21267: badSender,
  21601: badSender,
  21603: badSender,
  21607: badSender,
  21616: badSender,
  21660: badSender,
  21661: badSender,
  21701: badSender,
  21702: badSender,
  21703: badSender,
  21704: badSender,
  21705: badSender,
  21709: badSender,
  21910: badSender,

  21602: badContent,
  21605: badContent,
  21617: ['rejected', 'message_too_large', 'message'],
  21618: badContent,
  21619: badContent,
  21654: badContent,
  21655: badContent,
  21656: badContent,
  21611: throttled,

  30001: throttled,
  30002: suspended,
  30003: ['retry', 'recipient_unreachable', 'recipient'],
  // Covers both the carrier's filter and the recipient's own block list.
  30004: ['rejected', 'carrier_blocked', 'recipient'],
  30005: badNumber,
  30006: ['rejected', 'landline', 'recipient'],
  30007: ['rejected', 'carrier_blocked', 'message'],
  30008: ['retry', 'provider_error', 'message'],
  30010: ['rejected', 'provider_error', 'message'],
  30017: unavailable,
  30018: unregistered,
  30019: ['rejected', 'message_too_large', 'message'],
  30022: quota,
  30023: quota,
  30024: unregistered,
  30027: quota,
  30032: unregistered,
  30033: suspended,
  30034: unregistered,
  30035: unregistered,
  30036: ['rejected', 'expired', 'message'],
  30037: suspended,
  30040: unregistered,
  30041: unregistered,
  30042: badSender,
  30044: ['rejected', 'message_too_large', 'message'],
  // Twilio's fraud protection blocks a number for hours.
  30450: ['rejected', 'carrier_blocked', 'recipient'],
  30453: ['rejected', 'carrier_blocked', 'recipient'],
  30485: ['rejected', 'carrier_blocked', 'recipient'],
  30454: quota,
  30630: ['rejected', 'unsubscribed', 'recipient'],

  // From here on: channels other than text messages, such as WhatsApp.
  63001: ['rejected', 'provider_auth_failed', 'account'],
  63002: badSender,
  63003: ['rejected', 'invalid_recipient', 'recipient'],
  63005: badContent,
  63006: badContent,
  63007: badSender,
  63008: badSender,
  63009: unavailable,
  63010: unknownEnd,
  63011: ['rejected', 'provider_error', 'message'],
  63012: unknownEnd,
  63013: badContent,
  // The recipient has blocked the sender.
  63014: blocked,
  // A sandbox sends only to recipients who have joined it.
  63015: blocked,
  // More than 24 hours since the recipient's last message: only a template is allowed.
  63016: badContent,
  63017: throttled,
  63018: throttled,
  63019: badContent,
  63020: unregistered,
  63021: badContent,
  63022: unregistered,
  63023: ['retry', 'provider_error', 'message'],
  // Usually a number without an account on the channel.
  63024: ['rejected', 'recipient_unreachable', 'recipient'],
  63025: badContent,
  63027: badTemplate,
  63028: badTemplate,
  63029: badTemplate,
  63030: badContent,
  63031: ['rejected', 'invalid_recipient', 'recipient'],
  63032: blocked,
  63038: quota,
  63040: badTemplate,
  63041: badTemplate,
  63042: badTemplate,
  // Meta's own limit on marketing.
  63049: blocked,
}

/** The country of a short code makes these causes differ between recipients. */
const BY_SENDER: ReadonlySet<string | undefined> = new Set(['21606', '21659'])
const LONG_NUMBER = /^\+?\d{7,}$/

/** The code for an undelivered message's report. */
export function twilioErrorCode(code: string | undefined): ErrorCode {
  return rowOf(TWILIO_ERRORS, code)?.[1] ?? 'provider_error'
}

/**
 * The outcome of an answer to `POST …/Messages.json`: the message, or `{ status, code, message, more_info }`.
 *
 * @param from the configured sender; undefined: a messaging service chose it
 */
export function twilioOutcome(answer: ProviderAnswer, from?: string): Outcome | null {
  const sid = textMember(answer.json, 'sid')
  const failed = textMember(answer.json, 'error_code')
  if (answer.status === 201 && sid !== undefined) {
    return failed === undefined
      ? { kind: 'accepted', providerMessageId: sid }
      : refused(answer, failed, textMember(answer.json, 'error_message'), from)
  }
  if (answer.status < 400) return null
  return refused(answer, textMember(answer.json, 'code'), textMember(answer.json, 'message'), from)
}

function refused(
  answer: ProviderAnswer,
  code: string | undefined,
  message: string | undefined,
  from = '',
): Outcome {
  const isEverywhere = BY_SENDER.has(code) && LONG_NUMBER.test(from)
  const retryAfterMs = code === '21611' ? Math.max(QUEUE_MS, answer.retryAfterMs ?? 0) : undefined
  return refuse(
    answer,
    { code, message, retryAfterMs },
    isEverywhere ? badSender : (rowOf(TWILIO_ERRORS, code) ?? byStatus(answer.status)),
  )
}
