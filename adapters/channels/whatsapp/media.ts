import * as z from 'zod'
import { text } from '../../../src/core/input/fields.ts'
import { httpsUrl } from '../../../src/core/input/https-url.ts'

/** A file in a WhatsApp message. The message's `body` is its caption. */
export interface WhatsAppMedia {
  /** `audio` has no caption: such a message has no body. */
  readonly type: 'image' | 'video' | 'audio' | 'document'
  /** An https URL of at most 2,048 characters, which the vendor loads. */
  readonly link: string
  /** Name shown for a document, without a path: at most 240 characters. Not for other types, and not through Twilio. */
  readonly filename?: string | undefined
}

export const whatsappMedia: z.ZodType<WhatsAppMedia, WhatsAppMedia> = z
  .strictObject({
    type: z
      .enum(['image', 'video', 'audio', 'document'])
      .describe('Kind of the file. The body is the caption; audio has none.'),
    link: httpsUrl.describe('https URL, which the vendor loads.'),
    filename: text(1, 240)
      .regex(/^[^/\\\p{Cc}]+$/u, 'must be a file name without a path')
      .optional()
      .describe('Name shown for a document.'),
  })
  .refine(({ type, filename }) => filename === undefined || type === 'document', {
    path: ['filename'],
    message: 'must be left out: only a document has a file name',
  })

/** The media of a message in the format of Meta's API. */
export function metaMedia({ type, link, filename }: WhatsAppMedia, caption: string): object {
  const file = {
    link,
    ...(caption === '' ? {} : { caption }),
    ...(filename === undefined ? {} : { filename }),
  }
  return { type, [type]: file }
}
