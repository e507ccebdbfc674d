export type { KeyLookups, KeyRecord } from './model.ts'
