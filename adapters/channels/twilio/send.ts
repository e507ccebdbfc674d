import * as z from 'zod'
import { sms } from '../../../src/core/channels/built-in.ts'
import type { SmsKind } from '../../../src/core/channels/sms.ts'
import type { Provider } from '../../../src/core/ports/provider.ts'
import { type TwilioAccountOptions, type TwilioChannel, twilioProvider } from './messaging.ts'
import type { TwilioReceiptOptions } from './receipts.ts'

export { type TwilioWhatsAppOptions, twilioWhatsApp } from './whatsapp.ts'
export type { TwilioAccountOptions, TwilioReceiptOptions }

/** Options of `twilio`. */
export interface TwilioOptions extends TwilioAccountOptions {
  /**
   * Sender: one of the account's numbers in E.164 form, a short code or an alphanumeric name. Required without
   * `messagingServiceSid`.
   */
  readonly from?: string | undefined
  /**
   * Other senders of the account that a message may name (`sms.from`), at most 1,000.
   *
   * @default none
   */
  readonly senders?: readonly string[] | undefined
}

const channel: TwilioChannel<SmsKind> = {
  plugin: 'twilio',
  kind: sms,
  scheme: '',
  from: z
    .string()
    .regex(/^(?:\+?[0-9]{3,15}|[A-Za-z0-9 +_&-]{1,11})$/, 'must be a number, a short code or a name'),
  contentOf: ({ body, sms: { media } = {} }) => ({
    ...(body === '' && media !== undefined ? {} : { Body: body }),
    ...(media === undefined ? {} : { MediaUrl: media }),
  }),
  partsOf: ({ sms }) => sms,
  fromOf: (parts) => parts?.from,
}

/**
 * Twilio's Programmable Messaging as an SMS provider. It has no idempotency for messages, so ambiguous attempts are not
 * repeated unless `onAmbiguous` is `retry`.
 *
 * @throws NotifierError `invalid_configuration` with the option's name
 *
 * @example
 * const texts = twilio({
 *   accountSid: process.env.TWILIO_ACCOUNT_SID ?? '',
 *   authToken: process.env.TWILIO_AUTH_TOKEN ?? '',
 *   from: '+15005550006',
 * })
 * const notifier = createNotifier({ channels: { sms: texts } })
 */
export function twilio(options: TwilioOptions): Provider<SmsKind> {
  return twilioProvider(channel, options)
}
