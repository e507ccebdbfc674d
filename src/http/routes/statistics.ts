import type { Service } from '../../services/service.ts'
import { type Operations, operations, statistics } from '../schemas/statistics.ts'
import type { HandlerResult, RequestContext, Route } from './route.ts'

async function get({ organizationId }: RequestContext, service: Service): Promise<HandlerResult> {
  return { body: await service.statistics.get(organizationId) }
}

async function getOperations(_context: RequestContext, service: Service): Promise<HandlerResult> {
  const [health, { at, backlog }] = await Promise.all([service.health(), service.metrics()])
  const ages = backlog?.lanes.flatMap(({ oldestDueMs }) => oldestDueMs ?? []) ?? []
  const body: Operations = {
    ...health,
    at,
    oldestDueMs: ages.length === 0 ? null : Math.max(...ages),
    backlog,
  }
  return { body }
}

export const statisticsRoutes: readonly Route[] = [
  {
    operation: 'getStatistics',
    summary: 'Get counts of the last 24 hours, failures by cause, and what waits',
    tag: 'Statistics',
    method: 'GET',
    paths: ['/v1/statistics'],
    belongsTo: 'organization',
    permission: 'Read Only',
    limit: 'requests',
    status: 200,
    response: statistics,
    handler: get,
  },
  {
    operation: 'getOperations',
    summary: 'Get the health of the service in detail, and what waits in it',
    tag: 'Statistics',
    method: 'GET',
    paths: ['/v1/operations'],
    belongsTo: 'operator',
    permission: 'Read Only',
    limit: 'requests',
    status: 200,
    response: operations,
    handler: getOperations,
  },
]
