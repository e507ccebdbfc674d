import * as z from 'zod'
import { email } from '../../../src/channels/built-in.ts'
import type { EmailKind } from '../../../src/channels/email.ts'
import type { Provider } from '../../../src/ports/provider.ts'
import { assertWorks } from '../kit/check.ts'
import { describeProvider } from '../kit/http/describe.ts'
import { providerHttp } from '../kit/http/provider-http.ts'
import { credential } from '../kit/http/provider-options.ts'
import type { Mailbox } from '../kit/mail/address.ts'
import {
  type ApiMail,
  base64,
  type MailApiOptions,
  mailApiShape,
  OUR_ID,
  sendMail,
} from '../kit/mail/mail-api.ts'
import { mailFrame } from '../kit/mail/mail-frame.ts'
import { checkOptions } from '../kit/options.ts'
import { judgeScopes, judgeSendgrid } from './errors.ts'
import { receiptOptions, type SendgridReceiptOptions, sendgridReceipts } from './receipts.ts'

export type { SendgridReceiptOptions }

/** Options of `sendgrid`. */
export interface SendgridOptions extends MailApiOptions {
  /** An API key with permission to send. */
  readonly apiKey: string
  /**
   * Verification of the signed event webhook.
   *
   * @default none: no receipts are accepted
   */
  readonly receipts?: SendgridReceiptOptions | undefined
}

const PLUGIN = 'sendgrid'
const schema = z.strictObject({
  ...mailApiShape('sendgrid', 'https://api.sendgrid.com'),
  apiKey: credential,
  receipts: receiptOptions.optional(),
})

/**
 * Twilio SendGrid's Web API v3 as an e-mail provider. European region: `baseUrl: 'https://api.eu.sendgrid.com'`.
 * SendGrid has no idempotency; a repeated attempt carries the same Message-ID.
 *
 * @throws NotifierError `invalid_configuration` with the option's name
 */
export function sendgrid(options: SendgridOptions): Provider<EmailKind> {
  const given = checkOptions(PLUGIN, schema, options)
  const { baseUrl, timeoutMs, maxConcurrent, apiKey } = given
  const frame = mailFrame(PLUGIN, given)
  const http = providerHttp({ maxConnections: maxConcurrent, timeoutMs, secrets: [apiKey] })

  return {
    ...describeProvider(email, given),
    send: (message, context) =>
      sendMail(frame, message, context, (mail) =>
        http.send(
          {
            url: `${baseUrl}/v3/mail/send`,
            headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
            body: JSON.stringify(toRequest(mail)),
            signal: context.signal,
          },
          judgeSendgrid,
        ),
      ),
    ...(given.receipts === undefined ? {} : { parseReceipts: sendgridReceipts(given.receipts) }),
    async check() {
      const headers = { authorization: `Bearer ${apiKey}` }
      const request = { method: 'GET', url: `${baseUrl}/v3/scopes`, headers }
      assertWorks(await http.send(request, judgeScopes), 'SendGrid')
    },
    close: () => http.close(),
  }
}

function toRequest(mail: ApiMail): Readonly<Record<string, unknown>> {
  const { to, from, replyTo, subject, text, html, headerList, messageId, attachments, ourId } = mail
  return {
    personalizations: [{ to: [{ email: to }] }],
    from: person(from),
    ...(replyTo === null ? {} : { reply_to: person(replyTo) }),
    subject,
    content: [
      { type: 'text/plain', value: text },
      ...(html === null ? [] : [{ type: 'text/html', value: html }]),
    ],
    headers: {
      'Message-ID': messageId,
      ...Object.fromEntries(headerList.map(({ name, value }) => [name, value])),
    },
    custom_args: { [OUR_ID]: ourId },
    ...(attachments.length === 0
      ? {}
      : {
          attachments: attachments.map(({ filename, contentType, content }) => ({
            content: base64(content),
            // "The attachment type cannot contain ';'": drops parameters.
            type: contentType.replace(/;.*$/, ''),
            filename,
            disposition: 'attachment',
          })),
        }),
  }
}

function person({ name, address }: Mailbox): Readonly<Record<string, string>> {
  return name === '' ? { email: address } : { email: address, name }
}
