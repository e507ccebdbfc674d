export type { SharedTexts } from './api.ts'
