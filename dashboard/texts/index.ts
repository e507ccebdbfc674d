import { en, type Texts } from './en.ts'

const languages: Readonly<Record<string, Texts>> = { en }

function chosen(): Texts {
  for (const wanted of navigator.languages) {
    const found = languages[wanted.split('-')[0] ?? '']
    if (found !== undefined) return found
  }
  return en
}

/** The texts of the reader's language. */
export const texts: Texts = chosen()
