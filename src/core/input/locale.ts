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

/**
 * A BCP 47 name in canonical form, without extensions: `de-at` is `de-AT`. Null: it is not one. The form permits languages of
 * up to eight letters, but none has more than three: `german` is a word.
 */
export const canonicalLocale: (name: string) => string | null = kept((name) => {
  if (name.length > MAX_LOCALE_LENGTH) return null
  try {
    const { language, baseName } = new Intl.Locale(name)
    return language.length > 3 ? null : baseName
  } catch {
    return null
  }
})

/** The scripts of POSIX names: `sr_RS@latin`. */
const SCRIPT_MODIFIERS: ReadonlyMap<string, string> = new Map([
  ['latin', 'Latn'],
  ['cyrillic', 'Cyrl'],
])

/**
 * A locale as people's data have it: a BCP 47 name, or one of POSIX or Java such as `de_AT` and `de_AT.UTF-8@euro`.
 *
 * @returns as {@link canonicalLocale}
 */
export const localeIn: (name: string) => string | null = kept((name) => {
  if (name.length > MAX_NAME_LENGTH) return null
  const [, language = '', modifier = ''] = /^([^.@]*)(?:\.[\w-]*)?(?:@(\w*))?$/.exec(name) ?? []
  const locale = canonicalLocale(language.replaceAll('_', '-'))
  const script = SCRIPT_MODIFIERS.get(modifier)
  if (locale === null || script === undefined) return locale
  return new Intl.Locale(locale, { script }).baseName
})

/** An IANA time zone. */
export const isTimeZone: (name: string) => boolean = kept((name) => {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
})

/** An alias in the spelling of most: `Asia/Kolkata`. */
const USUAL_SPELLING = /^[A-Z][a-z]+(?:[/_-][A-Z][a-z]+)*$/

/**
 * The name of an IANA time zone in one spelling: `europe/vienna` is `Europe/Vienna`. An alias stays if its spelling is usual,
 * and otherwise becomes what it stands for. Null: it is not the name of one, such as the offset `+02:00`.
 */
export const canonicalZone: (name: string) => string | null = kept((name) => {
  if (/^[^a-z]/i.test(name)) return null
  try {
    const zone = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone
    return USUAL_SPELLING.test(name) ? name : zone
  } catch {
    return null
  }
})

const RIGHT_TO_LEFT = new Set(['Arab', 'Hebr', 'Thaa', 'Syrc', 'Nkoo', 'Adlm', 'Rohg', 'Mand', 'Samr'])

/** The direction of a locale's script. */
export function directionOf(locale: string): 'ltr' | 'rtl' {
  return RIGHT_TO_LEFT.has(new Intl.Locale(locale).maximize().script ?? '') ? 'rtl' : 'ltr'
}

/** Language and script: what is the same in both is written alike. */
export const writingOf: (locale: string) => string = kept((locale) => {
  const { language = '', script } = new Intl.Locale(locale).maximize()
  return `${language === 'nb' ? 'no' : language}-${script}`
})

/**
 * Norwegian is one language with two forms, which all Norwegians read: Bokmål, which is `nb` and mostly meant by `no` (CLDR
 * has them as one), and Nynorsk. For a reader of each, in rows of equal ones, the best first.
 */
const NORWEGIAN: ReadonlyMap<string, readonly (readonly string[])[]> = new Map([
  ['nb', [['nb', 'no'], ['nn']]],
  ['no', [['no', 'nb'], ['nn']]],
  ['nn', [['nn'], ['no', 'nb']]],
])

/** The languages that a reader of a language reads, the best first: most often that one alone. */
export function readLanguages(language: string): readonly string[] {
  return NORWEGIAN.get(language)?.flat() ?? [language]
}

/** Whether a reader of one locale reads the other: it has the same script, and a language that the reader reads. */
export function isRead(locale: string, reader: string): boolean {
  const [language, script] = writingOf(locale).split('-')
  const [own = '', ownScript] = writingOf(reader).split('-')
  return script === ownScript && readLanguages(own).includes(language ?? '')
}

/** The locale and its shorter forms: `fr-BE`, `fr`. */
function shorterForms(locale: string): readonly string[] {
  const parts = locale.split('-')
  return parts.map((_, index) => parts.slice(0, parts.length - index).join('-'))
}

/**
 * The available locales for a reader, best first: the locale itself, the one that matches best, then its shorter forms.
 * All have its script and a language that the reader reads, so that no reader of Traditional Chinese gets Simplified.
 *
 * @param best the best match among available locales; null: none
 */
export function localesFor(
  locale: string,
  available: readonly string[],
  best: (locale: string, among: readonly string[]) => string | null,
): readonly string[] {
  const readable = available.filter((other) => isRead(other, locale))
  if (readable.length === 0) return []
  const [language = '', ...rest] = locale.split('-')
  const rows = NORWEGIAN.get(language) ?? [[language]]
  const wanted = rows.flatMap((row) => {
    const names = row.map((each) => [each, ...rest].join('-'))
    const among = rows.length === 1 ? readable : readable.filter((name) => row.includes(languageOf(name)))
    const isExact = names.some((name) => among.includes(name))
    const matched = isExact || among.length === 0 ? null : best(names[0] ?? locale, among)
    return [...names, ...(matched === null ? [] : [matched]), ...names.flatMap(shorterForms)]
  })
  return [...new Set(wanted)].filter((name) => readable.includes(name))
}

function languageOf(locale: string): string {
  return locale.split('-', 1)[0] ?? ''
}
