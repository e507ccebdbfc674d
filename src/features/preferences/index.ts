import type { Feature } from '../../core/feature.ts'
import { categories } from '../categories/index.ts'
import { delays } from '../delays/index.ts'
import { recipients } from '../recipients/index.ts'
import { createPreferenceBook } from './book.ts'
import type { OptOuts } from './consent.ts'
import { createPreferencesInUse } from './in-use.ts'
import { judgeByPreferences } from './judge.ts'
import { createPages, type PageServices, type Pages } from './link-pages.ts'
import { optOut } from './opting-out.ts'
import { personalPreferences } from './records.ts'
import type { Served } from './routes.ts'
import { createPreferences } from './service.ts'

export type { OptOuts } from './consent.ts'

/** People's preferences, and the pages on which they choose. */
export const preferences: Feature<Served & { readonly pages: Pages }, PageServices, OptOuts> = {
  name: 'preferences',
  create(core) {
    const inUse = createPreferencesInUse(core.stores, core.clock)
    const consent = {
      categories: core.use(categories),
      book: createPreferenceBook(core.stores, inUse, core.use(delays)),
      hashes: core.hashes,
    }
    return {
      api: {
        tenants: { preferences: createPreferences(core, consent) },
        pages: createPages(core, consent, core.use(recipients)),
      },
      shared: { optOut: async (target) => void (await optOut(consent, target)) },
      judge: judgeByPreferences(inUse, core.hashes, core.clock),
      personal: [personalPreferences(core.hashes)],
    }
  },
}
