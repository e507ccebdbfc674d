import { NotifierError } from '../errors/notifier-error.ts'
import {
  type HandlerResult,
  type RequestContext,
  type Route,
  routesOf,
  type Tag,
  type TenantsOf,
} from '../rest/route.ts'
import type { Limits } from './api.ts'
import { accountLimits, identity } from './schemas.ts'

/** The methods of a notifier that the handlers use. */
type Served = TenantsOf<{ readonly limits: Limits }>

const TAG: Tag = { name: 'Account', description: 'Limits and their usage.' }

async function identify({ caller }: RequestContext): Promise<HandlerResult> {
  if (caller === null) throw new NotifierError('missing_authorization')
  const { id, name = id, permission, grants, organizations } = caller
  return { body: { id, name, permission, grants, organizations } }
}

export const accountRoutes: readonly Route<Served>[] = routesOf({ tag: TAG }, [
  {
    operation: 'getIdentity',
    summary: 'Get the name and permissions of the key that asks',
    method: 'GET',
    paths: ['/v1/me'],
    belongsTo: 'caller',
    permission: 'Read Only',
    response: identity,
    handler: identify,
  },
  {
    operation: 'getAccountLimits',
    summary: 'Get the limits of the organization and their usage',
    method: 'GET',
    paths: ['/v1/account/limits'],
    belongsTo: 'organization',
    permission: 'Read Only',
    response: accountLimits,
    handler: async ({ organizationId }, { tenants }) => ({ body: await tenants.limits.get(organizationId) }),
  },
])
