import { bulk as en } from './en/bulk.ts'
import { inLanguageOfReader } from './index.ts'

/** Texts that load with what is done to many. */
export const bulk = inLanguageOfReader({ en })
