import * as z from 'zod'
import type { BodyFormat } from '../notification.ts'
import { MAX_SUBJECT_LENGTH } from '../template/compile.ts'
import { MAX_BODY_LENGTH } from '../template/write.ts'
import { channel, text } from './fields.ts'

/** Lower-case words joined by hyphens. */
const TEMPLATE_NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/

/** What creates a template. */
export interface TemplateInput {
  /** Unique in the organization: lower-case words joined by hyphens, at most 100 characters. */
  readonly name: string
  readonly channel: string
  /** Of a mail; the title of a push message; a field of a webhook. May contain `{{variable}}`. */
  readonly subject?: string | null | undefined
  /** Text with `{{variable}}` placeholders. */
  readonly body: string
  /** How an e-mail body is to be read. Default: a document or a closing tag in the source makes it HTML. */
  readonly format?: BodyFormat | null | undefined
  /** Free text. */
  readonly description?: string | null | undefined
}

const name = z
  .string()
  .min(1)
  .max(100)
  .regex(TEMPLATE_NAME, 'must be lower-case words joined by hyphens')
  .describe('Unique name, for example `welcome-email`.')

const fields = {
  subject: text(0, MAX_SUBJECT_LENGTH)
    .nullish()
    .describe('Of a mail; the title of a push message. May contain {{variable}}.'),
  body: text(1, MAX_BODY_LENGTH).describe('Text with {{variable}} placeholders.'),
  format: z
    .enum(['text', 'html'])
    .nullish()
    .describe('How an e-mail body is to be read; left out, the source decides.'),
  description: text(0, 2000).nullish().describe('Free text.'),
}

/** The one schema behind `notifier.templates.create` and the REST API. */
export const templateInput: z.ZodType<TemplateInput, TemplateInput> = z.object({ name, channel, ...fields })

/** What changes a template; absent fields stay. */
export interface TemplateChangeInput {
  readonly name?: string | undefined
  /** Never changes: another one than the template's is refused. */
  readonly channel?: string | undefined
  readonly subject?: string | null | undefined
  readonly body?: string | undefined
  readonly format?: BodyFormat | null | undefined
  readonly description?: string | null | undefined
}

/** The one schema behind `notifier.templates.update` and the REST API. */
export const templateChange: z.ZodType<TemplateChangeInput, TemplateChangeInput> = z.object({
  name: name.optional(),
  channel: channel.optional().describe('Never changes: another one than that of the template is refused.'),
  subject: fields.subject,
  body: fields.body.optional(),
  format: fields.format,
  description: fields.description,
})
