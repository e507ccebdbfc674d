import * as z from 'zod'
import { email } from '../../../src/core/channels/built-in.ts'
import type { EmailKind } from '../../../src/core/channels/email.ts'
import type { Provider } from '../../../src/core/ports/provider.ts'
import { assertWorks } from '../kit/check.ts'
import { type AwsCredentials, awsCaller, awsShape } from '../kit/http/aws-client.ts'
import { describeProvider } from '../kit/http/http-provider.ts'
import { providerHttp } from '../kit/http/provider-http.ts'
import { asciiMailboxText } from '../kit/mail/header-text.ts'
import {
  type ApiMail,
  filesOf,
  type MailApiOptions,
  mailApiShape,
  sendMail,
  tagsOf,
} from '../kit/mail/mail-api.ts'
import { mailFrame, sendersOnly } from '../kit/mail/mail-frame.ts'
import { checkOptions } from '../kit/options.ts'
import { loadSes } from './client.ts'
import { sesAccountOutcome, sesOutcome } from './errors.ts'
import { receiptOptions, type SesReceiptOptions, sesReceipts } from './receipts.ts'

export type { AwsCredentials, SesReceiptOptions }

/** Options of `ses`. */
export interface SesOptions extends MailApiOptions {
  /** AWS region, for example `eu-central-1`. */
  readonly region: string
  /** Keys, or a function that returns them. Default: the SDK's credential chain (environment, profile, role). */
  readonly credentials?: AwsCredentials | (() => Promise<AwsCredentials>) | undefined
  /** Configuration set that publishes events about mails. */
  readonly configurationSet?: string | undefined
  /**
   * Verification of the SNS topics that the configuration set publishes to.
   *
   * @default none: no receipts are accepted
   */
  readonly receipts?: SesReceiptOptions | undefined
}

const PLUGIN = 'ses'
/** Longest media type in characters. A longer one loses its parameters. */
const MAX_MEDIA_TYPE = 78
const schema = z.strictObject({
  ...mailApiShape('ses', 'https://email.invalid'),
  ...awsShape,
  configurationSet: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/)
    .optional(),
  receipts: receiptOptions.optional(),
})

/**
 * Amazon SES (API version 2) as an e-mail provider, on the optional package @aws-sdk/client-sesv2. SES has no
 * idempotency and replaces the Message-ID, so a retry after an ambiguous attempt may send a second mail.
 *
 * @throws NotifierError `invalid_configuration` with the option's name; `missing_peer` at the start without the package
 *
 * @example
 * const mail = ses({ region: 'eu-central-1', from: 'Shop <shop@example.com>', configurationSet: 'events' })
 */
export function ses(options: SesOptions): Provider<EmailKind> {
  const given = checkOptions(PLUGIN, schema, options)
  const { timeoutMs, maxConcurrent, credentials, receipts } = given
  const frame = mailFrame(PLUGIN, given)
  const http = providerHttp({ maxConnections: maxConcurrent, timeoutMs, secrets: [] })
  const aws = awsCaller({
    http,
    region: given.region,
    endpoint: options.baseUrl === undefined ? undefined : given.baseUrl,
    credentials,
    load: loadSes,
    create: ({ SESv2Client }, options) => new SESv2Client(options),
  })

  return {
    ...describeProvider(email, given),
    ...sendersOnly(frame),
    threadIdOf: ({ providerMessageId: id }) => (id === null ? null : `<${id}@${hostOf(given.region)}>`),
    send: (message, context) =>
      sendMail(frame, message, context, (mail) => {
        const input = toInput(mail, given.configurationSet)
        return aws.call(
          ({ SendEmailCommand }) => new SendEmailCommand(input),
          context.signal,
          () => (answer) => sesOutcome(answer, mail),
          filesOf(mail).length > 0 ? ['Headers', 'Attachments'] : ['Headers'],
        )
      }),
    ...(receipts === undefined
      ? {}
      : { parseReceipts: sesReceipts({ ...receipts, get: receipts.get ?? ((url) => textAt(http, url)) }) }),
    async open({ proxyFor }) {
      http.through(proxyFor)
      await loadSes()
    },
    async check() {
      const outcome = await aws.call(
        ({ GetAccountCommand }) => new GetAccountCommand({}),
        AbortSignal.timeout(timeoutMs),
        () => sesAccountOutcome,
      )
      assertWorks(outcome, 'Amazon SES')
    },
    async close() {
      http.close()
      await aws.close()
    },
  }
}

/** The domain of the Message-ID that SES sets. */
function hostOf(region: string): string {
  return region === 'us-east-1' ? 'email.amazonses.com' : `${region}.amazonses.com`
}

function toInput(mail: ApiMail, configurationSet: string | undefined): Readonly<Record<string, unknown>> {
  const { from, to, cc, bcc, replyTo, subject, text, html, headerList } = mail
  const files = filesOf(mail)
  const utf8 = (data: string) => ({ Data: data, Charset: 'UTF-8' })
  return {
    FromEmailAddress: asciiMailboxText(from),
    Destination: {
      ToAddresses: [to],
      ...(cc.length === 0 ? {} : { CcAddresses: cc.map(asciiMailboxText) }),
      ...(bcc.length === 0 ? {} : { BccAddresses: bcc.map(asciiMailboxText) }),
    },
    ...(replyTo.length === 0 ? {} : { ReplyToAddresses: replyTo.map(asciiMailboxText) }),
    Content: {
      Simple: {
        Subject: utf8(subject),
        Body: { Text: utf8(text), ...(html === null ? {} : { Html: utf8(html) }) },
        Headers: headerList.map(({ name, value }) => ({ Name: name, Value: value })),
        ...(files.length === 0
          ? {}
          : {
              Attachments: files.map(({ filename, contentType, content, cid }) => ({
                FileName: filename,
                ContentType:
                  contentType.length <= MAX_MEDIA_TYPE ? contentType : contentType.replace(/;.*$/, ''),
                ...(cid === undefined
                  ? { ContentDisposition: 'ATTACHMENT' }
                  : { ContentDisposition: 'INLINE', ContentId: cid }),
                ContentTransferEncoding: 'BASE64',
                RawContent: content,
              })),
            }),
      },
    },
    EmailTags: tagsOf(mail).map(({ name, value }) => ({ Name: name, Value: value })),
    ...(configurationSet === undefined ? {} : { ConfigurationSetName: configurationSet }),
  }
}

async function textAt(http: ReturnType<typeof providerHttp>, url: string): Promise<string> {
  const result = await http.request({ method: 'GET', url, headers: {} })
  if (result.kind === 'failed') throw new Error(result.message)
  if (result.status !== 200 || result.cut === true) throw new Error(`SNS answered ${result.status}.`)
  return result.body
}
