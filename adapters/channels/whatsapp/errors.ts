import type { ErrorCode } from '../../../src/core/errors/catalogue.ts'
import type { Outcome } from '../../../src/core/notification/outcome.ts'
import {
  byStatus,
  type Classification,
  member,
  type ProviderAnswer,
  refuse,
  rowOf,
  textMember,
} from '../kit/http/provider-answer.ts'

const denied: Classification = ['rejected', 'provider_auth_failed', 'account']
const suspended: Classification = ['rejected', 'provider_suspended', 'account']
const badSender: Classification = ['rejected', 'invalid_sender', 'account']
const unregistered: Classification = ['rejected', 'sender_not_registered', 'account']
const badTemplate: Classification = ['rejected', 'template_error', 'message']
const badContent: Classification = ['rejected', 'invalid_content', 'message']
const blocked: Classification = ['rejected', 'blocked_recipient', 'recipient']
const throttled: Classification = ['retry', 'provider_rate_limited', 'account']
const limited: Classification = ['retry', 'provider_quota_exceeded', 'account']
const unavailable: Classification = ['retry', 'provider_unavailable', 'provider']
const unknownEnd: Classification = ['ambiguous', 'provider_unavailable', 'provider']

/**
 * Error codes of Meta's Cloud API. The HTTP status does not matter: code 3, a missing permission, comes with 500.
 *
 * @internal exported for tests
 */
export const WHATSAPP_ERRORS: Readonly<Record<string, Classification>> = {
  0: denied,
  3: denied,
  10: denied,
  190: denied,
  131005: denied,

  368: suspended,
  131031: suspended,
  131042: suspended,

  1: unknownEnd,
  131000: unknownEnd,
  2: unavailable,
  131016: unavailable,
  131057: unavailable,
  133004: unavailable,

  4: throttled,
  80007: throttled,
  130429: throttled,
  // The number was registered or deregistered too often.
  133016: throttled,
  131048: limited,
  // A limit after templates in the wrong category, also for messages without a template.
  131064: limited,
  // Too many messages from this sender to this recipient.
  131056: ['retry', 'provider_rate_limited', 'recipient'],

  33: badSender,
  133010: unregistered,
  // The display name awaits approval.
  131037: unregistered,
  131045: unregistered,

  100: ['rejected', 'provider_error', 'message'],
  131008: badContent,
  131009: badContent,
  131051: badContent,
  131052: badContent,
  131053: badContent,
  // More than 24 hours since the recipient's last message: only a template is allowed.
  131047: ['rejected', 'content_rejected', 'message'],

  132000: badTemplate,
  132001: badTemplate,
  132005: badTemplate,
  132007: badTemplate,
  132008: badTemplate,
  132012: badTemplate,
  132015: badTemplate,
  132016: badTemplate,
  132018: badTemplate,
  132068: badTemplate,
  // Marketing templates are off for this API.
  131063: badTemplate,
  // The flow in the template has its own limit.
  132069: ['retry', 'provider_rate_limited', 'message'],

  131021: ['rejected', 'invalid_recipient', 'recipient'],
  131026: ['rejected', 'recipient_unreachable', 'recipient'],
  // The recipient has reinstalled WhatsApp or changed the device, and has to be confirmed.
  137000: ['rejected', 'recipient_unreachable', 'recipient'],
  130497: ['rejected', 'region_not_permitted', 'recipient'],
  // A test number, which sends only to listed recipients.
  131030: blocked,
  130472: blocked,
  131049: blocked,
  131050: ['rejected', 'unsubscribed', 'recipient'],
}

/** Missing permissions have a hundred codes. */
function classify(code: string | undefined): Classification | undefined {
  return /^2\d\d$/.test(code ?? '') ? denied : rowOf(WHATSAPP_ERRORS, code)
}

/** The code for a failed message's report. */
export function whatsappErrorCode(code: string | undefined): ErrorCode {
  return classify(code)?.[1] ?? 'provider_error'
}

/** Meta's description of an error. The details, if present, are more specific than the title. */
export function whatsappWords(error: unknown): {
  readonly code: string | undefined
  readonly message: string | undefined
} {
  return {
    code: textMember(error, 'code'),
    message: textMember(member(error, 'error_data'), 'details') ?? textMember(error, 'message'),
  }
}

/** The outcome of an answer to `POST …/messages`: `{ messages: [{ id }] }` or `{ error }`. */
export function whatsAppOutcome(answer: ProviderAnswer): Outcome | null {
  const messages = member(answer.json, 'messages')
  const id = Array.isArray(messages) ? textMember(messages[0], 'id') : undefined
  if (answer.status === 200 && id !== undefined) return { kind: 'accepted', providerMessageId: id }
  const error = member(answer.json, 'error')
  if (error === undefined) return null
  const words = whatsappWords(error)
  return refuse(answer, words, classify(words.code) ?? byStatus(answer.status))
}
