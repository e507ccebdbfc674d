/** Longest name of a locale. */
const MAX_LOCALE_LENGTH = 35
/** Longer than any locale or time zone. */
const MAX_NAME_LENGTH = 64

/** Names whose results are kept: a batch may have each 10,000 times, and Intl takes microseconds. */
const MAX_KEPT = 1_000

/** Keeps the results for the first names. */
function kept<Result>(work: (name: string) => Result): (name: string) => Result {
  const results = new Map<string, Result>()
  return (name) => {
    const known = results.get(name)
    if (known !== undefined) return known
    const result = work(name)
    if (results.size < MAX_KEPT && name.length <= MAX_NAME_LENGTH) results.set(name, result)
    return result
  }
}

/** A BCP 47 name in canonical form, without extensions: `de-at` is `de-AT`. Null: it is not one. */
export const canonicalLocale: (name: string) => string | null = kept((name) => {
  if (name.length > MAX_LOCALE_LENGTH) return null
  try {
    return new Intl.Locale(name).baseName
  } catch {
    return null
  }
})

/** An IANA time zone. */
export const isTimeZone: (name: string) => boolean = kept((name) => {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
})

const RIGHT_TO_LEFT = new Set(['Arab', 'Hebr', 'Thaa', 'Syrc', 'Nkoo', 'Adlm', 'Rohg', 'Mand', 'Samr'])

/** The direction of a locale's script. */
export function directionOf(locale: string): 'ltr' | 'rtl' {
  return RIGHT_TO_LEFT.has(new Intl.Locale(locale).maximize().script ?? '') ? 'rtl' : 'ltr'
}

/** Language and script: a reader of one reads the other. */
export const writingOf: (locale: string) => string = kept((locale) => {
  const { language, script } = new Intl.Locale(locale).maximize()
  return `${language}-${script}`
})

/** The locale and its shorter forms: `fr-BE`, `fr`. */
function shorterForms(locale: string): readonly string[] {
  const parts = locale.split('-')
  return parts.map((_, index) => parts.slice(0, parts.length - index).join('-'))
}

/**
 * The available locales for a reader, best first: the locale itself, the one that matches best, then its shorter forms.
 * All have its language and script, so that no reader of Traditional Chinese gets Simplified.
 *
 * @param best the best match among available locales; null: none
 */
export function localesFor(
  locale: string,
  available: readonly string[],
  best: (locale: string, among: readonly string[]) => string | null,
): readonly string[] {
  const writing = writingOf(locale)
  const readable = available.filter((other) => writingOf(other) === writing)
  if (readable.length === 0) return []
  const matched = readable.includes(locale) ? null : best(locale, readable)
  const wanted = new Set([locale, ...(matched === null ? [] : [matched]), ...shorterForms(locale)])
  return [...wanted].filter((name) => readable.includes(name))
}
