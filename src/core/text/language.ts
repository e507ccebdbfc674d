import { NotifierError } from '../errors/notifier-error.ts'
import type { Steps } from '../loop/steps.ts'
import { childrenOf, type Token } from './parse.ts'

/** A value that a message takes from the variables. */
export interface MessageArgument {
  readonly name: string
  readonly type: 'text' | 'number' | 'date'
  /** False: it is used in some branches only. */
  readonly required: boolean
}

/** A message of a catalogue in one language. */
export interface CatalogueMessage {
  /** Characters of its source. */
  readonly length: number
  /** How often it inserts a value, at most. */
  readonly uses: number
  /** What one use costs at most, in tags of a text. */
  readonly work: number
  /** The different formats of its numbers and dates: each is expensive at its first use. */
  readonly formats: readonly string[]
  readonly args: readonly MessageArgument[]
  /**
   * @param value looks a variable up
   * @param escapeValue escapes texts among the values
   * @throws NotifierError `invalid_template_variable` for a value of another type
   */
  format(value: (name: string) => unknown, escapeValue: (value: string) => string, timeZone: string): string
}

/** The language of a text. */
export interface Language {
  readonly locale: string
  readonly dir: 'ltr' | 'rtl'
  /** The locales in which a key is looked up, in order. */
  readonly locales: readonly string[]
  /** Null: no locale has the key. */
  message(key: string): CatalogueMessage | null
}

/** Names joined by dots. */
export const MESSAGE_KEY: RegExp = /^[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*$/

/** The names that every text in a language has, unless its variables have them. */
export const LANGUAGE_NAMES: readonly string[] = ['locale', 'dir']

/** Any language, for checks of a template: it may be written before its messages. */
export const ANY_LANGUAGE: Language = {
  locale: 'en',
  dir: 'ltr',
  locales: [],
  message: () => ({ length: 0, uses: 0, work: 0, formats: [], args: [], format: () => '' }),
}

/** `{{@key}}` is a message of a catalogue. */
export function messageKey([type, name]: Token): string | null {
  return (type === 'name' || type === '&') && name.startsWith('@') ? name.slice(1) : null
}

/** What reading a message costs, in tags that a text expands; measured. */
export function costOfReading({ length, work }: CatalogueMessage): number {
  return 100 + length / 4 + 3 * work
}

/**
 * The messages of texts, by key, with a step for each.
 *
 * @throws NotifierError `missing_translation` for keys that no locale has
 */
export function* messagesIn(
  sources: readonly (readonly Token[])[],
  language: Language | null,
): Steps<ReadonlyMap<string, CatalogueMessage>> {
  const messages = new Map<string, CatalogueMessage>()
  const missing = new Set<string>()
  function* visit(level: readonly Token[]): Steps<void> {
    for (const token of level) {
      yield* visit(childrenOf(token))
      const key = messageKey(token)
      if (key === null || messages.has(key)) continue
      const message = language?.message(key) ?? null
      if (message === null) missing.add(key)
      else messages.set(key, message)
      yield
    }
  }
  for (const source of sources) yield* visit(source)
  if (missing.size > 0) throw missingTranslation([...missing], language?.locales ?? [])
  return messages
}

/** Maximum number of keys in an error. */
const MOST_KEYS = 10

export function missingTranslation(keys: readonly string[], locales: readonly string[]): NotifierError {
  const some = keys.slice(0, MOST_KEYS)
  const list = some.map((key) => `"${key}"`).join(', ')
  return new NotifierError('missing_translation', {
    message: `The template needs ${keys.length === 1 ? 'the message' : 'the messages'} ${list}, which no locale has (${locales.join(', ')}).`,
    details: { keys: some, locales },
  })
}

/** The values of a type in words, to follow "must be". */
export const EXPECTED_VALUE: Readonly<Record<MessageArgument['type'], string>> = {
  text: 'a text, a number or a boolean',
  number: 'a number',
  date: 'a date in ISO 8601',
}

/** The error for a message with a missing value, or one of another type. */
export function wrongValue(name: string, type: MessageArgument['type']): NotifierError {
  return new NotifierError('invalid_template_variable', {
    message: `A message of the template needs the variable "${name}": it must be ${EXPECTED_VALUE[type]}.`,
    details: { field: 'variables', missing: [name] },
  })
}

/** Whether a value can be formatted as an argument. */
export function fitsArgument(value: unknown, type: MessageArgument['type']): boolean {
  if (type === 'number') return numberOf(value) !== null
  if (type === 'date') return dateOf(value) !== null
  return typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)
}

/** Maximum length of a number or date as text. */
const MOST_DIGITS = 1_000

/** A number, or a text that is one. Null: neither. */
export function numberOf(value: unknown): number | null {
  if (typeof value === 'string' && value.length > MOST_DIGITS) return null
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : null
}

/** A date, an ISO 8601 text, or epoch milliseconds. Null: another value. */
export function dateOf(value: unknown): Date | null {
  if (typeof value !== 'string' && typeof value !== 'number' && !(value instanceof Date)) return null
  if (typeof value === 'string' && value.length > MOST_DIGITS) return null
  const date = new Date(value)
  return Number.isNaN(date.getTime()) ? null : date
}
