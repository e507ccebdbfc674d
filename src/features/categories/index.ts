export { type CategoryFinder, createCategoryFinder, unknownCategory } from './finder.ts'
export { channelOrAll } from './input.ts'
export type { CodeCategories } from './options.ts'
