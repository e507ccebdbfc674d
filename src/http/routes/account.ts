import type { Service } from '../../services/service.ts'
import { accountLimits } from '../schemas/account.ts'
import type { HandlerResult, RequestContext, Route } from './route.ts'

async function limits({ organizationId }: RequestContext, service: Service): Promise<HandlerResult> {
  return { body: await service.limits.get(organizationId) }
}

export const accountRoutes: readonly Route[] = [
  {
    operation: 'getAccountLimits',
    summary: 'Get the limits of the organization and their usage',
    tag: 'Account',
    method: 'GET',
    paths: ['/v1/account/limits'],
    belongsTo: 'organization',
    permission: 'Read Only',
    limit: 'requests',
    status: 200,
    response: accountLimits,
    handler: limits,
  },
]
