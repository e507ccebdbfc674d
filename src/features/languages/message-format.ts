import type { IntlMessageFormat } from 'intl-messageformat'
import { assertWithin, type Bounds } from '../../core/input/bounds.ts'
import { createBoundedCache } from '../../core/loop/bounded-cache.ts'
import {
  type CatalogueMessage,
  dateOf,
  type MessageArgument,
  numberOf,
  wrongValue,
} from '../../core/text/language.ts'
import { tokensIn } from './input.ts'
import { assertDateSkeleton, assertNumberSkeleton, numberOptions } from './skeletons.ts'

type Element = ReturnType<IntlMessageFormat['getAst']>[number]

/** Parses and formats messages of catalogues, and matches locales. */
export interface Formatting {
  /** @throws Error for a malformed message, or one with a format that does not exist */
  compile(source: string, locale: string): CatalogueMessage
  /** Checks a message before it is stored. @throws Error for what `compile` refuses, or a format that does not exist */
  check(source: string, locale: string): void
  /** The best match; null: none. */
  best(locale: string, among: readonly string[]): string | null
}

let loading: Promise<Formatting> | null = null

/** Loads the libraries on first use: most applications have one language. */
export function loadFormatting(): Promise<Formatting> {
  loading ??= load()
  return loading
}

async function load(): Promise<Formatting> {
  const [{ IntlMessageFormat: Format }, { match }] = await Promise.all([
    import('intl-messageformat'),
    import('@formatjs/intl-localematcher'),
  ])
  return {
    compile(source, locale) {
      const key = `${locale}\n${source}`
      const known = messages.get(key)
      if (known !== undefined) return known
      const message = compile(Format, source, locale)
      messages.set(key, message, sizeOf(source))
      return message
    },
    check(source, locale) {
      compile(Format, source, locale, assertFormats)
    },
    best(locale, among) {
      const found = match([locale], among, NO_LOCALE)
      return found === NO_LOCALE ? null : found
    },
  }
}

/** "Undetermined": no text is written in it. */
const NO_LOCALE = 'und'

const TEXT = 0

/** The types of elements in a message. */
const TYPES: Readonly<Record<number, MessageArgument['type']>> = {
  1: 'text',
  2: 'number',
  3: 'date',
  4: 'date',
  5: 'text',
  6: 'number',
}

/**
 * Checks the size of a message before it is read, which is expensive.
 *
 * @throws NotifierError `invalid_parameter`
 */
export function assertMessageSize(field: string, source: string, bounds: Bounds): void {
  assertWithin(field, source.length, 'messageCharacters', 'characters', bounds)
  const tokens = 'arguments, number signs, branches and words of formats'
  assertWithin(field, tokensIn(source), 'messageTokens', tokens, bounds)
}

/** @throws Error for a format that does not exist */
function assertFormats(Format: typeof IntlMessageFormat, elements: readonly Element[]): void {
  for (const element of elementsIn(elements)) assertFormat(Format, element)
}

/** Everything but text, with what is in the branches. */
function* elementsIn(elements: readonly Element[]): Generator<Element> {
  for (const element of elements) {
    if (element.type !== TEXT) yield element
    if (!('options' in element)) continue
    for (const { value } of Object.values(element.options)) yield* elementsIn(value)
  }
}

/** The different formats of numbers and dates. */
function formatsIn(elements: readonly Element[]): readonly string[] {
  const formats = new Set<string>()
  for (const element of elementsIn(elements))
    if ('style' in element && element.style != null)
      formats.add(`${element.type}${JSON.stringify(element.style)}`)
  return [...formats]
}

const FORMATS = { 2: 'number', 3: 'date', 4: 'time' } as const

/** @throws Error that names a format which does not exist */
function assertFormat(Format: typeof IntlMessageFormat, element: Element): void {
  if (!(element.type in FORMATS) || !('style' in element) || element.style == null) return
  const { style } = element
  if (typeof style !== 'string') {
    if ('tokens' in style) assertNumberSkeleton(style.tokens)
    return
  }
  if (!Object.hasOwn(Format.formats[FORMATS[element.type as keyof typeof FORMATS]], style))
    throw new Error(`the format "${style}" does not exist`)
}

/** Parses the skeletons instead of the library. @throws Error that names an unknown word or field */
function readSkeletons(Format: typeof IntlMessageFormat, elements: readonly Element[]): void {
  for (const element of elementsIn(elements)) {
    if (!('style' in element) || typeof element.style !== 'object' || element.style === null) continue
    const { style } = element
    style.parsedOptions =
      'tokens' in style
        ? numberOptions(style.tokens)
        : kept(`s${style.pattern}`, () => dateOptions(Format, style.pattern))
  }
}

function dateOptions(Format: typeof IntlMessageFormat, pattern: string): Intl.DateTimeFormatOptions {
  assertDateSkeleton(pattern)
  const [element] = new Format(`{d, date, ::${pattern}}`).getAst()
  const style = element !== undefined && 'style' in element ? element.style : null
  return typeof style === 'object' && style !== null && 'pattern' in style ? style.parsedOptions : {}
}

