import { parseInput } from '../../core/input/parse.ts'
import { type Route, routesOf, type Tag, type TenantsOf } from '../../core/rest/route.ts'
import type { AuditLog } from './api.ts'
import { auditList, auditQuery } from './schemas.ts'

/** The methods of a notifier that the handlers use. */
export type Served = TenantsOf<{ readonly auditLog: AuditLog }>

const TAG: Tag = { name: 'Audit log', description: 'What was done by hand, by whom and from where.' }

export const auditRoutes: readonly Route<Served>[] = routesOf({ tag: TAG, belongsTo: 'organization' }, [
  {
    operation: 'listAuditLog',
    summary: 'List what was done by hand, newest first',
    method: 'GET',
    paths: ['/v1/audit-log'],
    allOrganizations: true,
    permission: 'Full Access',
    errors: ['invalid_channel'],
    query: auditQuery,
    response: auditList,
    handler: async ({ query, organizationId }, { tenants }) => ({
      body: await tenants.auditLog.list(organizationId, parseInput(auditQuery, query, 'query')),
    }),
  },
])
