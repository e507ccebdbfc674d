import type { JsonFields } from '../input/json-fields.ts'

/**
 * What a notifier knows about its templates in code, by name:
 * `{ welcome: { channel: 'email'; variables: { name: string } } }`.
 */
export type DeclaredTemplates = object

/** The same for one template. */
export interface DeclaredTemplate<Channel extends string = string, Variables = unknown> {
  readonly channel: Channel
  readonly variables: Variables
}

/** For a notifier without templates in code: any name and any values. */
export type AnyTemplate = { readonly [name: string]: unknown }

/** The fields of a message that are about its template. */
export type TemplateFields = {
  /** Id or name of a template. */
  readonly template?: string | undefined
  /** Values for the template's placeholders. Without a template, refused if the text contains placeholders. */
  readonly variables?: JsonFields | undefined
  /** The same as `variables`, which has precedence. */
  readonly data?: JsonFields | undefined
}

/** A template of a channel with its values: one that is declared in code, or a stored one by its id. */
export type OfTemplate<Templates extends DeclaredTemplates, Channel> = string extends keyof Templates
  ? TemplateFields & { readonly template: string }
  : OfName<Templates, Channel> | OfId

type OfId = {
  readonly template: `tpl_${string}`
  readonly variables?: JsonFields | undefined
  readonly data?: JsonFields | undefined
}

type OfName<Templates extends DeclaredTemplates, Channel> = {
  [Name in keyof Templates & string]: Templates[Name] extends DeclaredTemplate<infer Own, infer Variables>
    ? [Own & Channel] extends [never]
      ? never
      : { readonly template: Name; readonly data?: undefined } & Values<Variables>
    : never
}[keyof Templates & string]

type Values<Variables> = JsonFields extends Variables
  ? { readonly variables?: JsonFields | undefined }
  : object extends Variables
    ? { readonly variables?: JsonOf<Variables> | undefined }
    : { readonly variables: JsonOf<Variables> }

/** A template for each channel of a message: `{ email: 'welcome-mail', push: 'welcome-push' }`. */
export type TemplateByChannel = { readonly [channel: string]: string }

/**
 * A template for each channel. All get the same variables: a value that none of the templates of these channels takes under
 * its name does not compile. The notifier says which are missing. Stored templates are named by their ids.
 */
export type OfTemplates<
  Templates extends DeclaredTemplates,
  Channel extends string,
> = string extends keyof Templates
  ? Omit<TemplateFields, 'template'> & {
      readonly template: { readonly [On in Channel]?: string | undefined }
    }
  :
      | {
          readonly template: { readonly [On in Channel]?: NameOn<Templates, On> | undefined }
          readonly variables?: (JsonFields & Shared<VariablesOn<Templates, Channel>>) | undefined
          readonly data?: undefined
        }
      | {
          readonly template: { readonly [On in Channel]?: OfId['template'] | undefined }
          readonly variables?: JsonFields | undefined
          readonly data?: JsonFields | undefined
        }

type NameOn<Templates extends DeclaredTemplates, Channel> = OfName<Templates, Channel>['template']

/** Of templates without a schema: never. */
type VariablesOn<Templates extends DeclaredTemplates, Channel> = {
  [Name in keyof Templates & string]: Templates[Name] extends DeclaredTemplate<infer Own, infer Variables>
    ? [Own & Channel] extends [never]
      ? never
      : JsonFields extends Variables
        ? never
        : JsonOf<Variables>
    : never
}[keyof Templates & string]

/** The variables of several templates, any of which may be absent. */
type Shared<Variables> = { readonly [Name in NamesOf<Variables>]?: ValueOf<Variables, Name> | undefined }
type NamesOf<Variables> = Variables extends unknown ? keyof Variables : never
type ValueOf<Variables, Name> = Variables extends unknown
  ? Name extends keyof Variables
    ? Variables[Name]
    : never
  : never

/** A message without a template. */
export type WithoutTemplate<Templates extends DeclaredTemplates> = string extends keyof Templates
  ? TemplateFields
  : Omit<TemplateFields, 'template'> & { readonly template?: undefined }

/**
 * A value as JSON brings it: variables are JSON, in code as over HTTP, so that a schema never sees a Date or a Map. A field
 * of such a type takes no value; let the schema read a text, such as an ISO 8601 date.
 */
type JsonOf<Value> = unknown extends Value
  ? Value
  : Value extends string | number | boolean | null | undefined
    ? Value
    : Value extends NotJson
      ? never
      : { [Key in keyof Value]: JsonOf<Value[Key]> }

type NotJson =
  | Date
  | bigint
  | symbol
  | ((...input: never[]) => unknown)
  | ReadonlyMap<unknown, unknown>
  | ReadonlySet<unknown>
