import type { ErrorCode } from '../../../../src/core/errors/catalogue.ts'
import type { FaultScope, Outcome } from '../../../../src/core/notification/outcome.ts'
import { type Cause, causeOf, FULL } from './causes.ts'
import { parseReply, type SmtpReply } from './reply.ts'

/**
 * The code for a bounce, from the receiver's reply to another mail server. `invalid_recipient` suppresses.
 *
 * @param silent the code if the reply states no cause: the opinion of the server that reports the bounce. Default: as for
 *   a refusal of RCPT
 */
export function codeOfReply(response: string, silent?: ErrorCode): ErrorCode {
  const reply = parseReply(response)
  if (reply.class === 0) return silent ?? 'recipient_unreachable'
  const cause = causeOf(reply)
  if (cause === null && silent !== undefined && reply.class === 5) return silent
  if (cause?.code === 'mailbox_full') return 'mailbox_full'
  const outcome = refusalOf(reply, 'RCPT TO')
  if (outcome.kind !== 'rejected') return 'recipient_unreachable'
  // The receiver refuses that server's login or account, not ours.
  return NOT_OURS.has(outcome.code) ? 'blocked_recipient' : outcome.code
}

const NOT_OURS: ReadonlySet<ErrorCode> = new Set(['provider_auth_failed', 'provider_suspended'])

interface Answer {
  rejected(code: ErrorCode, scope: FaultScope): Outcome
  retry(code: ErrorCode, scope: FaultScope, retryAfterMs?: number): Outcome
  /** An outcome that passes, or a refusal for good. */
  because(cause: Cause, passes?: boolean): Outcome
}

/** Outcomes with one message and code. */
export function answerTo(message: string, providerCode: string | undefined): Answer {
  const about = { message, providerCode }
  const answer: Answer = {
    rejected: (code, scope) => ({ kind: 'rejected', code, scope, ...about }),
    retry: (code, scope, retryAfterMs) => ({
      kind: 'retry',
      code,
      scope,
      ...about,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    }),
    because: ({ code, scope, passes: always, retryAfterMs }, passes = always === true) =>
      passes ? answer.retry(code, scope, retryAfterMs) : answer.rejected(code, scope),
  }
  return answer
}

/**
 * Converts a reply of class 4 or 5 to an outcome: by its text, then by its enhanced code, then by its basic code and the
 * command.
 *
 * @param command the command that was answered: `CONN`, `AUTH PLAIN`, `MAIL FROM`, `RCPT TO`, `DATA`
 */
export function refusalOf(reply: SmtpReply, command: string): Outcome {
  const answer = answerTo(reply.text, reply.raw)
  if (isAboutLogin(reply, command)) {
    // 421 and 454: the server cannot check the credentials now, which does not mean that they are wrong.
    if (reply.class === 5) return answer.rejected('provider_auth_failed', 'account')
    return causeOf(reply)?.code === 'provider_rate_limited'
      ? answer.retry('provider_rate_limited', 'account')
      : answer.retry('provider_unavailable', 'provider')
  }
  if (isBeforeEnvelope(command)) return beforeEnvelope(reply, answer)
  // The session's state was wrong, not the message. A new connection can succeed (RFC 5321 4.2.4).
  if (reply.basic === 503) return answer.retry('provider_unavailable', 'provider')
  const outcome = reply.class === 4 ? delayed(reply, command, answer) : refused(reply, command, answer)
  return command === 'MAIL FROM' ? aboutSender(outcome, answer) : outcome
}

/** A refusal of MAIL concerns neither the recipient nor the content: the server knows neither yet. */
function aboutSender(outcome: Outcome, answer: Answer): Outcome {
  if (outcome.kind !== 'rejected' && outcome.kind !== 'retry') return outcome
  if (outcome.code === 'spam_detected') return answer[outcome.kind]('spam_detected', 'provider')
  if (outcome.scope !== 'recipient') return outcome
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
  return reply.detail?.startsWith('7.') === true || causeOf(reply)?.code === 'provider_rate_limited'
    ? answer.retry('provider_rate_limited', 'account')
    : answer.retry('provider_unavailable', 'provider')
}

/** Class 4. */
function delayed(reply: SmtpReply, command: string, answer: Answer): Outcome {
  const cause = causeOf(reply)
  const concerns = isAboutRecipient(reply, command) ? 'recipient' : 'account'
  if (cause !== null && (cause.passes === true || cause.scope === 'account' || cause.scope === 'provider')) {
    return answer.because(cause, true)
  }
  if (reply.detail?.startsWith('7.') === true) return answer.retry('provider_rate_limited', concerns)
  // What the networks between report passes.
  if (cause?.scope === 'recipient' && reply.detail !== null && !/^[34]\./.test(reply.detail)) {
    const { code } = cause
    return answer.retry(code === 'blocked_recipient' ? 'recipient_unreachable' : code, 'recipient')
  }
  if (concerns !== 'recipient') return answer.retry('provider_unavailable', 'provider')
  return reply.basic === 452 && reply.detail === null
    ? answer.because(FULL)
    : answer.retry('provider_unavailable', 'recipient')
}

/** With 421 the server ends the session, whichever command it answers (RFC 5321 3.8). */
function isAboutRecipient({ basic }: SmtpReply, command: string): boolean {
  return command === 'RCPT TO' && basic !== 421
}

/** Class 5. Without a stated cause, the basic code and the command decide. */
function refused(reply: SmtpReply, command: string, answer: Answer): Outcome {
  const cause = causeOf(reply)
  if (cause !== null) return answer.because(cause)
  const { basic, detail, raw, text } = reply
  if (basic === 552) return answer.because(FULL)
  // X.n.0 is "other or undefined", no more specific than the basic code (RFC 3463 3.1).
  const silent = detail === null || detail.endsWith('.0')
  if (!silent || ![550, 551, 553, 554].includes(basic)) return answer.rejected('provider_error', 'message')
  switch (command) {
    case 'RCPT TO':
      // Servers refuse at RCPT for any reason. Only without any text, the code means that there is no mailbox.
      return answer.rejected(
        text === raw && basic !== 554 ? 'invalid_recipient' : 'blocked_recipient',
        'recipient',
      )
    case 'MAIL FROM':
      return answer.rejected('invalid_sender', 'account')
    case 'DATA':
      return answer.rejected(basic === 554 ? 'content_rejected' : 'provider_error', 'message')
    default:
      return answer.rejected('provider_error', 'message')
  }
}
