import type { Outcome } from '../../../src/domain/outcome.ts'
import { answerTo, isAboutLogin, refusalOf } from '../kit/smtp/refusal.ts'
import { parseReply, type SmtpReply } from '../kit/smtp/reply.ts'

/** What an error of the mail client may carry (nodemailer 7 to 10). */
export interface SmtpError {
  readonly message: string
  readonly code?: string | undefined
  /** The system's code, where `code` is the client's own. */
  readonly originalCode?: string | undefined
  /** The verb under way: `CONN`, `AUTH PLAIN`, `MAIL FROM`, `RCPT TO`, `DATA`, `API`. */
  readonly command?: string | undefined
  /** The server's whole reply. */
  readonly response?: string | undefined
}

/** The fields of an error that are understood. */
export function toSmtpError(error: unknown): SmtpError {
  const fields: Readonly<Record<string, unknown>> = error instanceof Error ? { ...error } : {}
  const text = (name: string) => {
    const value = fields[name]
    return typeof value === 'string' ? value : undefined
  }
  return {
    message: error instanceof Error ? error.message : String(error),
    code: text('code'),
    originalCode: text('originalCode'),
    command: text('command'),
    response: text('response'),
  }
}

/** What the error itself does not tell. */
export interface SmtpPhase {
  /** True when the server may have the message: its content began to flow. */
  readonly contentSent: boolean
}

/**
 * Says what an error of the SMTP conversation means (RFC 5321, RFC 3463).
 *
 * A reply of the server decides: its enhanced code, then its basic code and the verb that it answers. Without a
 * reply the content decides: before it flowed, nothing can have happened; after that, nobody knows.
 */
export function classifySmtpError(error: SmtpError, phase: SmtpPhase): Outcome {
  const reply = parseReply(error.response ?? '')
  if (reply.class !== 0) return refusalOf(reply, verbOf(error))
  return phase.contentSent ? unknownEnd(error, reply) : beforeContent(error, reply)
}

function unknownEnd(error: SmtpError, reply: SmtpReply): Outcome {
  return {
    kind: 'ambiguous',
    reason: `The connection to the mail server ended after the message had begun to flow: ${explain(error, reply)}`,
    providerCode: codeOf(error, reply),
  }
}

/** Nothing of the message has left: no duplicate is possible. */
function beforeContent(error: SmtpError, reply: SmtpReply): Outcome {
  const answer = answerTo(explain(error, reply), codeOf(error, reply))
  // Neither a yes nor a no: the two are out of step, which says nothing of the mail and its recipient.
  if (reply.text !== '' && !isAboutLogin(reply, verbOf(error)))
    return answer.retry('provider_unavailable', 'provider')
  switch (error.code) {
    case 'EAUTH':
    case 'ENOAUTH':
    case 'EOAUTH2':
      return answer.rejected('provider_auth_failed', 'account')
    case 'EENVELOPE':
      return error.command === 'MAIL FROM' || /invalid sender/i.test(error.message)
        ? answer.rejected('invalid_sender', 'account')
        : answer.rejected('invalid_recipient', 'recipient')
    case 'EMESSAGE':
      return /size larger than allowed/i.test(error.message)
        ? answer.rejected('message_too_large', 'message')
        : answer.rejected('provider_error', 'message')
    case 'EDNS':
    case 'ECONNECTION':
    case 'ESOCKET':
    case 'ETLS':
    case 'EREQUIRETLS':
    case 'EPROXY':
    case 'ETIMEDOUT':
    case 'EPROTOCOL':
    case 'EABORT':
    // nodemailer before 10.5 gives no code when a server ends the connection before its greeting.
    case undefined:
      return answer.retry('provider_unavailable', 'provider')
    default:
      return answer.rejected('provider_error', 'message')
  }
}

/** The client says of a failed login that it is one, where its verb may be missing. */
function verbOf({ code, command = '' }: SmtpError): string {
  return code === 'EAUTH' ? 'AUTH' : command
}

function explain(error: SmtpError, reply: SmtpReply): string {
  // The client's own message repeats the reply after a colon; the reply alone says it.
  return reply.text === '' ? error.message : reply.text
}

function codeOf(error: SmtpError, reply: SmtpReply): string | undefined {
  return reply.raw !== '' ? reply.raw : (error.originalCode ?? error.code)
}
