import { parseInput } from '../../core/input/parse.ts'
import { NOTIFICATIONS_TAG } from '../../core/notification/routes.ts'
import { failureGroups, notificationList, notificationRecord } from '../../core/notification/schemas.ts'
import {
  type HandlerResult,
  type RequestContext,
  type Route,
  routesOf,
  type Tag,
  type TenantsOf,
} from '../../core/rest/route.ts'
import type { DeadLetters, Retries } from './api.ts'
import { type RetryInput, retryInput } from './input.ts'
import { deadLetterGroupQuery, deadLetterQuery } from './query-schemas.ts'
import { retryResult } from './schemas.ts'

/** The methods of a notifier that the handlers use. */
export type Served = TenantsOf<{ readonly deadLetters: DeadLetters; readonly notifications: Retries }>

const TAG: Tag = { name: 'Dead letters', description: 'Failed notifications and their retry.' }

async function list({ query, organizationId }: RequestContext, { tenants }: Served): Promise<HandlerResult> {
  const parsed = parseInput(deadLetterQuery, query, 'query')
  return { body: await tenants.deadLetters.list(organizationId, parsed) }
}

async function groups(
  { query, organizationId }: RequestContext,
  { tenants }: Served,
): Promise<HandlerResult> {
  const parsed = parseInput(deadLetterGroupQuery, query, 'query')
  return { body: await tenants.deadLetters.groups(organizationId, parsed) }
}

async function retry({ body, organizationId }: RequestContext, { tenants }: Served): Promise<HandlerResult> {
  // Untyped: the notifier parses it with `retryInput`.
  return { body: await tenants.deadLetters.retry(organizationId, body as unknown as RetryInput) }
}

export const deadLetterRoutes: readonly Route<Served>[] = routesOf({ tag: TAG, belongsTo: 'organization' }, [
  {
    operation: 'listDeadLetters',
    allOrganizations: true,
    summary: 'List notifications that failed, newest first',
    method: 'GET',
    paths: ['/v1/dead-letters'],
    permission: 'Read Only',
    errors: ['invalid_channel'],
    query: deadLetterQuery,
    response: notificationList,
    handler: list,
  },
  {
    operation: 'groupDeadLetters',
    allOrganizations: true,
    summary: 'Count notifications that failed by error code, provider and channel',
    method: 'GET',
    paths: ['/v1/dead-letters/groups'],
    permission: 'Read Only',
    errors: ['invalid_channel'],
    query: deadLetterGroupQuery,
    response: failureGroups,
    handler: groups,
  },
  {
    operation: 'retryDeadLetters',
    summary: 'Retry failed notifications in bulk; with dryRun only count them',
    method: 'POST',
    paths: ['/v1/dead-letters/retry'],
    permission: 'Full Access',
    errors: ['missing_required_field', 'invalid_channel'],
    delivers: true,
    body: retryInput,
    response: retryResult,
    handler: retry,
  },
])

/** The retry of one. */
export const retryRoutes: readonly Route<Served>[] = routesOf(
  { tag: NOTIFICATIONS_TAG, belongsTo: 'organization' },
  [
    {
      operation: 'retryNotification',
      summary: 'Retry a failed notification',
      method: 'POST',
      paths: ['/v1/notifications/{id}/retry'],
      permission: 'Full Access',
      unknown: 'notification_not_found',
      errors: ['not_retryable', 'content_removed', 'invalid_channel'],
      delivers: true,
      response: notificationRecord,
      handler: async ({ params, organizationId }, { tenants }) => ({
        body: await tenants.notifications.retry(organizationId, params.id ?? ''),
      }),
    },
  ],
)
