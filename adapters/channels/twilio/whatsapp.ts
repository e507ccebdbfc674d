import * as z from 'zod'
import type { Provider } from '../../../src/core/ports/provider.ts'
import { lacksTemplate, type WhatsAppKind, whatsappChannel } from '../whatsapp/kind.ts'
import { type TwilioAccountOptions, type TwilioChannel, twilioProvider } from './messaging.ts'

/** Options of `twilioWhatsApp`. */
export interface TwilioWhatsAppOptions extends TwilioAccountOptions {
  /**
   * Sender: one of the account's WhatsApp numbers in E.164 form, without `whatsapp:`. Required without
   * `messagingServiceSid`.
   */
  readonly from?: string | undefined
  /**
   * Other WhatsApp numbers of the account that a message may name (`whatsapp.from`), at most 1,000.
   *
   * @default none
   */
  readonly senders?: readonly string[] | undefined
}

const channel: TwilioChannel<WhatsAppKind> = {
  plugin: 'twilioWhatsApp',
  kind: whatsappChannel,
  scheme: 'whatsapp:',
  from: z.string().regex(/^\+[0-9]{7,15}$/, 'must be a number in E.164 form such as +14155238886'),
  contentOf({ body, whatsapp: { approvedTemplate, contentTemplate, media } = {} }) {
    if (approvedTemplate !== undefined && contentTemplate === undefined)
      return lacksTemplate('contentTemplate', 'Twilio')
    if (media !== undefined) return { ...(body === '' ? {} : { Body: body }), MediaUrl: media.link }
    if (contentTemplate === undefined) return { Body: body }
    const { sid, variables } = contentTemplate
    return {
      ContentSid: sid,
      ...(variables === undefined ? {} : { ContentVariables: JSON.stringify(variables) }),
    }
  },
  partsOf: ({ whatsapp }) => whatsapp,
  fromOf: (parts) => parts?.from,
}

/**
 * WhatsApp through Twilio's Programmable Messaging. It has no idempotency for messages, so ambiguous attempts are not
 * repeated unless `onAmbiguous` is `retry`.
 *
 * @throws NotifierError `invalid_configuration` with the option's name
 *
 * @example
 * const chat = twilioWhatsApp({
 *   accountSid: process.env.TWILIO_ACCOUNT_SID ?? '',
 *   authToken: process.env.TWILIO_AUTH_TOKEN ?? '',
 *   from: '+15005550006',
 * })
 * const notifier = createNotifier({ channels: { whatsapp: chat } })
 */
export function twilioWhatsApp(options: TwilioWhatsAppOptions): Provider<WhatsAppKind> {
  return twilioProvider(channel, options)
}
