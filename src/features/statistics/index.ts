import type { Feature, TogetherOf } from '../../core/feature.ts'
import type { StatisticsApi } from './api.ts'
import type { Served } from './routes.ts'
import { createStatistics } from './service.ts'

/** Counts for overviews. */
export const statistics: Feature<Served & TogetherOf<{ readonly statistics: StatisticsApi }>> = {
  name: 'statistics',
  create(core) {
    const methods = { statistics: createStatistics(core) }
    return { api: { tenants: methods, together: methods } }
  },
}
