import * as z from 'zod'
import { email } from '../../../src/core/channels/built-in.ts'
import type { EmailKind } from '../../../src/core/channels/email.ts'
import type { Provider } from '../../../src/core/ports/provider.ts'
import { httpProvider } from '../kit/http/http-provider.ts'
import { textMember } from '../kit/http/provider-answer.ts'
import { credential } from '../kit/http/provider-options.ts'
import { mailboxText, mailboxTexts } from '../kit/mail/header-text.ts'
import {
  type ApiMail,
  base64,
  filesOf,
  type MailApiOptions,
  mailApiShape,
  OUR_ID,
  sendMail,
} from '../kit/mail/mail-api.ts'
import { messageIdOf } from '../kit/mail/mail-content.ts'
import { mailFrame, sendersOnly } from '../kit/mail/mail-frame.ts'
import { checkOptions } from '../kit/options.ts'
import { postmarkOutcome } from './errors.ts'
import { type PostmarkReceiptOptions, postmarkReceipts, receiptOptions } from './receipts.ts'

export type { PostmarkReceiptOptions }

/** Options of `postmark`. */
export interface PostmarkOptions extends MailApiOptions {
  /** The API token of a Postmark server. */
  readonly serverToken: string
  /** Id of the message stream. Default: Postmark's `outbound`. */
  readonly messageStream?: string | undefined
  /**
   * Secret that Postmark's webhooks present, because Postmark signs nothing.
   *
   * @default none: no receipts are accepted
   */
  readonly receipts?: PostmarkReceiptOptions | undefined
}

const PLUGIN = 'postmark'
const schema = z.strictObject({
  ...mailApiShape('postmark', 'https://api.postmarkapp.com'),
  serverToken: credential,
  messageStream: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,100}$/)
    .optional(),
  receipts: receiptOptions.optional(),
})

/**
 * Postmark as an e-mail provider. Postmark has no idempotency; a repeated attempt carries the same Message-ID.
 *
 * @throws NotifierError `invalid_configuration` with the option's name
 *
 * @example
 * const mail = postmark({
 *   serverToken: process.env.POSTMARK_SERVER_TOKEN ?? '',
 *   from: 'Shop <shop@example.com>',
 * })
 */
export function postmark(options: PostmarkOptions): Provider<EmailKind> {
  const given = checkOptions(PLUGIN, schema, options)
  const { baseUrl, serverToken, receipts } = given
  const frame = mailFrame(PLUGIN, given)
  const headers = { accept: 'application/json', 'x-postmark-server-token': serverToken }
  return httpProvider(email, given, {
    title: 'Postmark',
    secrets: [serverToken],
    send: (message, context, http) =>
      sendMail(frame, message, context, (mail) =>
        http.send(
          {
            url: `${baseUrl}/email`,
            headers: { ...headers, 'content-type': 'application/json' },
            body: JSON.stringify(toRequest(mail, given.messageStream)),
            signal: context.signal,
          },
          postmarkOutcome,
        ),
      ),
    check: (http) =>
      http.send({ method: 'GET', url: `${baseUrl}/server`, headers }, (answer) =>
        answer.status === 200 && textMember(answer.json, 'ID') !== undefined
          ? { kind: 'accepted' }
          : postmarkOutcome(answer),
      ),
    hooks: {
      ...sendersOnly(frame),
      threadIdOf: (earlier) => messageIdOf(frame, earlier),
      ...(receipts && { parseReceipts: postmarkReceipts(receipts) }),
    },
  })
}

/** Postmark takes 10 texts, of which one is our id, with names of 20 and values of 80 characters. */
function metadataFor(metadata: ApiMail['metadata']): Readonly<Record<string, string>> {
  const fitting = Object.entries(metadata).filter(([name, value]) => name.length <= 20 && value.length <= 80)
  return Object.fromEntries(fitting.slice(0, 9))
}

function toRequest(mail: ApiMail, stream: string | undefined): Readonly<Record<string, unknown>> {
  const { from, to, cc, bcc, replyTo, subject, text, html, headerList, messageId, ourId, metadata } = mail
  const files = filesOf(mail)
  return {
    From: mailboxText(from),
    To: to,
    ...(cc.length === 0 ? {} : { Cc: mailboxTexts(cc) }),
    ...(bcc.length === 0 ? {} : { Bcc: mailboxTexts(bcc) }),
    ...(replyTo.length === 0 ? {} : { ReplyTo: mailboxTexts(replyTo) }),
    Subject: subject,
    TextBody: text,
    ...(html === null ? {} : { HtmlBody: html }),
    Headers: [
      { Name: 'Message-ID', Value: messageId },
      // Keeps our Message-ID. Postmark would replace it.
      { Name: 'X-PM-KeepID', Value: 'true' },
      ...headerList.map(({ name, value }) => ({ Name: name, Value: value })),
    ],
    Metadata: { ...metadataFor(metadata), [OUR_ID]: ourId },
    ...(stream === undefined ? {} : { MessageStream: stream }),
    ...(files.length === 0
      ? {}
      : {
          Attachments: files.map(({ filename, contentType, content, cid }) => ({
            Name: filename,
            Content: base64(content),
            ContentType: contentType,
            ...(cid === undefined ? {} : { ContentID: `cid:${cid}` }),
          })),
        }),
  }
}
