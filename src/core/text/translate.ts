import type { Bounds } from '../input/bounds.ts'
import {
  type CatalogueMessage,
  costOfReading,
  fitsArgument,
  type Language,
  missingTranslation,
  wrongValue,
} from './language.ts'
import { isLinkName } from './links.ts'
import { type Budget, lookUpIn, type Scope, spend, writeMessage } from './write.ts'

/** A value of a message. A date is a `Date`, ISO 8601 or epoch milliseconds. */
export type MessageValue = string | number | boolean | Date | null | undefined

/**
 * A message of the catalogues in the language of the reader, as plain text.
 *
 * @param key as in `{{@key}}`. One that no locale has refuses the send with `missing_translation`
 * @param values of the message; those that are not given are the variables of the template
 * @throws NotifierError `invalid_template_variable` for a value that is missing or of another type, `message_too_large`
 */
export type Translate = (key: string, values?: Readonly<Record<string, MessageValue>>) => string

/** The messages of a text that a function writes. */
export interface Translation {
  readonly translate: Translate
  /** The requested keys. */
  readonly keys: Iterable<string>
  /** What it cost so far, in tags that a text expands. */
  readonly cost: number
  /** @throws NotifierError `missing_translation`, which names the keys that no locale has */
  assertFound(): void
}

/** The messages read in a language. The texts of a batch share them, so that each is read once. */
const known = new WeakMap<Language, Map<string, CatalogueMessage | null>>()

/**
 * @param given the values outside those of a call: first the variables, then the links and the organization
 * @param bounds of all messages together
 */
export function createTranslation(
  language: Language,
  given: { readonly variables: unknown; readonly links: object },
  timeZone: string,
  bounds: Bounds,
): Translation {
  const read = known.get(language) ?? new Map<string, CatalogueMessage | null>()
  known.set(language, read)
  const keys = new Set<string>()
  const budget: Budget = { bounds, spent: { pieces: 0, characters: 0 } }
  let reading = 0
  const outermost: Scope = { values: given.links, outer: { values: language, outer: null } }
  const around: Scope = { values: given.variables, outer: outermost }

  function messageOf(key: string): CatalogueMessage | null {
    keys.add(key)
    const before = read.get(key)
    if (before !== undefined) return before
    const found = language.message(key)
    if (found !== null) reading += Math.ceil(costOfReading(found))
    read.set(key, found)
    return found
  }

  return {
    keys,
    get cost() {
      return reading + budget.spent.pieces
    },
    translate(key, values = {}) {
      spend(1, budget)
      const found = messageOf(key)
      if (found === null) return ''
      const scope: Scope = { values, outer: around }
      const lookUpValue = (name: string) => lookUpIn(isLinkName(name) ? outermost : scope, name)
      for (const { name, type, required } of found.args)
        if (required && !fitsArgument(lookUpValue(name), type)) throw wrongValue(name, type)
      return writeMessage(found, lookUpValue, asItIs, timeZone, budget)
    },
    assertFound() {
      const missing = [...keys].filter((key) => read.get(key) === null)
      if (missing.length > 0) throw missingTranslation(missing, language.locales)
    },
  }
}

const asItIs = (value: string): string => value
