import { type Route, routesOf, type Tag, type TenantsOf } from '../../core/rest/route.ts'
import type { RetentionApi } from './api.ts'
import { retentionPreview } from './schemas.ts'

/** The methods of a notifier that the handlers use. */
export type Served = TenantsOf<{ readonly retention: RetentionApi }>

const TAG: Tag = { name: 'Retention', description: 'Old data, which is removed.' }

export const retentionRoutes: readonly Route<Served>[] = routesOf({ tag: TAG, belongsTo: 'organization' }, [
  {
    operation: 'previewRetention',
    allOrganizations: true,
    summary: 'Count what the next pass of retention removes',
    method: 'GET',
    paths: ['/v1/retention/preview'],
    permission: 'Read Only',
    response: retentionPreview,
    handler: async ({ organizationId }, { tenants }) => ({
      body: await tenants.retention.preview(organizationId),
    }),
  },
])
