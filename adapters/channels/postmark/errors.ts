import type { Outcome } from '../../../src/core/notification/outcome.ts'
import {
  byStatus,
  type Classification,
  type ProviderAnswer,
  refuse,
  rowOf,
  textMember,
} from '../kit/http/provider-answer.ts'

/** Postmark's `ErrorCode`s: https://postmarkapp.com/developer/api/overview#error-codes */
const CODES: Readonly<Record<string, Classification>> = {
  '10': ['rejected', 'provider_auth_failed', 'account'],
  '100': ['retry', 'provider_unavailable', 'provider'],
  '400': ['rejected', 'invalid_sender', 'account'],
  '401': ['rejected', 'invalid_sender', 'account'],
  '402': ['rejected', 'provider_error', 'message'],
  '403': ['rejected', 'provider_error', 'message'],
  '405': ['retry', 'provider_quota_exceeded', 'account'],
  '406': ['rejected', 'blocked_by_provider', 'recipient'],
  '409': ['rejected', 'provider_error', 'message'],
  '410': ['rejected', 'provider_error', 'message'],
  '411': ['rejected', 'content_rejected', 'message'],
  // An account under review may only write to the sender's own domain. Other mails are unaffected.
  '412': ['rejected', 'blocked_recipient', 'recipient'],
  '413': ['rejected', 'provider_suspended', 'account'],
  // "Invalid Server or Account."
  '422': ['rejected', 'provider_auth_failed', 'account'],
  '429': ['retry', 'provider_rate_limited', 'account'],
  // The stream does not exist, or is not for sending.
  '1235': ['rejected', 'provider_error', 'account'],
  '1236': ['rejected', 'provider_error', 'account'],
  // The account has an IP allow list without this machine.
  '1480': ['rejected', 'provider_auth_failed', 'account'],
}

/** The outcome of an answer to `POST /email`. */
export function postmarkOutcome(answer: ProviderAnswer): Outcome | null {
  const code = textMember(answer.json, 'ErrorCode')
  const message = textMember(answer.json, 'Message')
  const id = textMember(answer.json, 'MessageID')
  if (answer.status === 200 && code === '0') {
    return id === undefined ? null : { kind: 'accepted', providerMessageId: id }
  }
  if (answer.status < 400) return null
  return refuse(answer, { code, message }, classify(answer, code, message ?? ''))
}

function classify({ status }: ProviderAnswer, code: string | undefined, message: string): Classification {
  if (code === '300') {
    if (/'From'/.test(message)) return ['rejected', 'invalid_sender', 'account']
    if (/'(?:To|Cc|Bcc)'/.test(message)) return ['rejected', 'invalid_recipient', 'recipient']
    return ['rejected', 'provider_error', 'message']
  }
  return rowOf(CODES, code) ?? byStatus(status)
}
