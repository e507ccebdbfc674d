import type { Feature } from '../../core/feature.ts'
import type { Served } from './routes.ts'
import { type CategoryServices, createCategories } from './service.ts'

export { type CategoryFinder, createCategoryFinder, unknownCategory } from './finder.ts'
export { channelOrAll } from './input.ts'
export type { CodeCategories } from './options.ts'

/** Categories of messages, which people turn on and off. */
export const categories: Feature<Served, CategoryServices> = {
  name: 'categories',
  create: (core) => ({ tenants: { categories: createCategories(core) } }),
}
