import { en, type Texts } from './en.ts'

/** The texts in the first of the reader's languages that has some. */
export function inLanguageOfReader<Of>(texts: Readonly<Record<string, Of>> & { readonly en: Of }): Of {
  for (const wanted of navigator.languages) {
    const found = texts[wanted.split('-')[0] ?? '']
    if (found !== undefined) return found
  }
  return texts.en
}

/** The texts of the reader's language. */
export const texts: Texts = inLanguageOfReader({ en })
