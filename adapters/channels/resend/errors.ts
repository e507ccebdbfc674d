import type { Outcome } from '../../../src/domain/outcome.ts'
import {
  member,
  type ProviderAnswer,
  refuse,
  rowOf,
  textMember,
  type Verdict,
} from '../kit/http/provider-answer.ts'

const ours: Verdict = ['rejected', 'provider_error', 'message']
const credentials: Verdict = ['rejected', 'provider_auth_failed', 'account']
/** The mail may have left; a repetition there carries the same key. */
const faulty: Verdict = ['ambiguous', 'provider_unavailable', 'provider']

/** Resend's errors by name: https://resend.com/docs/api-reference/errors */
const NAMES: Readonly<Record<string, Verdict>> = {
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
  // The first attempt is still under way there.
  concurrent_idempotent_requests: ['retry', 'provider_unavailable', 'message'],
  application_error: faulty,
  internal_server_error: faulty,
}

/** Those whose words say which part of the mail is meant. */
const ABOUT_A_FIELD: ReadonlySet<string> = new Set([
  'validation_error',
  'missing_required_field',
  'invalid_parameter',
  'invalid_region',
])

/** Reads an answer of `POST /emails`. */
export function judgeResend(answer: ProviderAnswer): Outcome | null {
  if (answer.status < 400) {
    const id = textMember(answer.json, 'id')
    return id === undefined ? null : { kind: 'accepted', providerMessageId: id }
  }
  const name = textMember(answer.json, 'name')
  const message = textMember(answer.json, 'message')
  if (name === undefined) return null
  const verdict = ABOUT_A_FIELD.has(name) ? aboutField(answer.status, message ?? '') : rowOf(NAMES, name)
  return refuse(answer, { code: name, message }, verdict)
}

/** Reads an answer of `GET /domains`. A key that may send and nothing else is told so: it works, for what it is for. */
export function judgeDomains(answer: ProviderAnswer): Outcome | null {
  const listed = answer.status === 200 && Array.isArray(member(answer.json, 'data'))
  const sendsOnly = textMember(answer.json, 'name') === 'restricted_api_key'
  return listed || sendsOnly ? { kind: 'accepted' } : judgeResend(answer)
}

function aboutField(status: number, message: string): Verdict {
  // Resend answers so to a wrong key, with 400 or 401, where its documentation has `invalid_api_key`.
  if (/\bAPI key is invalid\b/i.test(message)) return credentials
  // Before a domain is verified only the owner of the account can be written to: no fault that mails to it would meet.
  if (/only send testing emails/i.test(message)) return ['rejected', 'blocked_recipient', 'recipient']
  if (
    /[`"']from[`"']|domain is not verified|verify a domain|not authorized to send emails from/i.test(message)
  ) {
    return ['rejected', 'invalid_sender', 'account']
  }
  if (/[`"']to[`"']/i.test(message)) return ['rejected', 'invalid_recipient', 'recipient']
  return status === 401 || status === 403 ? credentials : ours
}
