export type { SharedTexts } from './api.ts'
export type { Library } from './library.ts'
