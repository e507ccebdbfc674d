import { parseInput } from '../../core/input/parse.ts'
import type { Observed } from '../../core/observe/api.ts'
import {
  type HandlerResult,
  type RequestContext,
  type Route,
  routesOf,
  type Tag,
  type TenantsOf,
} from '../../core/rest/route.ts'
import type { StatisticsApi } from './api.ts'
import { type Operations, operations, statistics, statisticsQuery } from './schemas.ts'

/** The methods of a notifier that the handlers use. */
export type Served = TenantsOf<{ readonly statistics: StatisticsApi }>

const TAG: Tag = { name: 'Statistics', description: 'Counts for overviews.' }

async function getOperations(_context: RequestContext, notifier: Observed): Promise<HandlerResult> {
  const [health, { at, backlog }] = await Promise.all([notifier.health(), notifier.metrics()])
  const ages = backlog?.lanes.flatMap(({ oldestDueMs }) => oldestDueMs ?? []) ?? []
  const body: Operations = {
    ...health,
    at,
    oldestDueMs: ages.length === 0 ? null : Math.max(...ages),
    backlog,
  }
  return { body }
}

export const statisticsRoutes: readonly Route<Served & Observed>[] = routesOf<Served & Observed>(
  { tag: TAG },
  [
    {
      operation: 'getStatistics',
      allOrganizations: true,
      summary:
        'Get counts of the last hour, 24 hours or 7 days, failures by cause, providers, and what waits',
      method: 'GET',
      paths: ['/v1/statistics'],
      belongsTo: 'organization',
      permission: 'Read Only',
      query: statisticsQuery,
      response: statistics,
      handler: async ({ query, organizationId }, { tenants }) => ({
        body: await tenants.statistics.get(organizationId, parseInput(statisticsQuery, query, 'query')),
      }),
    },
    {
      operation: 'getOperations',
      summary: 'Get the health of the service in detail, and what waits in it',
      method: 'GET',
      paths: ['/v1/operations'],
      belongsTo: 'operator',
      permission: 'Read Only',
      response: operations,
      handler: getOperations,
    },
  ],
)
