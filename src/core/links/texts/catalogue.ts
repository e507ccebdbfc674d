import { chooseLanguage, type PageTexts, type PageTextsByLanguage } from '../page-texts.ts'
import { ar } from './ar.ts'
import { de } from './de.ts'
import { en } from './en.ts'
import { es } from './es.ts'
import { fr } from './fr.ts'

const BUILT_IN: Readonly<Record<string, PageTexts>> = { en, de, fr, es, ar }

/** The texts of one language. */
export interface LocalTexts {
  readonly language: string
  readonly texts: PageTexts
}

/**
 * The texts for a visitor. A text that a language does not have is that of its base language, or else English.
 *
 * @param own texts of the application
 * @param wanted languages of the link and of its message, the most important first
 * @param accepted the header Accept-Language
 */
export function textsFor(
  own: PageTextsByLanguage,
  wanted: readonly string[],
  accepted: string | undefined,
): LocalTexts {
  const known = [...new Set([...Object.keys(BUILT_IN), ...Object.keys(own)])]
  const language = chooseLanguage(wanted, accepted, known)
  const base = language.split('-', 1)[0] ?? language
  const chain = ['en', base, language].flatMap((name) => [ownOf(BUILT_IN, name), ownOf(own, name)])
  const layers = chain.filter((layer) => layer !== undefined)
  return {
    language,
    texts: {
      ...(Object.assign({}, ...layers) as PageTexts),
      channels: Object.assign({}, ...layers.map(({ channels }) => channels)) as PageTexts['channels'],
      categories: Object.assign({}, ...layers.map(({ categories }) => categories)) as PageTexts['categories'],
    },
  }
}

function ownOf<Value>(values: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(values, name) ? values[name] : undefined
}
