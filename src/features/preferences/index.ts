import type { Feature } from '../../core/feature.ts'
import type { Served } from './routes.ts'
import { createPreferences, type PreferenceServices } from './service.ts'

export type { Consent } from './consent.ts'
export { optOut } from './opting-out.ts'

/** People's preferences. */
export const preferences: Feature<Served, PreferenceServices> = {
  name: 'preferences',
  create: (core) => ({ tenants: { preferences: createPreferences(core) } }),
}
