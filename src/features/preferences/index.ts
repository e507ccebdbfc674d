import type { Feature } from '../../core/feature.ts'
import type { Served } from './routes.ts'
import { createPreferences, type PreferenceServices } from './service.ts'

export type { Consent } from './consent.ts'
export { isOneClick } from './one-click.ts'
export { optOut } from './opting-out.ts'
export { createPreferencePages, type PreferencePage, type PreferencePost } from './page.ts'
export { preferencePage } from './page-view.ts'
export { preferencePageQuery } from './query-schemas.ts'
export { confirmPage, donePage, incompletePage, requiredPage, unknownPage } from './unsubscribe-view.ts'

/** People's preferences. */
export const preferences: Feature<Served, PreferenceServices> = {
  name: 'preferences',
  create: (core) => ({ tenants: { preferences: createPreferences(core) } }),
}
