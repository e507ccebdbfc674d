import type { DeclaredTemplate, DeclaredTemplates } from '../../core/accept/declared-templates.ts'
import type { JsonFields } from '../../core/input/json-fields.ts'
import type { Metadata } from '../../core/input/metadata.ts'
import type { SchemaInput, SchemaOutput, StandardSchema } from '../../core/input/standard-schema.ts'
import type { Branding } from '../../core/tenancy/organization.ts'
import type { MessageLinks } from '../../core/text/links.ts'
import type { Translate } from '../../core/text/translate.ts'

/** What a text function is given. */
export interface TextContext<Variables> {
  /** What the schema makes of the variables. */
  readonly variables: Variables
  /** The locale of the message, as BCP 47: of the send, the recipient, the organization or the application. */
  readonly locale: string
  /** The IANA time zone of the message, chosen in the same way. */
  readonly timeZone: string
  /** The name, logo and colour of the organization. The name is null for `org_default`, unless it was given one. */
  readonly organization: Branding
  /**
   * The links of the message, for use as they are. They need the option `publicUrl`. Placeholders: each message
   * replaces them with its own links.
   */
  readonly urls: MessageLinks
}

/** The second argument of a text function in a template with `messages: true`. */
export interface TranslatedContext<Variables> extends TextContext<Variables> {
  /** A message of the catalogues: `t('welcome.title', { name })`. React escapes it; in a string of HTML, escape it. */
  readonly t: Translate
}

/** An element of React, as `createElement` or JSX makes it. */
export interface ReactNodeLike {
  readonly type: unknown
  readonly props: unknown
  readonly key: string | null
}

/** Writes a text of a template. */
export type TextFunction<Context, Text> = (context: Context) => Text | Promise<Text>

/** A template in code. `Schema` is the type of its `variables`. */
export type TemplateDefinition<Schema = unknown> =
  | (TemplateTexts<Schema, TextContext<OutputOf<Schema>>> & {
      /** True: its functions take messages from the catalogues, by `t`. Default false. */
      readonly messages?: false | undefined
    })
  | (TemplateTexts<Schema, TranslatedContext<OutputOf<Schema>>> & { readonly messages: true })

/** The fields of a template in code. */
export interface TemplateTexts<Schema, Context> {
  /** The name of its channel, such as `email`. */
  readonly channel: string
  /** The schema of its variables: of zod, valibot, arktype or another library with Standard Schema. Default: any values. */
  readonly variables?: Schema | undefined
  /** Values for previews. */
  readonly example?: InputOf<Schema> | undefined
  /** Mustache, or a function. Where it appears depends on the channel. */
  readonly subject?: string | TextFunction<Context, string> | undefined
  /** HTML of a mail: mustache, or a function that returns HTML or a React element, for which `@react-email/render` is needed. */
  readonly html?: string | TextFunction<Context, string | ReactNodeLike> | undefined
  /** Instead of `html`: MJML with mustache, compiled by the package `mjml` when the notifier starts. */
  readonly mjml?: string | undefined
  /**
   * Plain text: mustache, or a function that returns text or a React element. With `html` its alternative, which is
   * otherwise made from the HTML.
   */
  readonly text?: string | TextFunction<Context, string | ReactNodeLike> | undefined
  /** Instead of `html` and `text`: mustache, which is HTML if it has a closing tag and the channel has HTML. */
  readonly body?: string | undefined
  /** A note for readers of the code or file. */
  readonly description?: string | undefined
  /** The name of a layout around mustache texts. Default: none. */
  readonly layout?: string | undefined
  /** The locale of the mustache texts, as BCP 47. Default: that of the organization. */
  readonly locale?: string | undefined
  /** The mustache texts in other locales. A function gets the locale. */
  readonly locales?: Readonly<Record<string, TemplateVariantDefinition>> | undefined
  /** Id of the category of messages that name none. Default: `default`. */
  readonly category?: string | undefined
  /** Metadata of every message, unless the send has the same pair. */
  readonly metadata?: Metadata | undefined
  /** True: it has no text here; each organization has a stored template of this name and channel. Default false. */
  readonly stored?: boolean | undefined
}

/** The texts of a template in another locale: those that are mustache. */
export interface TemplateVariantDefinition {
  /** Default: that of the template. */
  readonly subject?: string | undefined
  readonly html?: string | undefined
  readonly mjml?: string | undefined
  readonly text?: string | undefined
  readonly body?: string | undefined
}

/** The result of {@link defineTemplates}, for the option `templates`. */
export interface DefinedTemplates<Templates extends DeclaredTemplates = object> {
  /** Types only. */
  readonly '~templates'?: Templates | undefined
}

/**
 * Declares templates in code, by name: lower-case words joined by hyphens.
 *
 * @example
 * const templates = defineTemplates({
 *   welcome: {
 *     channel: 'email',
 *     variables: z.object({ name: z.string() }),
 *     subject: 'Welcome, {{name}}',
 *     html: '<p>Hi {{name}}, your account is ready.</p>',
 *   },
 * })
 */
export function defineTemplates<
  Schemas extends Readonly<Record<string, unknown>>,
  const Channels extends Readonly<Record<string, string>>,
>(
  templates: { readonly [Name in keyof Schemas]: TemplateDefinition<Schemas[Name]> } & {
    readonly [Name in keyof Channels]: { readonly channel: Channels[Name] }
  },
): DefinedTemplates<{
  readonly [Name in keyof Channels & string]: DeclaredTemplate<
    Channels[Name],
    Name extends keyof Schemas ? InputOf<Schemas[Name]> : JsonFields
  >
}> {
  return { ...templates }
}

type InputOf<Schema> = Schema extends StandardSchema ? SchemaInput<Schema> : JsonFields

type OutputOf<Schema> = Schema extends StandardSchema
  ? SchemaOutput<Schema>
  : Readonly<Record<string, unknown>>
