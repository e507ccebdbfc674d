import { parseInput } from '../../core/input/parse.ts'
import { NOTIFICATIONS_TAG } from '../../core/notification/routes.ts'
import { type Route, routesOf, type TenantsOf } from '../../core/rest/route.ts'
import type { Refusals } from './api.ts'
import { refusalList, refusalQuery } from './schemas.ts'

/** The methods of a notifier that the handlers use. */
export type Served = TenantsOf<{ readonly refusals: Refusals }>

export const refusalRoutes: readonly Route<Served>[] = routesOf(
  { tag: NOTIFICATIONS_TAG, belongsTo: 'organization' },
  [
    {
      operation: 'listRefusals',
      summary: 'List the last messages that were refused, latest first',
      method: 'GET',
      paths: ['/v1/refusals'],
      permission: 'Read Only',
      errors: ['invalid_channel'],
      query: refusalQuery,
      response: refusalList,
      handler: async ({ query, organizationId }, { tenants }) => ({
        body: await tenants.refusals.list(organizationId, parseInput(refusalQuery, query, 'query')),
      }),
    },
  ],
)
