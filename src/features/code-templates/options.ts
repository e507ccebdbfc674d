import * as z from 'zod'
import type { ChannelKind } from '../../core/channels/channel-kind.ts'
import { type Kinds, unknownChannel } from '../../core/channels/kinds.ts'
import { invalidOption } from '../../core/errors/invalid-option.ts'
import { isNotifierError, type NotifierError } from '../../core/errors/notifier-error.ts'
import { assertTemplateBounds, type Bounds, HIGHEST_BOUNDS } from '../../core/input/bounds.ts'
import { channel, fewFields, text } from '../../core/input/fields.ts'
import { canonicalLocale } from '../../core/input/locale.ts'
import { localeName } from '../../core/input/locale-fields.ts'
import { metadataInput } from '../../core/input/metadata.ts'
import { assertKeys, assertObject, wrong } from '../../core/input/option-checks.ts'
import { parseInput } from '../../core/input/parse.ts'
import { isStandardSchema, type StandardSchema } from '../../core/input/standard-schema.ts'
import { categoryId } from '../../core/notification/category-id.ts'
import { assertTemplateText } from '../../core/text/assert-text.ts'
import { MAX_SUBJECT_LENGTH } from '../../core/text/compile.ts'
import { assertFormat, formatOf } from '../../core/text/format.ts'
import { SHARED_NAME } from '../../core/text/shared-text.ts'
import type { DefinedTemplates, TextFunction, TranslatedContext } from './define.ts'

export type AnyTextFunction = TextFunction<TranslatedContext<unknown>, unknown>

type Source = string | AnyTextFunction

/** A definition of the option `templates` with its name. */
export interface CodeDefinition {
  readonly name: string
  readonly channel: string
  readonly variables?: StandardSchema | undefined
  readonly example?: unknown
  readonly subject?: Source | undefined
  readonly html?: Source | undefined
  readonly mjml?: string | undefined
  readonly text?: Source | undefined
  readonly description?: string | undefined
  readonly layout?: string | undefined
  readonly locale?: string | undefined
  readonly locales?: Readonly<Record<string, VariantSources>> | undefined
  readonly category?: string | undefined
  readonly metadata?: Readonly<Record<string, string>> | undefined
  readonly messages?: boolean | undefined
  readonly stored?: boolean | undefined
}

/** The mustache texts of a locale. */
export interface VariantSources {
  readonly subject?: string | undefined
  readonly html?: string | undefined
  readonly mjml?: string | undefined
  readonly text?: string | undefined
}

/** Maximum number of templates. */
const MAX_TEMPLATES = 1_000

const isFunction = (value: unknown): boolean => typeof value === 'function'
const subject = text(0, MAX_SUBJECT_LENGTH)
const source = text(1, HIGHEST_BOUNDS.textBytes)
const orFunction = (mustache: z.ZodType<string, string>) =>
  z.union([mustache, z.custom<AnyTextFunction>(isFunction)], 'must be a text or a function')

const variant = z.strictObject({
  subject: subject.optional(),
  html: source.optional(),
  mjml: source.optional(),
  text: source.optional(),
  body: source.optional(),
})

const definition = z.strictObject({
  channel,
  variables: z
    .custom<StandardSchema>(isStandardSchema, 'must be a schema of zod, valibot or another Standard Schema')
    .optional(),
  example: z.unknown().optional(),
  subject: orFunction(subject).optional(),
  html: orFunction(source).optional(),
  mjml: source.optional(),
  text: orFunction(source).optional(),
  body: source.optional(),
  description: text(0, 2_000).optional(),
  layout: text(1, 100).optional(),
  locale: localeName.optional(),
  locales: fewFields(
    HIGHEST_BOUNDS.locales,
    `must have at most ${HIGHEST_BOUNDS.locales} locales`,
    z.record(
      z.string().refine((name) => canonicalLocale(name) !== null, 'must be a locale, such as de or fr-BE'),
      variant,
    ),
  ).optional(),
  category: categoryId.optional(),
  metadata: metadataInput.optional(),
  messages: z.boolean().optional(),
  stored: z.boolean().optional(),
})

