import { email } from '../../../src/core/channels/built-in.ts'
import type { EmailKind } from '../../../src/core/channels/email.ts'
import type { Outcome, RefusedCopy } from '../../../src/core/notification/outcome.ts'
import type { Provider } from '../../../src/core/ports/provider.ts'
import { assertWorks } from '../kit/check.ts'
import { acceptedMessageIdOf, converterFor, isMail, mailContent } from '../kit/mail/mail-content.ts'
import { sendersOnly } from '../kit/mail/mail-frame.ts'
import { redactor } from '../kit/redact.ts'
import { impossible, notBegun } from '../kit/unsent.ts'
import { createConnectionSlots } from './connection-slots.ts'
import { classifySmtpError, toSmtpError } from './errors.ts'
import type { Mail } from './mime.ts'
import { loadEncoders, loadNodemailer } from './nodemailer.ts'
import { resolveSmtpOptions, type SmtpOptions, type SmtpTimeouts } from './options.ts'
import { type Delivery, openTransport, type RefusedRecipient, type SmtpTransport } from './transport.ts'

export type { SmtpOptions, SmtpTimeouts }

/**
 * An SMTP server as an e-mail provider, on the optional package nodemailer (7 to 10), with pooled connections.
 *
 * @throws NotifierError `invalid_configuration` with the option's name; `missing_peer` at the start without nodemailer
 *
 * @example
 * const mail = smtp({
 *   host: process.env.SMTP_HOST ?? 'localhost',
 *   port: 587,
 *   auth: { user: process.env.SMTP_USER ?? '', pass: process.env.SMTP_PASSWORD ?? '' },
 *   from: 'Shop <shop@example.com>',
 * })
 */
export function smtp(options: SmtpOptions): Provider<EmailKind> {
  const resolved = resolveSmtpOptions(options)
  const { name, timeoutMs, maxConnections, onAmbiguous, retry, auth } = resolved
  const redact = redactor(secretsOf(auth))
  const slots = createConnectionSlots(maxConnections)
  let opened: Promise<SmtpTransport> | undefined
  let closed = false

  const transport = (): Promise<SmtpTransport> => {
    opened ??= openTransport(resolved).catch((error: unknown) => {
      opened = undefined
      throw error
    })
    return opened
  }

  return {
    name,
    kind: email,
    ...sendersOnly(resolved),
    threadIdOf: (earlier) => acceptedMessageIdOf(resolved, earlier),
    // One mail in transfer and one waiting: otherwise a connection is idle while the start of its next mail is stored.
    maxConcurrent: 2 * maxConnections,
    timeoutMs,
    onAmbiguous,
    retry,

    async send(message, context) {
      if (closed || context.signal.aborted) return notBegun()
      let mail: Mail
      let deliver: SmtpTransport['deliver']
      try {
        const convert = await converterFor(resolved, message)
        const content = await context.runInSlices(
          mailContent(resolved, message, context.idempotencyKey, convert),
        )
        if (!isMail(content)) return content
        const opened = await transport()
        mail = await context.runInSlices(opened.compose(content))
        deliver = opened.deliver
      } catch (error) {
        return context.signal.aborted ? notBegun() : impossible(error)
      }
      if (!(await slots.begin(context.signal))) return notBegun()
      const end = await deliver(mail, context).finally(slots.end)
      return redact(end.kind === 'sent' ? accepted(end) : classifySmtpError(end.error, { ...end, mail }))
    },

    async open() {
      await Promise.all([loadNodemailer(), loadEncoders()])
    },

    async check() {
      const { verify } = await transport()
      try {
        await verify()
      } catch (error) {
        const outcome = redact(classifySmtpError(toSmtpError(error), { contentSent: false }))
        assertWorks(outcome, 'The mail server')
      }
    },

    async close() {
      closed = true
      const pending = opened
      opened = undefined
      if (pending !== undefined) (await pending.catch(() => null))?.close()
    },
  }
}

function accepted({ info, refused }: Extract<Delivery, { kind: 'sent' }>): Outcome {
  const id = info.serverMessageId ?? info.messageId
  return {
    kind: 'accepted',
    ...(id === undefined ? {} : { providerMessageId: id.replace(/^<|>$/g, '') }),
    ...(refused.length === 0 ? {} : { refusedCopies: refused.map(refusedCopy) }),
  }
}

function refusedCopy({ address, error }: RefusedRecipient): RefusedCopy {
  const outcome = classifySmtpError(error, { contentSent: false })
  const {
    code = 'provider_error',
    message,
    providerCode,
  } = outcome.kind === 'rejected' || outcome.kind === 'retry' ? outcome : {}
  return {
    address,
    code: outcome.kind === 'rejected' ? code : 'recipient_unreachable',
    message,
    providerCode,
  }
}

/** The password in every encoding that SMTP uses. */
function secretsOf(auth: { readonly user: string; readonly pass: string } | null): readonly string[] {
  if (auth === null || auth.pass.length < 4) return []
  const { user, pass } = auth
  const base64 = (text: string) => Buffer.from(text, 'utf8').toString('base64')
  return [pass, base64(pass), base64(`\0${user}\0${pass}`)]
}
