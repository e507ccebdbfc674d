import * as z from 'zod'
import { email } from '../../../src/core/channels/built-in.ts'
import type { EmailKind } from '../../../src/core/channels/email.ts'
import type { Provider } from '../../../src/core/ports/provider.ts'
import { httpProvider } from '../kit/http/http-provider.ts'
import { credential } from '../kit/http/provider-options.ts'
import { mailboxText } from '../kit/mail/header-text.ts'
import {
  type ApiMail,
  base64,
  filesOf,
  type MailApiOptions,
  mailApiShape,
  sendMail,
  tagsOf,
} from '../kit/mail/mail-api.ts'
import { mailFrame, sendersOnly } from '../kit/mail/mail-frame.ts'
import { checkOptions } from '../kit/options.ts'
import { domainsOutcome, resendOutcome } from './errors.ts'
import { COPIED, type ResendReceiptOptions, receiptOptions, resendReceipts } from './receipts.ts'

export type { ResendReceiptOptions }

/** Options of `resend`. */
export interface ResendOptions extends MailApiOptions {
  /** An API key with permission to send. */
  readonly apiKey: string
  /**
   * Verification of the webhook.
   *
   * @default none: no receipts are accepted
   */
  readonly receipts?: ResendReceiptOptions | undefined
}

const PLUGIN = 'resend'
const schema = z.strictObject({
  ...mailApiShape('resend', 'https://api.resend.com'),
  apiKey: credential,
  receipts: receiptOptions.optional(),
})

/**
 * Resend as an e-mail provider. Resend deduplicates by our idempotency key for a day, so an ambiguous attempt is
 * repeated without a second mail.
 *
 * @throws NotifierError `invalid_configuration` with the option's name
 *
 * @example
 * const mail = resend({
 *   apiKey: process.env.RESEND_API_KEY ?? '',
 *   from: 'Shop <shop@example.com>',
 *   receipts: { secret: process.env.RESEND_WEBHOOK_SECRET ?? '' },
 * })
 */
export function resend(options: ResendOptions): Provider<EmailKind> {
  const given = checkOptions(PLUGIN, schema, options)
  const { baseUrl, apiKey, receipts } = given
  const frame = mailFrame(PLUGIN, given)
  const headers = { authorization: `Bearer ${apiKey}` }
  return httpProvider(email, given, {
    title: 'Resend',
    secrets: [apiKey],
    send: (message, context, http) =>
      sendMail(frame, message, context, (mail) =>
        http.send(
          {
            url: `${baseUrl}/emails`,
            headers: {
              ...headers,
              'content-type': 'application/json',
              'idempotency-key': context.idempotencyKey,
            },
            body: JSON.stringify(toRequest(mail)),
            signal: context.signal,
          },
          resendOutcome,
        ),
      ),
    check: (http) => http.send({ method: 'GET', url: `${baseUrl}/domains`, headers }, domainsOutcome),
    hooks: { ...sendersOnly(frame), ...(receipts && { parseReceipts: resendReceipts(receipts) }) },
  })
}

function toRequest(mail: ApiMail): Readonly<Record<string, unknown>> {
  const { from, to, cc, bcc, replyTo, subject, text, html, headerList } = mail
  const files = filesOf(mail)
  return {
    from: mailboxText(from),
    to,
    ...(cc.length === 0 ? {} : { cc: cc.map(mailboxText) }),
    ...(bcc.length === 0 ? {} : { bcc: bcc.map(mailboxText) }),
    ...(replyTo.length === 0 ? {} : { reply_to: replyTo.map(mailboxText) }),
    subject,
    text,
    ...(html === null ? {} : { html }),
    headers: Object.fromEntries(headerList.map(({ name, value }) => [name, value])),
    tags: [...tagsOf(mail), ...(cc.length + bcc.length === 0 ? [] : [{ name: COPIED, value: 'yes' }])],
    ...(files.length === 0
      ? {}
      : {
          attachments: files.map(({ filename, contentType, content, cid }) => ({
            filename,
            content: base64(content),
            content_type: contentType,
            ...(cid === undefined ? {} : { content_id: cid }),
          })),
        }),
  }
}