const TEXTS = ['subject', 'html', 'mjml', 'text'] as const

/**
 * The option `templates`.
 *
 * @throws NotifierError `invalid_configuration`, which names the template and the field
 */
export function resolveCodeTemplates(
  option: DefinedTemplates | undefined = {},
  kinds: Kinds,
  configured: readonly string[],
  bounds: Bounds,
): readonly CodeDefinition[] {
  assertObject('templates', option)
  const entries = Object.entries(option as Readonly<Record<string, unknown>>)
  if (entries.length > MAX_TEMPLATES) throw wrong('templates', `an object of at most ${MAX_TEMPLATES}`)
  const definitions = entries.map(([name, given]) => resolved(name, given, kinds, bounds))
  for (const { name, channel } of definitions)
    if (!configured.includes(channel))
      throw wrong(
        `templates.${name}.channel`,
        `a channel of the option "channels" (${configured.join(', ') || 'it has none'}); "${channel}" is not one`,
      )
  return definitions
}

function resolved(name: string, given: unknown, kinds: Kinds, bounds: Bounds): CodeDefinition {
  const option = `templates.${name}`
  if (!SHARED_NAME.test(name) || name.length > 100)
    throw wrong(option, 'named by lower-case words joined by hyphens')
  assertObject(option, given)
  assertKeys(`${option}.`, given as object, Object.keys(definition.shape))
  const { body, ...written } = within(option, () => parseInput(definition, given, name))
  const kind = within(option, () => {
    const found = kinds.known.get(written.channel)
    if (found === undefined) throw unknownChannel(written.channel, kinds)
    return found
  })
  const parsed = body === undefined ? withoutBodies(option, written) : withBody(option, written, body, kind)
  const { locales = {} } = parsed
  within(
    option,
    () => {
      assertFormat(kind, { html: parsed.html === undefined && parsed.mjml === undefined ? undefined : '' })
      assertTemplateBounds({ ...textsOf(mustacheOf(parsed)), locales: variantTextsOf(locales) }, bounds)
      assertMustache(mustacheOf(parsed), bounds)
    },
    given as object,
  )
  for (const [locale, variant] of Object.entries(locales))
    within(
      `${option}.locales.${locale}`,
      () => assertMustache(variant, bounds, `template (locale ${locale})`),
      variant,
    )
  assertTexts(option, parsed)
  for (const [locale, variant] of Object.entries(locales)) assertVariant(option, parsed, locale, variant)
  const byLocale = Object.entries(locales).map(([locale, variant]) => [
    canonicalLocale(locale) ?? locale,
    variant,
  ])
  return { ...parsed, name, locales: Object.fromEntries(byLocale) }
}

type DefinitionInput = Omit<z.output<typeof definition>, 'body'>

type WithoutBodies = Omit<CodeDefinition, 'name'>

/** A `body` is HTML or text by its source, and so are those of its variants. */
function withBody(option: string, given: DefinitionInput, body: string, kind: ChannelKind): WithoutBodies {
  const named = (['html', 'mjml', 'text'] as const).find((field) => given[field] !== undefined)
  if (named !== undefined) throw wrong(`${option}.${named}`, 'absent with "body"')
  const field = formatOf(kind, undefined, body)
  const { locales, ...rest } = given
  const variants = Object.entries(locales ?? {}).map(([locale, { body: own, ...variant }]) => {
    if (own === undefined) throw wrong(`${option}.locales.${locale}.body`, 'given, as in the template itself')
    return [locale, { ...variant, [field]: own }] as const
  })
  return {
    ...rest,
    [field]: body,
    ...(locales === undefined ? {} : { locales: Object.fromEntries(variants) }),
  }
}

function withoutBodies(option: string, given: DefinitionInput): WithoutBodies {
  for (const [locale, { body }] of Object.entries(given.locales ?? {}))
    if (body !== undefined)
      throw wrong(`${option}.locales.${locale}.body`, 'absent, as in the template itself')
  return given
}

/** The texts that are mustache. */
export function mustacheOf(definition: Pick<CodeDefinition, (typeof TEXTS)[number]>): VariantSources {
  const { subject, html, mjml, text } = definition
  return { subject: asMustache(subject), html: asMustache(html), mjml, text: asMustache(text) }
}

