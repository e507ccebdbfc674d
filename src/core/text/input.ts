import * as z from 'zod'
import { HIGHEST_BOUNDS } from '../input/bounds.ts'
import { channel, text } from '../input/fields.ts'
import { localeName } from '../input/locale-fields.ts'
import { type Metadata, metadataInput } from '../input/metadata.ts'
import { categoryId } from '../notification/category-id.ts'
import type { BodyFormat } from '../notification/notification.ts'
import { namedInput } from '../rest/named.ts'
import { MAX_SUBJECT_LENGTH } from './compile.ts'
import type { GivenText } from './message-text.ts'
import { SHARED_NAME } from './shared-text.ts'
import { assertOneText } from './text-fields.ts'
import { type VariantsInput, variantsInput } from './variants-input.ts'

/** Input for a template: `html`, `text` or both, or a `body`. */
export type TemplateInput = TemplateFields & SomeText

/** At least one text. */
export type SomeText =
  | { readonly html: string; readonly body?: null | undefined }
  | { readonly text: string; readonly body?: null | undefined }
  | { readonly body: string; readonly html?: null | undefined; readonly text?: null | undefined }

export interface TemplateFields {
  /** Unique in the organization: lower-case words joined by hyphens, at most 100 characters. */
  readonly name: string
  readonly channel: string
  /** The subject of a mail, the title of a push message, or a field of a webhook. May contain `{{variable}}`. */
  readonly subject?: string | null | undefined
  /**
   * The HTML of a mail with `{{variable}}` placeholders. `text` is its alternative; without it, one is made from the
   * HTML.
   */
  readonly html?: string | null | undefined
  /** Plain text with `{{variable}}` placeholders; with `html` its alternative. */
  readonly text?: string | null | undefined
  /** Instead of `html` and `text`. In a mail it is HTML if it contains a document or a closing tag. */
  readonly body?: string | null | undefined
  /** Format of `body` in a mail: makes it `html` or `text`. Default: detected. */
  readonly format?: BodyFormat | null | undefined
  /** The name of a layout around the text. Default null: none. The subject has no layout. */
  readonly layout?: string | null | undefined
  /** The locale of this text, as BCP 47: `en`. Default null: that of the organization. */
  readonly locale?: string | null | undefined
  /** The text in other locales: `{ de: { subject, html, text } }`. In an update null removes one, and others stay. */
  readonly locales?: VariantsInput | undefined
  /** Free text. */
  readonly description?: string | null | undefined
  /** Metadata of every message of the template, unless the send has the same pair. See `SendInput`. */
  readonly metadata?: Metadata | null | undefined
  /** Id of the category of messages that name none. Default: `default`. */
  readonly category?: string | null | undefined
}

const name = z
  .string()
  .min(1)
  .max(100)
  .regex(SHARED_NAME, 'must be lower-case words joined by hyphens')
  .describe('Unique name, for example `welcome-email`.')

const fields = {
  subject: text(0, MAX_SUBJECT_LENGTH)
    .nullish()
    .describe('The subject of a mail, or the title of a push message. May contain {{variable}}.'),
  html: text(1, HIGHEST_BOUNDS.textBytes)
    .nullish()
    .describe(
      'The HTML of a mail, with {{variable}} placeholders. `text` is its alternative; without it, one is made from the HTML.',
    ),
  text: text(1, HIGHEST_BOUNDS.textBytes)
    .nullish()
    .describe('Plain text with {{variable}} placeholders; with `html` its alternative.'),
  body: text(1, HIGHEST_BOUNDS.textBytes)
    .nullish()
    .describe('Instead of `html` and `text`; detected as HTML in a mail. One of the three is required.'),
  format: z
    .enum(['text', 'html'])
    .nullish()
    .describe('Format of `body` in a mail: makes it `html` or `text`. Default: detected.'),
  layout: text(1, 100)
    .nullish()
    .describe('The name of a layout around the text. Null: none. The subject has no layout.'),
  locale: localeName.nullish().describe('The locale of this text, such as `en`. Null: the default.'),
  locales: variantsInput.optional(),
  description: text(0, 2000).nullish().describe('Free text.'),
  metadata: metadataInput.nullish().describe('Metadata of every message, unless the send has the same pair.'),
  category: categoryId
    .nullish()
    .describe('Id of the category of messages that name none. Default: `default`.'),
}

/** The schema behind `notifier.templates.create` and the REST API. */
export const templateInput: z.ZodType<TemplateFields, TemplateFields> = namedInput(
  'TemplateRequest',
  z.object({ name, channel, ...fields }).check(assertOneText, assertSomeText),
)

export function assertSomeText({ value, issues }: z.core.ParsePayload<GivenText>): void {
  if (value.body == null && value.html == null && value.text == null)
    issues.push({
      code: 'custom',
      input: value,
      path: ['body'],
      message: 'is required, or "html" or "text"',
    })
}

const { description, category, ...textFields } = fields

/** The fields of a template that are versioned. */
export const templateTextFields: {
  readonly [Name in keyof VersionedFields]-?: z.ZodType<VersionedFields[Name], VersionedFields[Name]>
} = textFields

type VersionedFields = Omit<TemplateChange, 'version' | 'name' | 'channel' | 'description' | 'category'>

/** Changes of a template; absent fields stay. */
export interface TemplateChange {
  /** The version that the change is based on. If the template has a newer one, the change is refused. */
  readonly version?: number | undefined
  readonly name?: string | undefined
  /** Cannot change: refused unless it is the template's. */
  readonly channel?: string | undefined
  readonly subject?: string | null | undefined
  /** Null removes it; `text` stays. */
  readonly html?: string | null | undefined
  /** Null removes it; `html` stays, and its alternative is made from it. */
  readonly text?: string | null | undefined
  /** Replaces `html` and `text`. */
  readonly body?: string | null | undefined
  readonly format?: BodyFormat | null | undefined
  /** The name of a layout. Null removes it. */
  readonly layout?: string | null | undefined
  readonly locale?: string | null | undefined
  /** Replaces the given locales; null removes one. */
  readonly locales?: VariantsInput | undefined
  readonly description?: string | null | undefined
  /** Replaces all pairs. Null removes them. */
  readonly metadata?: Metadata | null | undefined
  readonly category?: string | null | undefined
}

/** The schema behind `notifier.templates.update` and the REST API. */
export const templateChange: z.ZodType<TemplateChange, TemplateChange> = namedInput(
  'TemplateChange',
  z
    .object({
      name: name.optional(),
      channel: channel.optional().describe('Cannot change: refused unless it is that of the template.'),
      version: z
        .int()
        .min(1)
        .optional()
        .describe('The version that the change is based on. Refused if the template has a newer one.'),
      ...fields,
    })
    .check(assertOneText),
)
