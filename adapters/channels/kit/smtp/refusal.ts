import type { ErrorCode } from '../../../../src/domain/errors/catalogue.ts'
import type { FaultScope, Outcome } from '../../../../src/domain/outcome.ts'
import { parseReply, type SmtpReply } from './reply.ts'
import {
  blamesSender,
  deniesMailbox,
  GREYLIST,
  LOGIN,
  POLICY,
  QUOTA,
  RELAY,
  SENDING_QUOTA,
  SPAM,
  THROTTLE,
  TOO_LARGE,
} from './reply-patterns.ts'

/** Greylisting servers expect the same message again after some minutes, commonly five (RFC 6647 5.1). */
const GREYLIST_MS = 5 * 60_000
/** With the default eight attempts the last one comes 21 hours after the first. */
const MAILBOX_FULL_MS = 3 * 3_600_000

/** The code for a bounce, from the reply of the receiver to another mail server. */
export function codeOfReply(response: string): ErrorCode {
  const reply = parseReply(response)
  if (reply.class === 0) return 'recipient_unreachable'
  const outcome = refusalOf(reply, 'RCPT TO')
  if (outcome.kind === 'rejected') {
    // The receiver asked that server for a login, not us.
    return outcome.code === 'provider_auth_failed' ? 'blocked_recipient' : outcome.code
  }
  return outcome.kind === 'retry' && outcome.code === 'mailbox_full'
    ? 'mailbox_full'
    : 'recipient_unreachable'
}

interface Answer {
  rejected(code: ErrorCode, scope: FaultScope): Outcome
  retry(code: ErrorCode, scope: FaultScope, retryAfterMs?: number): Outcome
}

/** Outcomes with one message and code. */
export function answerTo(message: string, providerCode: string | undefined): Answer {
  const about = { message, providerCode }
  return {
    rejected: (code, scope) => ({ kind: 'rejected', code, scope, ...about }),
    retry: (code, scope, retryAfterMs) => ({
      kind: 'retry',
      code,
      scope,
      ...about,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    }),
  }
}

/**
 * Converts a reply of class 4 or 5 to an outcome: by its enhanced code, then by its basic code and the command.
 *
 * @param command the command that was answered: `CONN`, `AUTH PLAIN`, `MAIL FROM`, `RCPT TO`, `DATA`
 */
export function refusalOf(reply: SmtpReply, command: string): Outcome {
  const answer = answerTo(reply.text, reply.raw)
  if (isAboutLogin(reply, command)) {
    // 421 and 454: the server cannot check the credentials now, which does not mean that they are wrong.
    if (reply.class === 5) return answer.rejected('provider_auth_failed', 'account')
    return THROTTLE.test(reply.words)
      ? answer.retry('provider_rate_limited', 'account')
      : answer.retry('provider_unavailable', 'provider')
  }
  if (isBeforeEnvelope(command)) return beforeEnvelope(reply, answer)
  if (reply.detail === '4.5' && SENDING_QUOTA.test(reply.words)) {
    return answer.retry('provider_quota_exceeded', 'account')
  }
  const outcome =
    (reply.class === 4 ? delayed(reply, command, answer) : null) ??
    byDetail(reply, answer) ??
    (reply.class === 4 ? passing(reply, command, answer) : byBasicCode(reply, command, answer))
  return command === 'MAIL FROM' ? aboutSender(outcome, answer) : outcome
}

/** A refusal of MAIL cannot concern the recipient, whom the server does not know yet. */
function aboutSender(outcome: Outcome, answer: Answer): Outcome {
  if ((outcome.kind !== 'rejected' && outcome.kind !== 'retry') || outcome.scope !== 'recipient')
    return outcome
  switch (outcome.code) {
    // Greylisting concerns one sender and recipient, even if the server reports it early.
    case 'provider_rate_limited':
      return outcome
    case 'mailbox_full':
      return answer.retry('provider_quota_exceeded', 'account')
    default:
      return answer[outcome.kind]('invalid_sender', 'account')
  }
}

