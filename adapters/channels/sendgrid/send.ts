import * as z from 'zod'
import { email } from '../../../src/core/channels/built-in.ts'
import type { EmailKind } from '../../../src/core/channels/email.ts'
import type { Mailbox } from '../../../src/core/channels/mailbox.ts'
import type { Provider } from '../../../src/core/ports/provider.ts'
import { httpProvider } from '../kit/http/http-provider.ts'
import { credential } from '../kit/http/provider-options.ts'
import {
  type ApiMail,
  base64,
  type MailApiOptions,
  mailApiShape,
  OUR_ID,
  sendMail,
} from '../kit/mail/mail-api.ts'
import { messageIdOf } from '../kit/mail/mail-content.ts'
import { mailFrame, sendersOnly } from '../kit/mail/mail-frame.ts'
import { checkOptions } from '../kit/options.ts'
import { scopesOutcome, sendgridOutcome } from './errors.ts'
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
 *
 * @example
 * const mail = sendgrid({
 *   apiKey: process.env.SENDGRID_API_KEY ?? '',
 *   from: 'Shop <shop@example.com>',
 * })
 */
export function sendgrid(options: SendgridOptions): Provider<EmailKind> {
  const given = checkOptions(PLUGIN, schema, options)
  const { baseUrl, apiKey, receipts } = given
  const frame = mailFrame(PLUGIN, given)
  const headers = { authorization: `Bearer ${apiKey}` }
  return httpProvider(email, given, {
    title: 'SendGrid',
    secrets: [apiKey],
    send: (message, context, http) =>
      sendMail(frame, message, context, (mail) =>
        http.send(
          {
            url: `${baseUrl}/v3/mail/send`,
            headers: { ...headers, 'content-type': 'application/json' },
            body: JSON.stringify(toRequest(mail)),
            signal: context.signal,
          },
          sendgridOutcome,
        ),
      ),
    check: (http) => http.send({ method: 'GET', url: `${baseUrl}/v3/scopes`, headers }, scopesOutcome),
    hooks: {
      ...sendersOnly(frame),
      threadIdOf: (earlier) => messageIdOf(frame, earlier),
      ...(receipts && { parseReceipts: sendgridReceipts(receipts) }),
    },
  })
}

function toRequest(mail: ApiMail): Readonly<Record<string, unknown>> {
  const {
    to,
    cc,
    bcc,
    from,
    replyTo,
    subject,
    text,
    html,
    headerList,
    messageId,
    attachments,
    ourId,
    metadata,
  } = mail
  const [answers] = replyTo
  return {
    personalizations: [
      {
        to: [{ email: to }],
        ...(cc.length === 0 ? {} : { cc: cc.map(person) }),
        ...(bcc.length === 0 ? {} : { bcc: bcc.map(person) }),
      },
    ],
    from: person(from),
    ...(replyTo.length > 1
      ? { reply_to_list: replyTo.map(person) }
      : answers === undefined
        ? {}
        : { reply_to: person(answers) }),
    subject,
    content: [
      { type: 'text/plain', value: text },
      ...(html === null ? [] : [{ type: 'text/html', value: html }]),
      // SendGrid adds the charset, and refuses a second parameter.
      ...(mail.calendar === null
        ? []
        : [{ type: `text/calendar; method=${mail.calendar.method}`, value: mail.calendar.content }]),
    ],
    headers: {
      'Message-ID': messageId,
      ...Object.fromEntries(headerList.map(({ name, value }) => [name, value])),
    },
    custom_args: { ...customArgs(metadata), [OUR_ID]: ourId },
    ...(attachments.length === 0
      ? {}
      : {
          attachments: attachments.map(({ filename, contentType, content, cid }) => ({
            content: base64(content),
            // "The attachment type cannot contain ';'": drops parameters.
            type: contentType.replace(/;.*$/, ''),
            filename,
            ...(cid === undefined
              ? { disposition: 'attachment' }
              : { disposition: 'inline', content_id: cid }),
          })),
        }),
  }
}

/** SendGrid's events have them among their own fields, which an unmarked name could replace. */
function customArgs(metadata: ApiMail['metadata']): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(metadata).map(([name, value]) => [`metadata_${name}`, value]))
}

function person({ name, address }: Mailbox): Readonly<Record<string, string>> {
  return name === '' ? { email: address } : { email: address, name }
}