function assertMustache(sources: VariantSources, bounds: Bounds, owner?: string): void {
  assertTemplateText(textsOf(sources), bounds, owner)
}

function textsOf({ subject, html, mjml, text }: VariantSources) {
  return { subject, html: html ?? mjml, text }
}

function variantTextsOf(locales: Readonly<Record<string, VariantSources>>) {
  return Object.fromEntries(Object.entries(locales).map(([locale, variant]) => [locale, textsOf(variant)]))
}

function asMustache(source: Source | undefined): string | undefined {
  return typeof source === 'string' ? source : undefined
}

function assertTexts(option: string, definition: Omit<CodeDefinition, 'name'>): void {
  const { html, mjml, text, layout, locales, messages, stored } = definition
  if (stored === true) {
    const given = [...TEXTS, 'layout', 'locale', 'locales', 'category', 'metadata', 'messages'] as const
    const named = given.find((field) => definition[field] !== undefined)
    if (named !== undefined)
      throw wrong(`${option}.${named}`, 'absent with "stored": it is that of the stored template')
    return
  }
  if (html === undefined && mjml === undefined && text === undefined)
    throw wrong(option, 'an object with "html", "text" or both, or with "stored: true"')
  if (html !== undefined && mjml !== undefined) throw wrong(`${option}.mjml`, 'absent with "html"')
  if (layout !== undefined && (mjml !== undefined || [html, text].some(isFunction)))
    throw wrong(`${option}.layout`, 'absent: a layout surrounds mustache only')
  if (messages === true && !TEXTS.some((field) => isFunction(definition[field])))
    throw wrong(`${option}.messages`, 'absent: mustache has a message as {{@key}}')
  if (locales !== undefined && TEXTS.every((field) => asMustache(definition[field]) === undefined))
    throw wrong(`${option}.locales`, 'absent: a function gets the locale')
}

/** A variant has the bodies of the template, as far as they are mustache. */
function assertVariant(
  option: string,
  definition: Omit<CodeDefinition, 'name'>,
  locale: string,
  variant: VariantSources,
): void {
  const place = `${option}.locales.${locale}`
  for (const field of TEXTS) {
    const own = definition[field]
    if (variant[field] !== undefined && typeof own === 'function')
      throw wrong(`${place}.${field}`, 'absent: the template has a function, which gets the locale')
    if (field !== 'subject' && variant[field] === undefined && typeof own === 'string')
      throw wrong(`${place}.${field}`, 'given, as in the template itself')
    if (field !== 'subject' && variant[field] !== undefined && own === undefined)
      throw wrong(`${place}.${field}`, 'absent, as in the template itself')
  }
}

/**
 * @param given has the fields that errors of `check` name
 * @throws NotifierError `invalid_configuration` for any error of `check`
 */
export async function checked(option: string, check: () => Promise<void>, given?: object): Promise<void> {
  try {
    await check()
  } catch (error) {
    throw ofOption(option, error, given)
  }
}

function within<Result>(option: string, check: () => Result, given?: object): Result {
  try {
    return check()
  } catch (error) {
    throw ofOption(option, error, given)
  }
}

function ofOption(option: string, error: unknown, given: object | undefined): unknown {
  if (!isNotifierError(error) || error.code === 'missing_peer') return error
  const field = given === undefined ? FIELD.exec(String(error.details?.field))?.[0] : fieldOf(error, given)
  const place = field === undefined ? option : `${option}.${field}`
  return invalidOption(place, `The option "${place}": ${error.message}`, error)
}

/** Of a definition, perhaps with a path. */
const FIELD = new RegExp(`^(?:${Object.keys(definition.shape).join('|')})(?:\\..*)?$`)

/** HTML may be made of MJML or a body. */
function fieldOf({ details }: NotifierError, given: object): string | undefined {
  const field = details?.field
  if (typeof field !== 'string') return undefined
  const written =
    field === 'subject' || field === 'layout' ? [field] : [field, 'mjml', 'body', 'html', 'text']
  return written.find((name) => Object.hasOwn(given, name))
}