/** Enhanced codes do not identify a login failure: large providers refuse unwanted content with 5.7.9. */
export function isAboutLogin({ basic }: SmtpReply, command: string): boolean {
  return command.startsWith('AUTH') || [530, 534, 535].includes(basic)
}

/** The greeting, EHLO and STARTTLS concern every message. A closing 421 may come at any time. */
function isBeforeEnvelope(command: string): boolean {
  return ['CONN', 'EHLO', 'HELO', 'LHLO', 'STARTTLS'].includes(command)
}

function beforeEnvelope(reply: SmtpReply, answer: Answer): Outcome {
  if (reply.class === 5) return answer.rejected('provider_unavailable', 'provider')
  return reply.detail?.startsWith('7.') === true || THROTTLE.test(reply.words)
    ? answer.retry('provider_rate_limited', 'account')
    : answer.retry('provider_unavailable', 'provider')
}

/** Temporary refusals that state their cause. */
function delayed(reply: SmtpReply, command: string, answer: Answer): Outcome | null {
  // Greylisting concerns one recipient and sender. The server is healthy, and another one would start from the
  // beginning.
  if (GREYLIST.test(reply.words)) return answer.retry('provider_rate_limited', 'recipient', GREYLIST_MS)
  if (reply.detail?.startsWith('7.') === true || THROTTLE.test(reply.words)) {
    return answer.retry('provider_rate_limited', isAboutRecipient(reply, command) ? 'recipient' : 'account')
  }
  return null
}

/** Any other reply of class 4. */
function passing(reply: SmtpReply, command: string, answer: Answer): Outcome {
  if (!isAboutRecipient(reply, command)) return answer.retry('provider_unavailable', 'provider')
  return reply.basic === 452 && reply.detail === null
    ? answer.retry('mailbox_full', 'recipient', MAILBOX_FULL_MS)
    : answer.retry('provider_unavailable', 'recipient')
}

/** With 421 the server ends the session, whichever command it answers (RFC 5321 3.8). */
function isAboutRecipient({ basic }: SmtpReply, command: string): boolean {
  return command === 'RCPT TO' && basic !== 421
}

type Verdict = readonly [code: ErrorCode, scope: FaultScope]

/** RFC 3463 and its registry (RFC 7372, RFC 7505), by `subject.detail`. */
const DETAILS: Readonly<Record<string, Verdict>> = {
  '1.1': ['invalid_recipient', 'recipient'],
  '1.2': ['invalid_recipient', 'recipient'],
  '1.3': ['invalid_recipient', 'recipient'],
  '1.6': ['invalid_recipient', 'recipient'],
  '1.10': ['invalid_recipient', 'recipient'],
  '4.4': ['invalid_recipient', 'recipient'],
  '1.7': ['invalid_sender', 'account'],
  '1.8': ['invalid_sender', 'account'],
  '2.1': ['blocked_recipient', 'recipient'],
  '2.3': ['message_too_large', 'message'],
  '3.4': ['message_too_large', 'message'],
  '4.7': ['expired', 'recipient'],
  '7.20': ['invalid_sender', 'account'],
  '7.21': ['invalid_sender', 'account'],
  '7.22': ['invalid_sender', 'account'],
  '7.23': ['invalid_sender', 'account'],
  '7.24': ['invalid_sender', 'account'],
  '7.25': ['invalid_sender', 'account'],
  '7.26': ['invalid_sender', 'account'],
  '7.27': ['invalid_sender', 'account'],
  // Gmail's codes for DKIM, the From domain and DMARC.
  '7.30': ['invalid_sender', 'account'],
  '7.32': ['invalid_sender', 'account'],
  '7.40': ['invalid_sender', 'account'],
  '7.509': ['invalid_sender', 'account'],
  '7.515': ['invalid_sender', 'account'],
}

