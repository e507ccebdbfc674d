import type { Feature, FeatureCore } from '../../core/feature.ts'
import { delays } from '../delays/index.ts'
import { type CategoryFinder, createCategoryFinder } from './finder.ts'
import type { CodeCategories } from './options.ts'
import type { Served } from './routes.ts'
import { createCategories } from './service.ts'

export type { CategoryFinder } from './finder.ts'
export { channelOrAll } from './input.ts'

interface CategoryServices extends FeatureCore {
  /** The categories in code. */
  readonly categories: CodeCategories
}

/** Categories of messages, which people turn on and off. */
export const categories: Feature<Served, CategoryServices, CategoryFinder> = {
  name: 'categories',
  create(core) {
    const finder = createCategoryFinder(core.stores, core.categories, core.clock)
    return {
      api: { tenants: { categories: createCategories(core, finder, core.use(delays)) } },
      shared: finder,
      categories: finder,
    }
  },
}
