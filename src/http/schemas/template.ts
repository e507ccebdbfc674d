import * as z from 'zod'
import { jsonObject } from '../../domain/input/fields.ts'
import type { List } from '../../services/list.ts'
import type { RenderedMessage } from '../../services/render.ts'
import type { TemplateRecord } from '../../services/templates/records.ts'
import { channelName, listOf, timestamp } from './common.ts'

/** A template in responses. */
export const templateRecord: z.ZodType<TemplateRecord> = z.object({
  id: z.string().regex(/^tpl_[\w-]+$/),
  name: z.string(),
  channel: channelName,
  subject: z.string().nullable(),
  body: z.string().nullable().describe('Null where `html` or `text` say what they are.'),
  html: z.string().nullable(),
  text: z.string().nullable().describe('Beside `html` its text alternative.'),
  description: z.string().nullable(),
  version: z.int().min(1),
  createdAt: timestamp,
})

export const templateList: z.ZodType<List<TemplateRecord>> = listOf(templateRecord)

/** Example values for the placeholders. */
export const previewInput: z.ZodType<{
  variables?: Record<string, unknown> | undefined
  data?: Record<string, unknown> | undefined
}> = z.object({
  variables: jsonObject.optional().describe('Values for the placeholders of the template.'),
  data: jsonObject.optional().describe('The same as `variables`, which wins where both name one key.'),
})

/** Fields of {@link renderedRecord}. */
export const renderedFields: {
  readonly [Name in 'subject' | 'body' | 'format' | 'text' | 'sms']-?: z.ZodType<RenderedMessage[Name]>
} = {
  subject: z.string().nullable(),
  body: z.string(),
  format: z.enum(['text', 'html']),
  text: z
    .string()
    .optional()
    .describe('The text alternative that was given beside HTML; left out, it is made of the HTML.'),
  sms: z
    .object({ encoding: z.enum(['gsm-7', 'ucs-2']), segments: z.int(), characters: z.int() })
    .optional()
    .describe('Text messages only: how the text travels, and the segments it is charged as.'),
}

/** Rendered text. */
export const renderedRecord: z.ZodType<RenderedMessage> = z.object(renderedFields)
