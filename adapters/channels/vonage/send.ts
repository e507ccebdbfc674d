import * as z from 'zod'
import { sms } from '../../../src/core/channels/built-in.ts'
import type { SmsKind } from '../../../src/core/channels/sms.ts'
import { smsText } from '../../../src/core/channels/sms-segments.ts'
import type { Provider } from '../../../src/core/ports/provider.ts'
import { httpProvider } from '../kit/http/http-provider.ts'
import { textMember } from '../kit/http/provider-answer.ts'
import { credential, type ProviderOptions, providerShape } from '../kit/http/provider-options.ts'
import { checkOptions } from '../kit/options.ts'
import { ofOwnSender, onlySenders, refuseMedia, sendersOption } from '../kit/sms/sender.ts'
import { vonageOutcome } from './errors.ts'
import { receiptOptions, type VonageReceiptOptions, vonageReceipts } from './receipts.ts'

export type { VonageReceiptOptions }

/** Options of `vonage`. */
export interface VonageOptions extends ProviderOptions {
  readonly apiKey: string
  readonly apiSecret: string
  /** Sender: one of the account's numbers, digits only, or an alphanumeric name of at most 11 characters. */
  readonly from: string
  /**
   * Other senders of the account that a message may name (`sms.from`), at most 1,000.
   *
   * @default none
   */
  readonly senders?: readonly string[] | undefined
  /**
   * Verification of reports and incoming messages.
   *
   * @default none: no receipts are accepted
   */
  readonly receipts?: VonageReceiptOptions | undefined
  /**
   * Seconds after which Vonage gives up an undelivered message, 20 to 604 800.
   *
   * @default Vonage's own, 72 hours
   */
  readonly validitySeconds?: number | undefined
}

const schema = z.strictObject({
  // A duplicate message costs money and annoys its recipient.
  ...providerShape({ name: 'vonage', baseUrl: 'https://rest.nexmo.com', onAmbiguous: 'fail' }),
  apiKey: credential,
  apiSecret: credential,
  from: z
    .string()
    .regex(/^(?:[0-9]{3,15}|[A-Za-z0-9 ]{1,11})$/, 'must be digits, or a name of at most 11 characters'),
  senders: sendersOption,
  receipts: receiptOptions.optional(),
  validitySeconds: z.int().min(20).max(604_800, 'must be at most 604800 seconds').optional(),
})

/**
 * Vonage's SMS API as an SMS provider. It has no idempotency, so ambiguous attempts are not repeated unless
 * `onAmbiguous` is `retry`.
 *
 * @throws NotifierError `invalid_configuration` with the option's name
 *
 * @example
 * const texts = vonage({
 *   apiKey: process.env.VONAGE_API_KEY ?? '',
 *   apiSecret: process.env.VONAGE_API_SECRET ?? '',
 *   from: 'Shop',
 * })
 * const notifier = createNotifier({ channels: { sms: texts } })
 */
export function vonage(options: VonageOptions): Provider<SmsKind> {
  const given = checkOptions('vonage', schema, options)
  const { baseUrl, apiKey, apiSecret, receipts } = given
  const refusesSender = onlySenders(given.from, ...given.senders)
  const basic = Buffer.from(`${apiKey}:${apiSecret}`, 'utf8').toString('base64')
  const headers = { authorization: `Basic ${basic}`, accept: 'application/json' }
  return httpProvider(sms, given, {
    title: 'Vonage',
    secrets: [basic, apiSecret],
    send: async ({ to, body, sms: { from } = {} }, { notificationId, signal }, http) => {
      const outcome = await http.send(
        {
          url: `${baseUrl}/sms/json`,
          headers: { ...headers, 'content-type': 'application/json' },
          body: JSON.stringify({
            from: (from ?? given.from).replace(/^\+(?=\d)/, ''),
            to: to.replace(/^\+/, ''),
            text: body,
            type: smsText(body).encoding === 'gsm-7' ? 'text' : 'unicode',
            'client-ref': notificationId,
            ...(receipts?.url === undefined ? {} : { callback: receipts.url, 'status-report-req': true }),
            ...(given.validitySeconds === undefined ? {} : { ttl: given.validitySeconds * 1000 }),
          }),
          signal,
        },
        vonageOutcome,
      )
      return ofOwnSender(from, outcome)
    },
    check: (http) =>
      http.send({ method: 'GET', url: `${baseUrl}/account/get-balance`, headers }, ({ status, json }) =>
        status === 200 && textMember(json, 'value') !== undefined ? { kind: 'accepted' } : null,
      ),
    hooks: {
      refuses: ({ from, media }) =>
        media === undefined ? refusesSender(from) : refuseMedia("Vonage's SMS API"),
      ...(receipts && { parseReceipts: vonageReceipts({ ...receipts, apiKey }) }),
    },
  })
}
