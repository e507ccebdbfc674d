import type { Feature } from '../../core/feature.ts'
import type { TenantsOf } from '../../core/rest/route.ts'
import type { StatisticsApi } from './api.ts'
import { createDeadLetters, type DeadLetterServices } from './dead-letters.ts'
import type { Served } from './routes.ts'
import { createStatistics } from './statistics.ts'

type Api = Served & TenantsOf<{ readonly statistics: StatisticsApi }>

/** Failed notifications, their causes and their retry. */
export const failures: Feature<Api, DeadLetterServices> = {
  name: 'failures',
  create: (core) => ({
    api: { tenants: { ...createDeadLetters(core), statistics: createStatistics(core) } },
  }),
}
