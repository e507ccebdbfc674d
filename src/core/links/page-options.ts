import * as z from 'zod'
import { CHANNEL_NAME } from '../channels/channel-kind.ts'
import { invalidOption } from '../errors/invalid-option.ts'
import { isNotifierError } from '../errors/notifier-error.ts'
import { fewFields, text } from '../input/fields.ts'
import { parseInput } from '../input/parse.ts'
import { categoryId } from '../notification/category-id.ts'
import type { PageTextsByLanguage } from './page-texts.ts'

/** The pages behind the links in messages. */
export interface PageOptions {
  /**
   * Texts by language (`de`, `pt-BR`), which replace or extend the built-in ones in English, German, French, Spanish
   * and Arabic.
   */
  readonly texts?: PageTextsByLanguage | undefined
}

const MOST_LANGUAGES = 100
const MOST_NAMES = 100
const words = text(1, 1_000).optional()

const texts = z.strictObject({
  title: words,
  intro: words,
  always: words,
  save: words,
  saved: words,
  none: words,
  noneHint: words,
  manage: words,
  askTitle: words,
  askText: words,
  confirm: words,
  unsubscribe: words,
  doneTitle: words,
  doneText: words,
  undo: words,
  undoneTitle: words,
  undoneText: words,
  changedTitle: words,
  changedText: words,
  requiredTitle: words,
  requiredText: words,
  unknownTitle: words,
  unknownText: words,
  general: words,
  quiet: words,
  quietHint: words,
  quietPreset: words,
  quietNone: words,
  quietKept: words,
  quietOwn: words,
  quietWeek: words,
  quietWeekend: words,
  quietFrom: words,
  quietTo: words,
  quietZone: words,
  quietWrong: words,
  channels: fewFields(
    MOST_NAMES,
    `must have at most ${MOST_NAMES} channels`,
    z.record(z.string().regex(CHANNEL_NAME, 'must be the name of a channel'), text(1, 1_000)),
  ).optional(),
  categories: fewFields(
    2 * MOST_NAMES,
    `must have at most ${2 * MOST_NAMES} categories`,
    z.record(categoryId, z.strictObject({ name: words, description: words })),
  ).optional(),
})

const pagesOption = z.strictObject({
  texts: fewFields(
    MOST_LANGUAGES,
    `must have at most ${MOST_LANGUAGES} languages`,
    z.record(
      z.string().regex(/^[a-z]{2,3}(?:-[A-Za-z0-9]{2,8})*$/, 'must be a language such as de or pt-BR'),
      texts,
    ),
  ).optional(),
})

/** The option `pages`. @throws NotifierError `invalid_configuration` */
export function resolvePageTexts(option: PageOptions | undefined): PageTextsByLanguage {
  try {
    return (parseInput(pagesOption, option ?? {}, 'pages').texts ?? {}) as PageTextsByLanguage
  } catch (error) {
    if (!isNotifierError(error)) throw error
    const field = String(error.details?.field ?? '')
    const name = field === 'pages' ? field : `pages.${field}`
    throw invalidOption(name, `The option "${name}": ${error.message}`)
  }
}
