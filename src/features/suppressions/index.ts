import type { Feature } from '../../core/feature.ts'
import type { Served } from './routes.ts'
import { createSuppressions } from './service.ts'

export { type MatchSuppression, matchSuppressions } from './match.ts'
export { optingIn, suppressing, suppressionId } from './records.ts'

/** Addresses that get no messages. */
export const suppressions: Feature<Served> = {
  name: 'suppressions',
  create: (core) => ({ tenants: { suppressions: createSuppressions(core) } }),
}
