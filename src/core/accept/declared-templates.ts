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
