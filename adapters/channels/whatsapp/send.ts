import * as z from 'zod'
import type { Outcome } from '../../../src/core/notification/outcome.ts'
import type { Message, Provider } from '../../../src/core/ports/provider.ts'
import { httpProvider } from '../kit/http/http-provider.ts'
import { textMember } from '../kit/http/provider-answer.ts'
import { credential, type ProviderOptions, providerShape } from '../kit/http/provider-options.ts'
import { checkOptions } from '../kit/options.ts'
import { ofOwnSender, onlySenders } from '../kit/sms/sender.ts'
import { whatsAppOutcome } from './errors.ts'
import { lacksTemplate, type WhatsAppKind, whatsappChannel, whatsappNumber } from './kind.ts'
import { metaMedia } from './media.ts'
import { confirmWhatsApp, receiptOptions, type WhatsAppReceiptOptions, whatsappReceipts } from './receipts.ts'

export type { ApprovedTemplate, ContentTemplate, WhatsAppContent } from './kind.ts'
export type { WhatsAppMedia } from './media.ts'
export type { WhatsAppKind, WhatsAppReceiptOptions }
export { whatsappChannel }

/** Options of `whatsapp`. */
export interface WhatsAppOptions extends ProviderOptions {
  /** A token with the permission `whatsapp_business_messaging`. Tokens of system users do not expire. */
  readonly accessToken: string
  /** Id of the business phone number that sends (not the number itself). */
  readonly phoneNumberId: string
  /**
   * Other numbers that a message may name (`whatsapp.from`), each with its phone number id: `{ '+14155238886':
   * '106540352242922' }`. At most 1,000.
   *
   * @default none
   */
  readonly senders?: Readonly<Record<string, string>> | undefined
  /**
   * Version of Meta's Graph API.
   *
   * @default 'v25.0'
   */
  readonly version?: string | undefined
  /**
   * Verification of reports on messages.
   *
   * @default none: no receipts are accepted
   */
  readonly receipts?: WhatsAppReceiptOptions | undefined
}

const phoneNumberId = z.string().regex(/^\d{1,32}$/, 'must be the id of a phone number, digits only')
const schema = z.strictObject({
  // A duplicate message costs money and annoys its recipient.
  ...providerShape({ name: 'whatsapp', baseUrl: 'https://graph.facebook.com', onAmbiguous: 'fail' }),
  accessToken: credential,
  phoneNumberId,
  senders: z
    .record(whatsappNumber, phoneNumberId)
    .refine((senders) => Object.keys(senders).length <= 1_000, 'must have at most 1000 senders')
    .default({}),
  version: z
    .string()
    .regex(/^v\d{1,3}\.\d{1,2}$/, 'must be a version such as v25.0')
    .default('v25.0'),
  receipts: receiptOptions.optional(),
})

/**
 * WhatsApp through Meta's Cloud API. It has no idempotency, so ambiguous attempts are not repeated unless `onAmbiguous`
 * is `retry`.
 *
 * @throws NotifierError `invalid_configuration` with the option's name
 *
 * @example
 * const chat = whatsapp({
 *   accessToken: process.env.WHATSAPP_ACCESS_TOKEN ?? '',
 *   phoneNumberId: '106540352242922',
 * })
 * const notifier = createNotifier({ channels: { whatsapp: chat } })
 */
export function whatsapp(options: WhatsAppOptions): Provider<WhatsAppKind> {
  const given = checkOptions('whatsapp', schema, options)
  const { baseUrl, accessToken, receipts } = given
  const graph = `${baseUrl}/${given.version}`
  const senders = new Map(Object.entries(given.senders))
  const refusesSender = onlySenders(...senders.keys())
  const headers = { authorization: `Bearer ${accessToken}`, accept: 'application/json' }
  return httpProvider(whatsappChannel, given, {
    title: 'WhatsApp',
    secrets: [accessToken, ...(receipts === undefined ? [] : [...receipts.secret, receipts.verifyToken])],
    async send(message, { notificationId, signal }, http) {
      const content = contentOf(message)
      if ('kind' in content) return content
      const from = message.whatsapp?.from
      const id = from === undefined ? given.phoneNumberId : senders.get(from)
      if (id === undefined)
        return { kind: 'rejected', scope: 'message', code: 'invalid_sender', message: UNLISTED }
      const outcome = await http.send(
        {
          url: `${graph}/${id}/messages`,
          headers: { ...headers, 'content-type': 'application/json' },
          body: JSON.stringify({
            messaging_product: 'whatsapp',
            recipient_type: 'individual',
            to: message.to,
            ...content,
            biz_opaque_callback_data: notificationId,
          }),
          signal,
        },
        whatsAppOutcome,
      )
      return ofOwnSender(from, outcome)
    },
    check: (http) =>
      http.send({ method: 'GET', url: `${graph}/${given.phoneNumberId}?fields=id`, headers }, (answer) =>
        answer.status === 200 && textMember(answer.json, 'id') === given.phoneNumberId
          ? { kind: 'accepted' }
          : whatsAppOutcome(answer),
      ),
    hooks: {
      refuses: ({ from }) => refusesSender(from),
      ...(receipts && {
        parseReceipts: whatsappReceipts(receipts, new Set([given.phoneNumberId, ...senders.values()])),
        confirmReceipts: confirmWhatsApp(receipts),
      }),
    },
  })
}

const UNLISTED = 'The sender is not in the option "senders" any more.'

/** A message's text, media or template in Meta's format, or the refusal of a message without either. */
function contentOf({ body, whatsapp: parts = {} }: Message<WhatsAppKind>): object | Outcome {
  const { approvedTemplate, contentTemplate, media, previewUrl = false } = parts
  if (approvedTemplate !== undefined) {
    const { name, language, components } = approvedTemplate
    return { type: 'template', template: { name, language: { code: language }, components } }
  }
  if (contentTemplate !== undefined) return lacksTemplate('approvedTemplate', 'Meta')
  if (media !== undefined) return metaMedia(media, body)
  return { type: 'text', text: { body, preview_url: previewUrl } }
}
