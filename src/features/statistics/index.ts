import type { Feature } from '../../core/feature.ts'
import type { Served } from './routes.ts'
import { createStatistics } from './service.ts'

/** Counts for overviews. */
export const statistics: Feature<Served> = {
  name: 'statistics',
  create: (core) => ({ api: { tenants: { statistics: createStatistics(core) } } }),
}
