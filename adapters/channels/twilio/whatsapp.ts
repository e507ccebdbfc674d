import * as z from 'zod'
import type { Provider } from '../../../src/ports/provider.ts'
import { lacksTemplate, type WhatsAppKind, whatsappChannel } from '../whatsapp/kind.ts'
import { type TwilioAccountOptions, type TwilioChannel, twilioProvider } from './messaging.ts'

/** Options of `twilioWhatsApp`. */
export interface TwilioWhatsAppOptions extends TwilioAccountOptions {
  /** The sender: a WhatsApp number of the account in E.164 form, without `whatsapp:`. Or `messagingServiceSid`. */
  readonly from?: string | undefined
}

const channel: TwilioChannel<WhatsAppKind> = {
  plugin: 'twilioWhatsApp',
  kind: whatsappChannel,
  scheme: 'whatsapp:',
  from: z.string().regex(/^\+[0-9]{7,15}$/, 'must be a number in E.164 form such as +14155238886'),
  contentOf({ body, whatsapp: { approvedTemplate, contentTemplate } = {} }) {
    if (contentTemplate === undefined)
      return approvedTemplate === undefined ? { Body: body } : lacksTemplate('contentTemplate', 'Twilio')
    const { sid, variables } = contentTemplate
    return {
      ContentSid: sid,
      ...(variables === undefined ? {} : { ContentVariables: JSON.stringify(variables) }),
    }
  },
}

/**
 * WhatsApp through Twilio's Programmable Messaging. It knows no idempotency for messages: an attempt whose end is unknown is
 * not repeated unless `onAmbiguous` says so.
 *
 * @throws NotifierError `invalid_configuration`, naming the option that is wrong
 */
export function twilioWhatsApp(options: TwilioWhatsAppOptions): Provider<WhatsAppKind> {
  return twilioProvider(channel, options)
}