/** Policy refusals. Only the text names the policy. */
const POLICY_DETAILS: ReadonlySet<string> = new Set(['7.0', '7.1', '7.8', '7.9'])

function byDetail(reply: SmtpReply, answer: Answer): Outcome | null {
  const { detail } = reply
  if (detail === null) return null
  if (detail === '2.2') return answer.retry('mailbox_full', 'recipient', MAILBOX_FULL_MS)
  if (detail === '7.28') return answer.retry('provider_rate_limited', 'account')
  if (reply.class === 4) return delayedByDetail(detail, answer)
  if (POLICY_DETAILS.has(detail))
    return byText(reply, answer) ?? answer.rejected('blocked_recipient', 'recipient')
  // Host unreachable. Exchange Online also uses it for unknown mailboxes.
  if (detail === '4.1') {
    return answer.rejected(
      deniesMailbox(reply.words) ? 'invalid_recipient' : 'recipient_unreachable',
      'recipient',
    )
  }
  const verdict =
    DETAILS[detail] ?? (detail.startsWith('6.') ? (['content_rejected', 'message'] as const) : undefined)
  return verdict === undefined ? null : answer.rejected(...verdict)
}

function delayedByDetail(detail: string, answer: Answer): Outcome | null {
  const verdict = DETAILS[detail]
  if (verdict === undefined || detail.startsWith('4.') || detail.startsWith('3.')) return null
  const [code, scope] = verdict
  return answer.retry(code === 'blocked_recipient' ? 'recipient_unreachable' : code, scope)
}

/** Judges by the text of a reply if its codes are not specific. */
function byText({ words }: SmtpReply, answer: Answer): Outcome | null {
  if (SPAM.test(words)) return answer.rejected('spam_detected', 'message')
  // "Relay access denied": the server does not relay for us. That does not concern the recipient.
  if (RELAY.test(words) || LOGIN.test(words)) return answer.rejected('provider_auth_failed', 'account')
  if (THROTTLE.test(words)) return answer.retry('provider_rate_limited', 'account')
  return blamesSender(words) ? answer.rejected('invalid_sender', 'account') : null
}

/** Class 5 without a specific enhanced code. */
function byBasicCode(reply: SmtpReply, command: string, answer: Answer): Outcome {
  const { basic, words } = reply
  // The session's state was wrong, not the message. A new connection can succeed (RFC 5321 4.2.4).
  if (basic === 503) return answer.retry('provider_unavailable', 'provider')
  if (basic === 552) {
    return TOO_LARGE.test(words) && !QUOTA.test(words)
      ? answer.rejected('message_too_large', 'message')
      : answer.retry('mailbox_full', 'recipient', MAILBOX_FULL_MS)
  }
  // X.n.0 is "other or undefined", no more specific than the basic code (RFC 3463 3.1).
  const silent = reply.detail === null || reply.detail.endsWith('.0')
  if (!silent || ![550, 551, 553, 554].includes(basic)) return answer.rejected('provider_error', 'message')
  const said = byText(reply, answer)
  if (said !== null) return said
  switch (command) {
    case 'RCPT TO':
      return refusedRecipient(reply, answer)
    case 'MAIL FROM':
      return answer.rejected('invalid_sender', 'account')
    case 'DATA':
      return answer.rejected(basic === 554 ? 'content_rejected' : 'provider_error', 'message')
    default:
      return answer.rejected('provider_error', 'message')
  }
}

/** Servers refuse at RCPT for any reason. The recipient is at fault if the text says so, or if there is no text. */
function refusedRecipient({ basic, raw, text, words }: SmtpReply, answer: Answer): Outcome {
  if (QUOTA.test(words)) return answer.retry('mailbox_full', 'recipient', MAILBOX_FULL_MS)
  const denied = text === raw ? basic !== 554 : deniesMailbox(words) && !POLICY.test(words)
  return answer.rejected(denied ? 'invalid_recipient' : 'blocked_recipient', 'recipient')
}
