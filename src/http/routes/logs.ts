import { parseInput } from '../../domain/input/parse.ts'
import type { Service } from '../../services/service.ts'
import { logList } from '../schemas/log.ts'
import { logQuery } from '../schemas/query.ts'
import type { HandlerResult, RequestContext, Route } from './route.ts'

async function list({ query, organizationId }: RequestContext, service: Service): Promise<HandlerResult> {
  return { body: await service.logs.list(organizationId, parseInput(logQuery, query, 'query')) }
}

export const logRoutes: readonly Route[] = [
  {
    operation: 'listLogs',
    summary: 'List the delivery log, newest first',
    tag: 'Logs',
    method: 'GET',
    paths: ['/v1/logs', '/admin/logs'],
    belongsTo: 'organization',
    permission: 'Read Only',
    limit: 'logs.list',
    status: 200,
    errors: ['invalid_channel'],
    query: logQuery,
    response: logList,
    handler: list,
  },
]
