import * as z from 'zod'
import type { ChannelKind } from '../../../src/core/channels/channel-kind.ts'
import { phoneRecipient } from '../../../src/core/channels/phone-recipient.ts'
import { NotifierError } from '../../../src/core/errors/notifier-error.ts'
import { bytesOf } from '../../../src/core/input/bounds.ts'
import { fewFields, jsonObject, text } from '../../../src/core/input/fields.ts'
import type { JsonFields } from '../../../src/core/input/json-fields.ts'
import type { Outcome } from '../../../src/core/notification/outcome.ts'
import { agreeing } from '../../../src/core/rest/named.ts'
import { type WhatsAppMedia, whatsappMedia } from './media.ts'

/**
 * Parts of a WhatsApp message besides its text. WhatsApp delivers free text only within 24 hours of the recipient's
 * last message; every other message needs a template that Meta has approved. A template replaces the text: such a
 * message needs no body, and a body is stored but not sent. A message that may go through Meta or Twilio carries both
 * templates.
 */
export interface WhatsAppContent {
  /** Meta's template instead of the text, for messages through `whatsapp`. */
  readonly approvedTemplate?: ApprovedTemplate | undefined
  /** The same template at Twilio instead of the text, for messages through `twilioWhatsApp`. */
  readonly contentTemplate?: ContentTemplate | undefined
  /** True: show a preview of the first link. Not supported by Twilio. Default: false. */
  readonly previewUrl?: boolean | undefined
  /** A file with the body as its caption, at most 1,024 characters. Not together with a template, which has its own. */
  readonly media?: WhatsAppMedia | undefined
  /**
   * Sender: a WhatsApp number in E.164 form. A provider must have it as its own sender or in its option `senders`.
   * Default: the provider's own.
   */
  readonly from?: string | undefined
}

/** A template in WhatsApp Manager. */
export interface ApprovedTemplate {
  /** Lower-case letters, digits and underscores. */
  readonly name: string
  /** Code of the approved language, for example `en_US`. */
  readonly language: string
  /** Values of the placeholders in the format of Meta's API: at most 20, with 30,000 bytes of JSON. */
  readonly components?: readonly JsonFields[] | undefined
}

/** A template in Twilio's Content Template Builder. */
export interface ContentTemplate {
  /** SID of the content template: `HX` and 32 hexadecimal digits. */
  readonly sid: string
  /** Values of the placeholders, for example `{ 1: 'Ada' }`: at most 100 texts of 1 to 1,024 characters. */
  readonly variables?: Readonly<Record<string, string>> | undefined
}

export type WhatsAppKind = ChannelKind<'whatsapp', WhatsAppContent>

const MAX_TEXT = 4_096
const MAX_CAPTION = 1_024
const MAX_COMPONENTS = 20
const MAX_COMPONENTS_BYTES = 30_000
const MAX_VARIABLES = 100

/** A WhatsApp number. */
export const whatsappNumber: z.ZodType<string, string> = z
  .string()
  .regex(/^\+[1-9]\d{6,14}$/, 'must be a number in E.164 form such as +14155238886')

const approvedTemplate = z.strictObject({
  name: z
    .string()
    .regex(/^[a-z0-9_]{1,512}$/, 'must be lower-case letters, digits and underscores, at most 512')
    .describe('Name of the template in WhatsApp Manager.'),
  language: z
    .string()
    .regex(/^[a-z]{2,3}(?:_[A-Za-z0-9]{2,4})?$/, 'must be a language code such as en_US')
    .describe('Code of the approved language, such as `en_US`.'),
  components: z
    .array(jsonObject)
    .min(1)
    .max(MAX_COMPONENTS)
    .refine(
      (components) => bytesOf(JSON.stringify(components)) <= MAX_COMPONENTS_BYTES,
      `at most ${MAX_COMPONENTS_BYTES} bytes of JSON`,
    )
    .optional()
    .describe("Values of the placeholders in the format of Meta's API, at most 20."),
})

const contentTemplate = z.strictObject({
  sid: z
    .string()
    .regex(/^HX[0-9a-fA-F]{32}$/, 'must be HX and 32 hexadecimal digits')
    .describe('Twilio ContentSid: `HX` and 32 hexadecimal digits.'),
  variables: fewFields(
    MAX_VARIABLES,
    `at most ${MAX_VARIABLES} variables`,
    z.record(z.string().regex(/^\w{1,64}$/, 'must be letters, digits and underscores'), text(1, 1_024)),
  )
    .optional()
    .describe('Values of the placeholders: a text for each, at most 100.'),
})

const whatsappParts = z
  .strictObject({
    approvedTemplate: approvedTemplate
      .optional()
      .describe("Template that Meta has approved, in place of the text, for messages through Meta's API."),
    contentTemplate: contentTemplate
      .optional()
      .describe('The same template at Twilio, in place of the text, for messages through Twilio.'),
    previewUrl: z
      .boolean()
      .optional()
      .describe('Shows a preview of the first link of a text. Default false; Twilio has no such choice.'),
    media: whatsappMedia.optional().describe('A file with the body as its caption.'),
    from: whatsappNumber.optional().describe('Sender: a WhatsApp number that a provider allows.'),
  })
  .refine(
    ({ media, approvedTemplate, contentTemplate }) =>
      media === undefined || (approvedTemplate === undefined && contentTemplate === undefined),
    { path: ['media'], message: 'must be left out beside a template, whose values contain its media' },
  )

/** WhatsApp messages to phone numbers. An organization's allowed countries for text messages also apply here. */
export const whatsappChannel: WhatsAppKind = {
  name: 'whatsapp',
  ...phoneRecipient('possible', true),
  parts: agreeing(whatsappParts),
  isBlank: ({ body, parts }) =>
    body.trim() === '' &&
    parts?.approvedTemplate === undefined &&
    parts?.contentTemplate === undefined &&
    parts?.media === undefined,
  assertText({ body }, { media } = {}) {
    if (media?.type === 'audio' && body !== '') {
      throw new NotifierError('invalid_parameter', {
        message: '"body": must be left out, because WhatsApp shows no caption of audio.',
        details: { field: 'body' },
      })
    }
    const most = media === undefined ? MAX_TEXT : MAX_CAPTION
    if (body.length <= most) return
    throw new NotifierError('message_too_large', {
      message: `The text has ${body.length} characters; WhatsApp accepts at most ${most}${media === undefined ? '' : ' with media'}.`,
      details: { field: 'body', characters: body.length, maxCharacters: most },
    })
  },
}

/** The refusal of a message with a template, but not this vendor's: its text must not replace the template. */
export function lacksTemplate(part: keyof WhatsAppContent, vendor: string): Outcome {
  return {
    kind: 'rejected',
    code: 'invalid_content',
    scope: 'message',
    message: `The message has no template for ${vendor}, only for another vendor. Add "whatsapp.${part}".`,
  }
}
