export type { PeopleFinder } from './service.ts'
