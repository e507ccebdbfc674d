import * as z from 'zod'
import { email } from '../../../src/core/channels/built-in.ts'
import type { EmailKind } from '../../../src/core/channels/email.ts'
import type { Provider } from '../../../src/core/ports/provider.ts'
import { httpProvider } from '../kit/http/http-provider.ts'
import type { ProviderRequest } from '../kit/http/provider-http.ts'
import { credential } from '../kit/http/provider-options.ts'
import { mailboxText, mailboxTexts } from '../kit/mail/header-text.ts'
import {
  type ApiMail,
  filesOf,
  type MailApiOptions,
  mailApiShape,
  OUR_ID,
  sendMail,
} from '../kit/mail/mail-api.ts'
import { acceptedMessageIdOf } from '../kit/mail/mail-content.ts'
import { mailFrame, sendersOnly } from '../kit/mail/mail-frame.ts'
import { checkOptions } from '../kit/options.ts'
import { incompleteOutcome, mailgunOutcome } from './errors.ts'
import { type MailgunReceiptOptions, mailgunReceipts, receiptOptions } from './receipts.ts'

export type { MailgunReceiptOptions }

/** Options of `mailgun`. */
export interface MailgunOptions extends MailApiOptions {
  /** An API key with permission to send. */
  readonly apiKey: string
  /** The sending domain registered with Mailgun. */
  readonly domain: string
  /**
   * Verification of the account's webhooks.
   *
   * @default none: no receipts are accepted
   */
  readonly receipts?: MailgunReceiptOptions | undefined
}

const PLUGIN = 'mailgun'
const schema = z.strictObject({
  ...mailApiShape('mailgun', 'https://api.mailgun.net'),
  apiKey: credential,
  domain: z.string().regex(/^[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+$/, 'must be a domain such as mg.example.com'),
  receipts: receiptOptions.optional(),
})

/**
 * Mailgun as an e-mail provider. European region: `baseUrl: 'https://api.eu.mailgun.net'`. Mailgun has no idempotency;
 * a repeated attempt carries the same Message-ID.
 *
 * @throws NotifierError `invalid_configuration` with the option's name
 *
 * @example
 * const mail = mailgun({
 *   apiKey: process.env.MAILGUN_API_KEY ?? '',
 *   domain: 'mg.example.com',
 *   from: 'Shop <shop@mg.example.com>',
 * })
 */
export function mailgun(options: MailgunOptions): Provider<EmailKind> {
  const given = checkOptions(PLUGIN, schema, options)
  const { baseUrl, apiKey, domain, receipts } = given
  const frame = mailFrame(PLUGIN, given)
  const credentials = Buffer.from(`api:${apiKey}`, 'utf8').toString('base64')

  async function request(form: FormData): Promise<ProviderRequest> {
    const { body, contentType } = await encode(form)
    return {
      url: `${baseUrl}/v3/${domain}/messages`,
      headers: { authorization: `Basic ${credentials}`, 'content-type': contentType },
      body,
    }
  }

  return httpProvider(email, given, {
    title: 'Mailgun',
    secrets: [apiKey, credentials],
    send: (message, context, http) =>
      sendMail(frame, message, context, async (mail) =>
        http.send({ ...(await request(toForm(mail))), signal: context.signal }, mailgunOutcome),
      ),
    async check(http) {
      const form = new FormData()
      form.set('o:testmode', 'yes')
      return http.send(await request(form), incompleteOutcome)
    },
    hooks: {
      ...sendersOnly(frame),
      threadIdOf: (earlier) => acceptedMessageIdOf(frame, earlier),
      ...(receipts && { parseReceipts: mailgunReceipts(receipts) }),
    },
  })
}

function toForm(mail: ApiMail): FormData {
  const { from, to, cc, bcc, replyTo, subject, text, html, headerList, messageId, ourId, metadata } = mail
  const form = new FormData()
  form.set('from', mailboxText(from))
  form.set('to', to)
  for (const mailbox of cc) form.append('cc', mailboxText(mailbox))
  for (const mailbox of bcc) form.append('bcc', mailboxText(mailbox))
  form.set('subject', subject)
  form.set('text', text)
  if (html !== null) form.set('html', html)
  form.set('h:Message-Id', messageId)
  if (replyTo.length > 0) form.set('h:Reply-To', mailboxTexts(replyTo))
  for (const { name, value } of headerList) form.set(`h:${name}`, value)
  for (const [name, value] of Object.entries(metadata)) form.set(`v:${name}`, value)
  form.set(`v:${OUR_ID}`, ourId)
  for (const { filename, contentType, content, cid } of filesOf(mail)) {
    const file = new Blob([new Uint8Array(content)], { type: contentType })
    // Mailgun makes the content id of an inline file of its name.
    if (cid === undefined) form.append('attachment', file, filename)
    else form.append('inline', file, cid)
  }
  return form
}

async function encode(form: FormData): Promise<{ readonly body: Uint8Array; readonly contentType: string }> {
  const response = new Response(form)
  return {
    body: new Uint8Array(await response.arrayBuffer()),
    contentType: response.headers.get('content-type') ?? '',
  }
}
