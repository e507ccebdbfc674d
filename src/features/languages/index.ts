export type { Catalogues } from './api.ts'
export type { Languages } from './languages.ts'
export type { MissingSearch, MissingTranslations } from './model.ts'
