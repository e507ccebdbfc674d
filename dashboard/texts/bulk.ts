import { bulk as en } from './en/bulk.ts'
import { inLanguageOfReader } from './index.ts'

/** Texts that load with actions on many items. */
export const bulk = inLanguageOfReader({ en })
