import type { Feature, FeatureCore } from '../../core/feature.ts'
import { createMissing, type MissingServices, type SearchMissing } from './missing.ts'
import type { Served } from './routes.ts'
import { type CatalogueServices, createCatalogues } from './service.ts'

export type { Catalogues } from './api.ts'
export type { Languages } from './languages.ts'
export type { SearchMissing } from './missing.ts'
export type { MissingTranslations } from './model.ts'

type LanguageServices = FeatureCore & CatalogueServices & MissingServices

/** Messages for templates in several languages, and what is not translated. */
export const languages: Feature<Served, LanguageServices, SearchMissing> = {
  name: 'languages',
  create(core) {
    const { missing, searchMissing } = createMissing(core)
    return {
      api: { tenants: { messages: createCatalogues(core), templates: { missing } } },
      shared: searchMissing,
    }
  },
}
