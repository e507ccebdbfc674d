import * as z from 'zod'
import { phoneRecipient } from '../../../src/channels/phone-recipient.ts'
import type { ChannelKind } from '../../../src/domain/channel-kind.ts'
import { NotifierError } from '../../../src/domain/errors/notifier-error.ts'
import { jsonObject } from '../../../src/domain/input/fields.ts'
import type { JsonFields } from '../../../src/domain/json-fields.ts'

/**
 * What a WhatsApp message may carry beside its text. WhatsApp delivers free text only within 24 hours of the recipient's last
 * message; every other message needs a template that Meta has approved. A template goes in place of the text: `body` is
 * then stored and not sent, and may be blank.
 */
export interface WhatsAppContent {
  /** The template, in place of the text. */
  readonly approvedTemplate?: ApprovedTemplate | undefined
  /** Shows a preview of the first link of a text. Default false. */
  readonly previewUrl?: boolean | undefined
}

/** A template in WhatsApp Manager. */
export interface ApprovedTemplate {
  /** Lower-case letters, digits and underscores. */
  readonly name: string
  /** Code of the language that was approved: `en_US`. */
  readonly language: string
  /** What fills the placeholders, as in Meta's API; at most 20, and 30,000 characters of JSON. */
  readonly components?: readonly JsonFields[] | undefined
}

export type WhatsAppKind = ChannelKind<'whatsapp', WhatsAppContent>

const MAX_TEXT = 4_096
const MAX_COMPONENTS = 20
const MAX_COMPONENTS_LENGTH = 30_000

const approvedTemplate: z.ZodType<ApprovedTemplate, ApprovedTemplate> = z.strictObject({
  name: z
    .string()
    .regex(/^[a-z0-9_]{1,512}$/, 'must be lower-case letters, digits and underscores, at most 512')
    .describe('Name of the template in WhatsApp Manager.'),
  language: z
    .string()
    .regex(/^[a-z]{2,3}(?:_[A-Za-z0-9]{2,4})?$/, 'must be a code of a language, such as en_US')
    .describe('Code of the language that was approved, such as `en_US`.'),
  components: z
    .array(jsonObject)
    .min(1)
    .max(MAX_COMPONENTS)
    .refine(
      (components) => JSON.stringify(components).length <= MAX_COMPONENTS_LENGTH,
      `at most ${MAX_COMPONENTS_LENGTH} characters of JSON`,
    )
    .optional()
    .describe("What fills the placeholders, as in Meta's API; at most 20."),
})

const whatsappParts: z.ZodType<WhatsAppContent, WhatsAppContent> = z.strictObject({
  approvedTemplate: approvedTemplate
    .optional()
    .describe('Template that Meta has approved, in place of the text.'),
  previewUrl: z.boolean().optional().describe('Shows a preview of the first link of a text. Default false.'),
})

/** WhatsApp messages to phone numbers. The countries that an organization permits for text messages hold for them as well. */
export const whatsappChannel: WhatsAppKind = {
  name: 'whatsapp',
  ...phoneRecipient('possible'),
  parts: whatsappParts,
  isBlank: ({ body, parts }) => body.trim() === '' && parts?.approvedTemplate === undefined,
  assertText({ body }) {
    if (body.length <= MAX_TEXT) return
    throw new NotifierError('message_too_large', {
      message: `The text has ${body.length} characters; WhatsApp takes ${MAX_TEXT}.`,
      details: { field: 'body', characters: body.length, maxCharacters: MAX_TEXT },
    })
  },
}
