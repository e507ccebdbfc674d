import { readLanguages } from '../input/locale.ts'
/** The texts of the pages behind the links in messages, in one language. */
export interface PageTexts {
  /** Title of the preference page. */
  readonly title: string
  readonly intro: string
  /** Instead of the choices of a required category. */
  readonly always: string
  readonly save: string
  readonly saved: string
  /** After a post that could not be read. */
  readonly unread: string
  /** Button that turns everything optional off. */
  readonly none: string
  /** Above that button. */
  readonly noneHint: string
  /** Link to the preference page. */
  readonly manage: string
  /** Title of the page that asks before an unsubscription. */
  readonly askTitle: string
  readonly askText: string
  /** Above the button if a post was incomplete. */
  readonly confirm: string
  readonly unsubscribe: string
  readonly doneTitle: string
  readonly doneText: string
  /** Button that undoes an unsubscription. */
  readonly undo: string
  readonly undoneTitle: string
  readonly undoneText: string
  /** Title of the page shown if the preferences have changed since, so that nothing is undone. */
  readonly changedTitle: string
  readonly changedText: string
  /** Title of the page shown instead of an unsubscription from a required category. */
  readonly requiredTitle: string
  readonly requiredText: string
  readonly unknownTitle: string
  readonly unknownText: string
  /** Name of the category `default`, unless the application names it. */
  readonly general: string
  /** Title of the choice of quiet hours. */
  readonly quiet: string
  readonly quietHint: string
  /** Quiet hours of the organization or a category. */
  readonly quietPreset: string
  /** No quiet hours. */
  readonly quietNone: string
  /** Before quiet hours that the page cannot set. */
  readonly quietKept: string
  /** Quiet hours by the fields of the page. */
  readonly quietOwn: string
  readonly quietWeek: string
  readonly quietWeekend: string
  readonly quietFrom: string
  readonly quietTo: string
  readonly quietZone: string
  /** After a post with quiet hours that are not sound. */
  readonly quietWrong: string
  /** Names of channels. Absent: the name of the channel itself. */
  readonly channels: Readonly<Record<string, string>>
  /** Names and descriptions of categories by id. Absent: those of the category. */
  readonly categories: Readonly<
    Record<string, { readonly name?: string | undefined; readonly description?: string | undefined }>
  >
}

/** Texts of the application by language (`de`, `pt-BR`), which replace or extend the built-in ones. */
export type PageTextsByLanguage = Readonly<Record<string, Partial<PageTexts>>>

/** Maximum number of examined languages of an Accept-Language header. */
const MOST_WANTED = 20
/** Languages that are written from right to left. */
const RIGHT_TO_LEFT: ReadonlySet<string> = new Set([
  'ar',
  'ckb',
  'dv',
  'fa',
  'he',
  'ps',
  'sd',
  'ug',
  'ur',
  'yi',
])

/** The direction of a language's script. */
export function directionOf(language: string): 'ltr' | 'rtl' {
  return RIGHT_TO_LEFT.has(baseOf(language)) ? 'rtl' : 'ltr'
}

/**
 * Chooses a language.
 *
 * @param wanted by the link and by its message, the most important first
 * @param accepted the header Accept-Language
 * @param known the languages that there are texts for, the default first
 */
export function chooseLanguage(
  wanted: readonly string[],
  accepted: string | undefined,
  known: readonly string[],
): string {
  const names = new Map(known.map((language) => [language.toLowerCase(), language]))
  for (const language of [...wanted, ...preferred(accepted ?? '')]) {
    const bases = readLanguages(baseOf(language))
    const found = [language.toLowerCase(), ...bases]
      .map((name) => names.get(name))
      .find((name) => name !== undefined)
    if (found !== undefined) return found
  }
  return known[0] ?? 'en'
}

function preferred(accepted: string): readonly string[] {
  return accepted
    .slice(0, 1_000)
    .split(',', MOST_WANTED)
    .map((range) => {
      const [language = '', weight = ''] = range.trim().split(';')
      const [, quality = '1'] = /^\s*q=([\d.]+)\s*$/.exec(weight) ?? []
      return { language: language.trim(), quality: Number(quality) }
    })
    .filter(({ language, quality }) => language !== '' && language !== '*' && quality > 0)
    .sort((one, other) => other.quality - one.quality)
    .map(({ language }) => language)
}

function baseOf(language: string): string {
  return language.toLowerCase().split('-', 1)[0] ?? ''
}
