import type { Outcome } from '../../../src/core/notification/outcome.ts'
import { answerTo, isAboutLogin, refusalOf } from '../kit/smtp/refusal.ts'
import { addressesIn, parseReply, type SmtpReply } from '../kit/smtp/reply.ts'

/** The fields of a mail client's error (nodemailer 7 to 10). */
export interface SmtpError {
  readonly message: string
  readonly code?: string | undefined
  /** The system's code, if `code` is the client's own. */
  readonly originalCode?: string | undefined
  /** The current command: `CONN`, `AUTH PLAIN`, `MAIL FROM`, `RCPT TO`, `DATA`, `API`. */
  readonly command?: string | undefined
  /** The server's complete reply. */
  readonly response?: string | undefined
}

/** The known fields of an error. */
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

/** Information that the error lacks. */
export interface SmtpPhase {
  /** True: the content began to flow, so the server may have the message. */
  readonly contentSent: boolean
  /** The addresses of the mail. Default: unknown, as in a check. */
  readonly mail?: SmtpEnvelope | undefined
}

/** The addresses of a mail on its way. */
export interface SmtpEnvelope {
  readonly from: string
  readonly to: string
  readonly copies: readonly string[]
}

/**
 * Converts an error of the SMTP conversation to an outcome (RFC 5321, RFC 3463).
 *
 * A reply of the server decides: its text, its enhanced code, then its basic code and the command. Without a reply the
 * content decides: before it began to flow nothing can have happened, afterwards the outcome is ambiguous.
 */
export function classifySmtpError(error: SmtpError, phase: SmtpPhase): Outcome {
  const reply = parseReply(error.response ?? '')
  if (reply.class !== 0) return ofMail(refusalOf(reply, verbOf(error)), reply, verbOf(error), phase.mail)
  return phase.contentSent ? unknownEnd(error, reply) : beforeContent(error, reply)
}

/** A reply to DATA or the content may concern any address of the mail. */
function ofMail(
  outcome: Outcome,
  { text }: SmtpReply,
  command: string,
  mail: SmtpEnvelope | undefined,
): Outcome {
  if (outcome.kind !== 'rejected' || mail === undefined) return outcome
  const { from, to, copies } = mail
  const named = addressesIn(text)
  const names = (address: string): boolean => named.includes(address.toLowerCase())
  // In the sandbox of Amazon SES, recipients must be verified too, which must not hold up all other mails.
  if (outcome.code === 'invalid_sender' && /not verified/i.test(text) && names(to) && !names(from)) {
    return { ...outcome, code: 'blocked_recipient', scope: 'recipient' }
  }
  const isAnyones = command !== 'RCPT TO' && copies.length > 0 && (!names(to) || copies.some(names))
  return outcome.code === 'invalid_recipient' && isAnyones
    ? { ...outcome, code: 'recipient_unreachable' }
    : outcome
}

function unknownEnd(error: SmtpError, reply: SmtpReply): Outcome {
  return {
    kind: 'ambiguous',
    reason: `The connection to the mail server ended after part of the mail was sent: ${explain(error, reply)}`,
    providerCode: codeOf(error, reply),
  }
}

/** The message was not sent, so no duplicate is possible. */
function beforeContent(error: SmtpError, reply: SmtpReply): Outcome {
  const answer = answerTo(explain(error, reply), codeOf(error, reply))
  // The conversation is out of step, which says nothing about the mail and its recipient.
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
    // nodemailer before 10.5 sets no code if a server ends the connection before its greeting.
    case undefined:
      return answer.retry('provider_unavailable', 'provider')
    default:
      return answer.rejected('provider_error', 'message')
  }
}

/** The client marks a failed login even if the command is missing. */
function verbOf({ code, command = '' }: SmtpError): string {
  return code === 'EAUTH' ? 'AUTH' : command
}

function explain(error: SmtpError, reply: SmtpReply): string {
  // The client's message repeats the reply after a colon, so the reply alone is enough.
  if (reply.text !== '') return reply.text
  return UNTRUSTED.test(error.originalCode ?? error.code ?? '')
    ? `${error.message}. The certificate of the mail server is not trusted: its authority belongs in the option "tls" of smtp(), as { ca }. For a server on this machine, { rejectUnauthorized: false } accepts any.`
    : error.message
}

/** Codes of Node.js for certificates of an authority that it does not know. */
const UNTRUSTED = /^(?:CERT_UNTRUSTED|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_(?:GET|VERIFY)_)/

function codeOf(error: SmtpError, reply: SmtpReply): string | undefined {
  return reply.raw !== '' ? reply.raw : (error.originalCode ?? error.code)
}
