import type { Notifier } from '../../services/notifier.ts'
import { accountLimits } from '../schemas/account.ts'
import type { HandlerResult, RequestContext, Route } from './route.ts'

async function limits({ organizationId }: RequestContext, notifier: Notifier): Promise<HandlerResult> {
  return { body: await notifier.limits.get({ organizationId }) }
}

export const accountRoutes: readonly Route[] = [
  {
    operation: 'getAccountLimits',
    summary: 'Get the limits of the organization and how much of them is used',
    tag: 'Account',
    method: 'GET',
    paths: ['/v1/account/limits'],
    permission: 'Read Only',
    limit: 'requests',
    status: 200,
    response: accountLimits,
    handler: limits,
  },
]
