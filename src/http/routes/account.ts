import { NotifierError } from '../../domain/errors/notifier-error.ts'
import type { Service } from '../../services/service.ts'
import { accountLimits, identity } from '../schemas/account.ts'
import type { HandlerResult, RequestContext, Route } from './route.ts'

async function limits({ organizationId }: RequestContext, service: Service): Promise<HandlerResult> {
  return { body: await service.limits.get(organizationId) }
}

async function identify({ caller }: RequestContext): Promise<HandlerResult> {
  if (caller === null) throw new NotifierError('missing_authorization')
  const { id, name = id, permission, grants, organizations } = caller
  return { body: { id, name, permission, grants, organizations } }
}

export const accountRoutes: readonly Route[] = [
  {
    operation: 'getIdentity',
    summary: 'Get the name and permissions of the key that asks',
    tag: 'Account',
    method: 'GET',
    paths: ['/v1/me'],
    belongsTo: 'caller',
    permission: 'Read Only',
    limit: 'requests',
    status: 200,
    response: identity,
    handler: identify,
  },
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
