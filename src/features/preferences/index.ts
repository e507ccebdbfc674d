import type { Feature, FeatureCore } from '../../core/feature.ts'
import { categories } from '../categories/index.ts'
import { createPreferenceBook } from './book.ts'
import type { Consent } from './consent.ts'
import { createPreferencesInUse } from './in-use.ts'
import { judgeByPreferences } from './judge.ts'
import type { Served } from './routes.ts'
import { createPreferences } from './service.ts'

export type { Consent } from './consent.ts'
export { optOut } from './opting-out.ts'

/** People's preferences. */
export const preferences: Feature<Served, FeatureCore, Consent> = {
  name: 'preferences',
  create(core) {
    const inUse = createPreferencesInUse(core.stores, core.clock)
    const consent = { categories: core.use(categories), book: createPreferenceBook(core.stores, inUse) }
    return {
      api: { tenants: { preferences: createPreferences(core, consent) } },
      shared: consent,
      judge: judgeByPreferences(inUse),
    }
  },
}
