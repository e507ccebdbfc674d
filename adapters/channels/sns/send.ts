import * as z from 'zod'
import { sms } from '../../../src/core/channels/built-in.ts'
import type { SmsKind } from '../../../src/core/channels/sms.ts'
import type { Provider } from '../../../src/core/ports/provider.ts'
import { assertWorks } from '../kit/check.ts'
import { type AwsCredentials, awsCaller, awsShape } from '../kit/http/aws-client.ts'
import { describeProvider } from '../kit/http/http-provider.ts'
import { member } from '../kit/http/provider-answer.ts'
import { providerHttp } from '../kit/http/provider-http.ts'
import { type ProviderOptions, providerShape } from '../kit/http/provider-options.ts'
import { checkOptions } from '../kit/options.ts'
import { ofOwnSender, onlySenders, refuseMedia, sendersOption } from '../kit/sms/sender.ts'
import { loadSns } from './client.ts'
import { snsOutcome } from './errors.ts'

export type { AwsCredentials }

/** Options of `sns`. */
export interface SnsOptions extends ProviderOptions {
  /** AWS region, for example `eu-central-1`. */
  readonly region: string
  /**
   * Keys with the permission `sns:Publish`, or a function that returns them.
   *
   * @default the SDK's credential chain (environment, profile, role)
   */
  readonly credentials?: AwsCredentials | (() => Promise<AwsCredentials>) | undefined
  /** Sender id, where the country permits one: 1 to 11 letters and digits. */
  readonly senderId?: string | undefined
  /** One of the account's numbers to send from, in E.164 form. */
  readonly originationNumber?: string | undefined
  /**
   * Other numbers and sender ids of the account that a message may name (`sms.from`), at most 1,000.
   *
   * @default none
   */
  readonly senders?: readonly string[] | undefined
  /**
   * `Transactional`: optimized for reliability. `Promotional`: optimized for cost.
   *
   * @default 'Transactional'
   */
  readonly smsType?: 'Transactional' | 'Promotional' | undefined
  /** Highest price of a message, in US dollars. Default: the account's own limit. */
  readonly maxPriceUsd?: number | undefined
}

const schema = z.strictObject({
  // The SDK chooses the region's address. A duplicate message costs money and annoys its recipient.
  ...providerShape({ name: 'sns', baseUrl: '', onAmbiguous: 'fail' }),
  ...awsShape,
  senderId: z
    .string()
    .regex(/^[A-Za-z0-9]{1,11}$/, 'must be 1 to 11 letters and digits')
    .optional(),
  originationNumber: z
    .string()
    .regex(/^\+?[0-9]{3,15}$/, 'must be a number in E.164 form')
    .optional(),
  senders: sendersOption,
  smsType: z.enum(['Transactional', 'Promotional']).default('Transactional'),
  maxPriceUsd: z.number().positive('must be above 0').optional(),
})

/**
 * Amazon SNS as an SMS provider, on the optional package `@aws-sdk/client-sns` without its retries. SNS reports
 * deliveries only to CloudWatch, so the status ends at `sent`. It has no idempotency, so ambiguous attempts are not
 * repeated unless `onAmbiguous` is `retry`.
 *
 * @throws NotifierError `invalid_configuration` with the option's name; `missing_peer` at the start without the package
 *
 * @example
 * const texts = sns({ region: 'eu-central-1' })
 * const notifier = createNotifier({ channels: { sms: texts } })
 */
export function sns(options: SnsOptions): Provider<SmsKind> {
  const given = checkOptions('sns', schema, options)
  const { baseUrl, timeoutMs, maxConcurrent, region, credentials } = given
  const http = providerHttp({ maxConnections: maxConcurrent, timeoutMs, secrets: [] })
  const attributes = attributesOf(given)
  const refusesSender = onlySenders(given.senderId, given.originationNumber, ...given.senders)
  const aws = awsCaller({
    http,
    region,
    endpoint: baseUrl === '' ? undefined : baseUrl,
    credentials,
    load: loadSns,
    create: ({ SNSClient }, options) => new SNSClient(options),
  })

  return {
    ...describeProvider(sms, given),
    refuses: ({ from, media }) => (media === undefined ? refusesSender(from) : refuseMedia('Amazon SNS')),
    async send({ to, body, sms: { from } = {} }, { signal }) {
      const own = from === undefined ? attributes : attributesOf({ ...given, ...senderAttributes(from) })
      const input = { PhoneNumber: to, Message: body, MessageAttributes: own }
      const outcome = await aws.call(
        ({ PublishCommand }) => new PublishCommand(input),
        signal,
        (end) => (answer) => snsOutcome(answer, end),
      )
      return ofOwnSender(from, outcome)
    },
    async open({ proxyFor }) {
      http.through(proxyFor)
      await loadSns()
    },
    async check() {
      const outcome = await aws.call(
        ({ GetSMSAttributesCommand }) => new GetSMSAttributesCommand({}),
        AbortSignal.timeout(timeoutMs),
        (end) => (answer) =>
          answer.status === 200 && member(end.value, 'attributes') !== undefined
            ? { kind: 'accepted' }
            : snsOutcome(answer, end),
      )
      assertWorks(outcome, 'Amazon SNS')
    },
    async close() {
      http.close()
      await aws.close()
    },
  }
}

/** A message's own sender instead of both of the provider's. */
function senderAttributes(from: string): Pick<SnsOptions, 'senderId' | 'originationNumber'> {
  return /^\+?\d+$/.test(from)
    ? { senderId: undefined, originationNumber: from }
    : { senderId: from, originationNumber: undefined }
}

function attributesOf(given: z.output<typeof schema>): Readonly<Record<string, unknown>> {
  const text = (StringValue: string) => ({ DataType: 'String', StringValue })
  const { senderId, originationNumber, smsType, maxPriceUsd } = given
  return {
    'AWS.SNS.SMS.SMSType': text(smsType),
    ...(senderId === undefined ? {} : { 'AWS.SNS.SMS.SenderID': text(senderId) }),
    ...(originationNumber === undefined ? {} : { 'AWS.MM.SMS.OriginationNumber': text(originationNumber) }),
    ...(maxPriceUsd === undefined
      ? {}
      : { 'AWS.SNS.SMS.MaxPrice': { DataType: 'Number', StringValue: String(maxPriceUsd) } }),
  }
}