/** Formatting a part costs as much as this many tags of a text; measured. */
const WORK_OF_A_PART = 3
/** The cost of an element in parts. Others cost one. */
const WORK: Readonly<Record<number, number>> = { 0: 0, 2: 3, 3: 4, 4: 4, 6: 4, 7: 3 }

/** The cost of elements, with the most expensive branch of each. */
function workOf(elements: readonly Element[]): number {
  return elements.reduce((sum, element) => {
    const branches =
      'options' in element ? Object.values(element.options).map(({ value }) => workOf(value)) : []
    return sum + (WORK[element.type] ?? 1) + Math.max(0, ...branches)
  }, 0)
}

function compile(
  Format: typeof IntlMessageFormat,
  source: string,
  locale: string,
  check?: typeof assertFormats,
): CatalogueMessage {
  let timeZone = 'UTC'
  const formatters = {
    getNumberFormat: (_: unknown, options?: object) =>
      kept(`n${locale}${JSON.stringify(options)}`, () => new Intl.NumberFormat(locale, options)),
    // Without a style, dates are of medium length (ICU), like times in the library.
    getDateTimeFormat: (_: unknown, options: object | undefined = Format.formats.date.medium) =>
      kept(
        `d${locale}${timeZone}${JSON.stringify(options)}`,
        () => new Intl.DateTimeFormat(locale, { timeZone, ...options }),
      ),
    getPluralRules: (_: unknown, options?: object) =>
      kept(`p${locale}${JSON.stringify(options)}`, () => new Intl.PluralRules(locale, options)),
  }
  const given = { ignoreTag: true, shouldParseSkeletons: false, formatters }
  const format = new Format(source, locale, undefined, given)
  check?.(Format, format.getAst())
  readSkeletons(Format, format.getAst())
  const found = argumentsOf(format.getAst(), true)
  const args = merged(found)
  // A currency or unit that does not exist is detected only by its use.
  format.format(Object.fromEntries(args.map(({ name, type }) => [name, type === 'date' ? new Date(0) : 1])))
  return {
    length: source.length,
    // A number sign in a plural means its value.
    uses: found.length + (source.match(/#/g)?.length ?? 0),
    work: WORK_OF_A_PART * (args.length + workOf(format.getAst())),
    formats: formatsIn(format.getAst()),
    args,
    format(value, escapeValue, zone) {
      timeZone = zone
      const values: Values = {}
      for (const arg of args) {
        const given = value(arg.name)
        if (given != null) values[arg.name] = argument(arg, given, escapeValue)
        // Only inside a section, where names are optional.
        else if (arg.required) return ''
        else refuseUse(values, arg)
      }
      return String(format.format(values))
    },
  }
}

type Values = Record<string, string | number | Date>

function argumentsOf(elements: readonly Element[], required: boolean): readonly MessageArgument[] {
  const found: MessageArgument[] = []
  for (const element of elements) {
    const type = TYPES[element.type]
    if (type !== undefined && 'value' in element && typeof element.value === 'string')
      found.push({ name: element.value, type, required })
    if ('options' in element)
      for (const option of Object.values(element.options)) found.push(...argumentsOf(option.value, false))
  }
  return found
}

const STRICTNESS = { text: 0, number: 1, date: 2 }

/** One argument for each name, of the strictest type. */
function merged(found: readonly MessageArgument[]): readonly MessageArgument[] {
  const args = new Map<string, MessageArgument>()
  for (const { name, type, required } of found) {
    const known = args.get(name)
    const stricter = known !== undefined && STRICTNESS[known.type] > STRICTNESS[type]
    args.set(name, {
      name,
      type: stricter ? known.type : type,
      required: required || known?.required === true,
    })
  }
  return [...args.values()]
}

function argument(
  { name, type }: MessageArgument,
  value: unknown,
  escapeValue: (value: string) => string,
): string | number | Date {
  const converted = CONVERTED[type](value)
  if (converted === null) throw wrongValue(name, type)
  return typeof converted === 'string' ? escapeValue(converted) : converted
}

/** The branch that uses a missing value need not be chosen. */
function refuseUse(values: Values, { name, type }: MessageArgument): void {
  Object.defineProperty(values, name, {
    get() {
      throw wrongValue(name, type)
    },
  })
}

function textOf(value: unknown): string | number | null {
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  return typeof value === 'string' || typeof value === 'boolean' ? String(value) : null
}

const CONVERTED = { text: textOf, number: numberOf, date: dateOf }

/** Messages are expensive to read, and functions take them at each send. */
const messages = createBoundedCache<CatalogueMessage>(16 * 1024 * 1024)

/** The bytes of a compiled message, about; measured. */
function sizeOf(source: string): number {
  return 1_000 + 2 * source.length + 600 * tokensIn(source)
}

/** Formatters are expensive to make. */
const formatters = new Map<string, unknown>()
const MOST_FORMATTERS = 2_000

function kept<Made>(key: string, make: () => Made): Made {
  const known = formatters.get(key)
  if (known !== undefined) return known as Made
  if (formatters.size >= MOST_FORMATTERS) formatters.clear()
  const made = make()
  formatters.set(key, made)
  return made
}
