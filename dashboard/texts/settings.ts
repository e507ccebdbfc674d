import { settings as en } from './en/settings.ts'
import { inLanguageOfReader } from './index.ts'

/** Texts that load with the pages of settings. */
export const settings = inLanguageOfReader({ en })
