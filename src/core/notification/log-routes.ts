import { parseInput } from '../input/parse.ts'
import { logQuery } from '../rest/query-schemas.ts'
import { type Route, routesOf } from '../rest/route.ts'
import { logList } from './log-schemas.ts'

export const logRoutes: readonly Route[] = routesOf({ tag: 'Logs', belongsTo: 'organization' }, [
  {
    operation: 'listLogs',
    summary: 'List the delivery log, newest first',
    method: 'GET',
    paths: ['/v1/logs', '/admin/logs'],
    permission: 'Read Only',
    limit: 'logs.list',
    errors: ['invalid_channel'],
    query: logQuery,
    response: logList,
    handler: async ({ query, organizationId }, service) => ({
      body: await service.logs.list(organizationId, parseInput(logQuery, query, 'query')),
    }),
  },
])
