export { preferencePageQuery } from './query-schemas.ts'
