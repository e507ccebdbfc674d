import * as z from 'zod'
import { partsFields } from '../notification/part-schemas.ts'
import type { List } from '../records/list.ts'
import { named } from '../rest/named.ts'
import { actor, channelName, listOf, metadataField, timestamp } from '../rest/schemas.ts'
import type {
  ListedTemplate,
  TemplateComparison,
  TemplateDraftRecord,
  TemplatePreview,
  TemplateRecord,
  TemplateVersionRecord,
} from './model.ts'
import type { RenderedMessage } from './render.ts'

const locales = z
  .record(
    z.string(),
    z.object({
      subject: z.string().nullable(),
      body: z.string().nullable(),
      html: z.string().nullable(),
      text: z.string().nullable(),
    }),
  )
  .describe('Its text in other locales.')

/** The text of a template, in all records. */
const text = {
  subject: z.string().nullable(),
  body: z.string().nullable().describe('Null if the text is in `html` or `text`.'),
  html: z.string().nullable(),
  text: z.string().nullable().describe('Beside `html`: the text alternative.'),
  layout: z.string().nullable().describe('The name of the layout around its text.'),
  locale: z.string().nullable().describe('The locale of its own text; null: the default.'),
  locales,
}

/** A template in responses. */
const template = z.object({
  id: z.string().regex(/^tpl_[\w-]+$/),
  name: z.string(),
  channel: channelName,
  ...text,
  description: z.string().nullable(),
  metadata: metadataField,
  category: z.string().nullable().describe('Id of the category of messages that name none. Null: `default`.'),
  version: z.int().min(1),
  createdAt: timestamp,
  updatedAt: timestamp.describe('When the current version was made.'),
})

export const templateRecord: z.ZodType<TemplateRecord> = named('Template', template)

/** A version of a template in responses. */
export const templateVersionRecord: z.ZodType<TemplateVersionRecord> = named(
  'TemplateVersion',
  z.object({
    id: z.string().regex(/^tpl_[\w-]+$/),
    version: z.int().min(1),
    channel: channelName,
    ...text,
    metadata: metadataField,
    author: actor.nullable().describe('Null: it is from before authors were kept.'),
    createdAt: timestamp.describe('Creation time of the version.'),
  }),
)

/** The draft of a template in responses. */
export const templateDraftRecord: z.ZodType<TemplateDraftRecord> = named(
  'DraftOfTemplate',
  z.object({
    id: z.string().regex(/^tpl_[\w-]+$/),
    name: z.string(),
    channel: channelName,
    ...text,
    metadata: metadataField,
    basedOn: z.int().min(1).describe('The version that it began with.'),
    edit: z.int().min(1).describe('Rises with every change of the draft.'),
    updatedAt: timestamp,
  }),
)

/** The differences of two versions. */
export const templateComparison: z.ZodType<TemplateComparison> = named(
  'TemplateComparison',
  z.object({
    id: z.string(),
    from: z.int(),
    to: z.int(),
    fields: z
      .array(
        z.object({
          field: z.string(),
          hunks: z
            .array(
              z.object({
                from: z.int().describe('The line of the older text at which it begins, from 1.'),
                to: z.int().describe('The line of the newer text at which it begins, from 1.'),
                lines: z.array(z.object({ kind: z.enum(['same', 'removed', 'added']), text: z.string() })),
              }),
            )
            .describe('Lines that differ, with up to three the same before and after.'),
        }),
      )
      .describe('The fields that differ, such as `html` or `locales.de.subject`.'),
    complete: z
      .boolean()
      .describe('False: there are more than 2,000 lines or 128 Ki characters of differences.'),
  }),
)

export const templateVersionList: z.ZodType<List<TemplateVersionRecord>> = named(
  'TemplateVersionList',
  listOf(templateVersionRecord),
)

export const templateList: z.ZodType<List<ListedTemplate>> = named(
  'TemplateList',
  listOf(
    named(
      'ListedTemplate',
      template.extend({ hasDraft: z.boolean().describe('True: it has changes that are not published.') }),
    ),
  ),
)

/** Fields of a rendered text. */
export const renderedFields: {
  readonly [Name in 'subject' | 'body' | 'format' | 'text' | 'sms']-?: z.ZodType<RenderedMessage[Name]>
} = {
  subject: z.string().nullable(),
  body: z.string(),
  format: z.enum(['text', 'html']),
  text: z
    .string()
    .optional()
    .describe('Text alternative given beside HTML. Absent: generated from the HTML.'),
  sms: z
    .object({ encoding: z.enum(['gsm-7', 'ucs-2']), segments: z.int(), characters: z.int() })
    .optional()
    .describe('Text messages only: encoding and charged segments.'),
}

/** Rendered text of a template, with its placeholders. */
export const templatePreview: z.ZodType<TemplatePreview> = named(
  'Rendered',
  z.object({
    ...renderedFields,
    ...partsFields,
    placeholders: z
      .array(
        z.object({
          name: z.string(),
          required: z
            .boolean()
            .describe(
              'True: a send without a value of the type is refused. False: it opens a section, or a message may do without it.',
            ),
          type: z
            .enum(['text', 'number', 'date', 'section'])
            .describe(
              'Of its value: `text` is a text, a number or a boolean, `date` one in ISO 8601, `section` any JSON.',
            ),
        }),
      )
      .describe('Placeholders of the template, at most 200, without those inside sections.'),
  }),
)
