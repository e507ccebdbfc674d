import * as z from 'zod'
import { type AnyChannel, type ChannelParts, partsFields, recipientId } from '../accept/input.ts'
import type { ChannelKind } from '../channels/channel-kind.ts'
import { channel, jsonObject, text } from '../input/fields.ts'
import type { JsonFields } from '../input/json-fields.ts'
import { localeName, timeZoneName } from '../input/locale-fields.ts'
import { namedInput } from '../rest/named.ts'
import { assertSomeText, type SomeText, type TemplateFields, templateTextFields } from './input.ts'
import { assertOneText } from './text-fields.ts'

/** How to render a template, with the parts of its channel, such as `slack: { blocks }`, as a send takes them. */
export type PreviewOptions<Channels extends ChannelParts = AnyChannel> = RenderOptions & PartsOf<Channels>

/** The parts of a channel, under its name. */
export type PartsOf<Channels extends ChannelParts> = {
  readonly [Name in keyof Channels & string]?: Channels[Name] | undefined
}

interface Reader {
  /** The application's id of a person, whose locale and time zone are used. Default: no person. */
  readonly recipient?: string | undefined
  /** The time zone of dates. Default: that of the recipient, else of the organization. */
  readonly timeZone?: string | undefined
}

interface RenderOptions extends Reader {
  /** Default: that of the recipient, else of the organization. */
  readonly locale?: string | undefined
  /** The name of another layout; null: none. Default: the template's. */
  readonly layout?: string | null | undefined
  /** True: the draft instead of the newest version. Default false. */
  readonly draft?: boolean | undefined
}

/** An unstored template with example values, and with parts of its channel. */
export type TemplateDraft<Channels extends ChannelParts = AnyChannel> = DraftFields &
  SomeText &
  PartsOf<Channels>

interface DraftFields extends Omit<TemplateFields, 'name' | 'description' | 'metadata' | 'category'>, Reader {
  /** The locale to render. Default: that of the recipient, else of the organization. */
  readonly inLocale?: string | undefined
  /** Values for the placeholders. */
  readonly variables?: JsonFields | undefined
  /** The same as `variables`, which has precedence. */
  readonly data?: JsonFields | undefined
}

export const timeZone: z.ZodType<string | undefined> = timeZoneName
  .optional()
  .describe('The time zone of dates. Default: that of the recipient, else of the organization.')

export const draft: z.ZodType<boolean | undefined> = z
  .boolean()
  .optional()
  .describe('True: the draft instead of the newest version.')

const reader = {
  recipient: recipientId
    .optional()
    .describe("The application's id of a person, whose locale and time zone are used."),
  timeZone,
}

const renderLocale = localeName
  .optional()
  .describe('The locale to render. Default: that of the recipient, else of the organization.')

const renderFields = {
  ...reader,
  locale: renderLocale,
  layout: text(1, 100).nullish().describe('Another layout; null: none.'),
  draft,
}

/** Example values for the placeholders. */
export const valueFields: { readonly [Name in keyof PreviewValues]-?: z.ZodType<ParsedValues> } = {
  variables: jsonObject.optional().describe('Values for the placeholders of the template.'),
  data: jsonObject.optional().describe('The same as `variables`, which has precedence.'),
}

type ParsedValues = Record<string, unknown> | undefined

export interface PreviewValues {
  readonly variables?: ParsedValues
  readonly data?: ParsedValues
}

const { metadata: _, ...textFields } = templateTextFields
const draftFields = { channel, ...textFields, ...reader, inLocale: renderLocale, ...valueFields }

type ParsedParts = { readonly [parts: string]: unknown }
type ParsedDraft = Omit<DraftFields, keyof PreviewValues> & PreviewValues & ParsedParts

/** Example values for the placeholders. */
export const exampleValues: z.ZodType<PreviewValues> = z.object(valueFields)

/** Placeholders in the table of routes; each notifier adds the parts of its channels. */
export const previewInput: z.ZodType = namedInput(
  'PreviewRequest',
  z.looseObject({ ...valueFields, ...renderFields }),
)
export const templateDraft: z.ZodType = namedInput('TemplateDraft', z.looseObject(draftFields))

/** What previews take, with the parts of all known channel kinds. */
export interface PreviewInputs {
  /** The options of a call. */
  readonly options: z.ZodType<RenderOptions & ParsedParts>
  /** The body over REST: values and options. */
  readonly body: z.ZodType
  /** An unstored template. */
  readonly draft: z.ZodType<ParsedDraft>
}

export function previewInputsOf(kinds: Iterable<ChannelKind>): PreviewInputs {
  const parts = partsFields(kinds)
  return {
    options: z.strictObject({ ...parts, ...renderFields }),
    body: z.object({ ...parts, ...valueFields, ...renderFields }),
    draft: z.object({ ...parts, ...draftFields }).check(assertOneText, assertSomeText),
  }
}
