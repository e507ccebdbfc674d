import { parseInput } from '../input/parse.ts'
import { type Route, routesOf, type Tag, type TenantsOf } from '../rest/route.ts'
import type { Logs } from './api.ts'
import { logList } from './log-schemas.ts'
import { logQuery } from './query-schemas.ts'

/** The methods of a notifier that the handlers use. */
type Served = TenantsOf<{ readonly logs: Logs }>

const TAG: Tag = { name: 'Logs', description: 'The delivery log.' }

export const logRoutes: readonly Route<Served>[] = routesOf({ tag: TAG, belongsTo: 'organization' }, [
  {
    operation: 'listLogs',
    summary: 'List the delivery log, newest first',
    method: 'GET',
    paths: ['/v1/logs', '/admin/logs'],
    allOrganizations: true,
    permission: 'Read Only',
    limit: { name: 'logs.list', perMinute: 500 },
    errors: ['invalid_channel'],
    query: logQuery,
    response: logList,
    handler: async ({ query, organizationId }, { tenants }) => ({
      body: await tenants.logs.list(organizationId, parseInput(logQuery, query, 'query')),
    }),
  },
])
