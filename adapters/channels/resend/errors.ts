import type { Outcome } from '../../../src/core/notification/outcome.ts'
import {
  type Classification,
  member,
  type ProviderAnswer,
  refuse,
  rowOf,
  textMember,
} from '../kit/http/provider-answer.ts'

const ours: Classification = ['rejected', 'provider_error', 'message']
const credentials: Classification = ['rejected', 'provider_auth_failed', 'account']
/** The mail may have been sent. A repeated attempt carries the same key. */
const faulty: Classification = ['ambiguous', 'provider_unavailable', 'provider']

/** Resend's errors by name: https://resend.com/docs/api-reference/errors */
const NAMES: Readonly<Record<string, Classification>> = {
  invalid_attachment: ours,
  invalid_idempotency_key: ours,
  // The key was used with another mail: an option changed between two attempts.
  invalid_idempotent_request: ours,
  method_not_allowed: ['rejected', 'provider_error', 'account'],
  not_found: ['rejected', 'provider_error', 'account'],
  security_error: ours,
  invalid_from_address: ['rejected', 'invalid_sender', 'account'],
  missing_api_key: credentials,
  invalid_api_key: credentials,
  restricted_api_key: credentials,
  invalid_access: credentials,
  rate_limit_exceeded: ['retry', 'provider_rate_limited', 'account'],
  daily_quota_exceeded: ['retry', 'provider_quota_exceeded', 'account'],
  monthly_quota_exceeded: ['retry', 'provider_quota_exceeded', 'account'],
  // Resend is still processing the first attempt.
  concurrent_idempotent_requests: ['retry', 'provider_unavailable', 'message'],
  application_error: faulty,
  internal_server_error: faulty,
}

/** Errors whose text names the part of the mail. */
const ABOUT_A_FIELD: ReadonlySet<string> = new Set([
  'validation_error',
  'missing_required_field',
  'invalid_parameter',
  'invalid_region',
])

/** The outcome of an answer to `POST /emails`. */
export function resendOutcome(answer: ProviderAnswer): Outcome | null {
  if (answer.status < 400) {
    const id = textMember(answer.json, 'id')
    return id === undefined ? null : { kind: 'accepted', providerMessageId: id }
  }
  const name = textMember(answer.json, 'name')
  const message = textMember(answer.json, 'message')
  if (name === undefined) return null
  const classification = ABOUT_A_FIELD.has(name)
    ? aboutField(answer.status, message ?? '')
    : rowOf(NAMES, name)
  return refuse(answer, { code: name, message }, classification)
}

/** The outcome of an answer to `GET /domains`. The error for a sending-only key proves that the key works. */
export function domainsOutcome(answer: ProviderAnswer): Outcome | null {
  const listed = answer.status === 200 && Array.isArray(member(answer.json, 'data'))
  const sendsOnly = textMember(answer.json, 'name') === 'restricted_api_key'
  return listed || sendsOnly ? { kind: 'accepted' } : resendOutcome(answer)
}

function aboutField(status: number, message: string): Classification {
  // The documentation says `invalid_api_key`; Resend answers 400 or 401 with this text.
  if (/\bAPI key is invalid\b/i.test(message)) return credentials
  // Before a domain is verified, an account may only write to its owner. Other mails are unaffected.
  if (/only send testing emails/i.test(message)) return ['rejected', 'blocked_recipient', 'recipient']
  if (
    /[`"']from[`"']|domain is not verified|verify a domain|not authorized to send emails from/i.test(message)
  ) {
    return ['rejected', 'invalid_sender', 'account']
  }
  if (/[`"']to[`"']/i.test(message)) return ['rejected', 'invalid_recipient', 'recipient']
  return status === 401 || status === 403 ? credentials : ours
}
