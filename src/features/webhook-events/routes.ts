import { parseInput } from '../../core/input/parse.ts'
import { NOTIFICATIONS_TAG } from '../../core/notification/routes.ts'
import { listQuery } from '../../core/rest/query-schemas.ts'
import {
  type HandlerResult,
  type RequestContext,
  type Route,
  routesOf,
  type Tag,
  type TenantsOf,
} from '../../core/rest/route.ts'
import { deleted } from '../../core/rest/schemas.ts'
import type { EventDeliveries, Webhooks } from './api.ts'
import {
  redeliverInput,
  secretRotation,
  type WebhookEndpointInput,
  webhookEndpointChange,
  webhookEndpointInput,
} from './input.ts'
import {
  createdWebhookEndpoint,
  notificationDeliveries,
  redelivered,
  webhookDeliveryList,
  webhookDeliveryQuery,
  webhookDeliveryRecord,
  webhookEndpointList,
  webhookEndpointRecord,
  webhookPostRecord,
} from './schemas.ts'

/** The methods of a notifier that the handlers use. */
export type Served = TenantsOf<{ readonly webhooks: Webhooks; readonly notifications: EventDeliveries }>

const TAG: Tag = { name: 'Webhooks', description: 'Endpoints that receive events.' }

async function create({ body, organizationId }: RequestContext, { tenants }: Served): Promise<HandlerResult> {
  // Untyped: the notifier parses it with `webhookEndpointInput`.
  const endpoint = body as unknown as WebhookEndpointInput
  return { body: await tenants.webhooks.create(organizationId, endpoint) }
}

async function rotateSecret(
  { params, body, organizationId }: RequestContext,
  { tenants }: Served,
): Promise<HandlerResult> {
  const { overlapMs } = parseInput(secretRotation, body)
  return { body: await tenants.webhooks.rotateSecret(organizationId, params.id ?? '', { overlapMs }) }
}

async function deliveries(
  { params, query, organizationId }: RequestContext,
  { tenants }: Served,
): Promise<HandlerResult> {
  const parsed = parseInput(webhookDeliveryQuery, query, 'query')
  return { body: await tenants.webhooks.deliveries(organizationId, params.id ?? '', parsed) }
}

async function redeliver(
  { params, body, organizationId }: RequestContext,
  { tenants }: Served,
): Promise<HandlerResult> {
  // Untyped: the notifier parses it with `redeliverInput`.
  const which = body as unknown as { since: string }
  return { body: await tenants.webhooks.redeliver(organizationId, params.id ?? '', which) }
}

async function redeliverOne(
  { params, organizationId }: RequestContext,
  { tenants }: Served,
): Promise<HandlerResult> {
  const { id = '', eventId = '' } = params
  return { body: await tenants.webhooks.redeliverOne(organizationId, id, eventId) }
}

async function remove(
  { params, organizationId }: RequestContext,
  { tenants }: Served,
): Promise<HandlerResult> {
  await tenants.webhooks.delete(organizationId, params.id ?? '')
  return { body: { deleted: true } }
}

const collection = ['/v1/webhooks']
const one = ['/v1/webhooks/{id}']

export const webhookRoutes: readonly Route<Served>[] = routesOf({ tag: TAG, belongsTo: 'organization' }, [
  {
    operation: 'createWebhook',
    summary: 'Register a webhook endpoint; only this response contains its secret',
    method: 'POST',
    paths: collection,
    allOrganizations: true,
    permission: 'Full Access',
    audited: ['webhook.created'],
    status: 201,
    errors: ['missing_required_field', 'blocked_address', 'endpoint_limit_reached'],
    body: webhookEndpointInput,
    response: createdWebhookEndpoint,
    example: {
      request: {
        url: 'https://example.com/hooks',
        events: ['notification.delivered', 'notification.failed'],
      },
    },
    handler: create,
  },
  {
    operation: 'listWebhooks',
    summary: 'List webhook endpoints without their secrets, newest first',
    method: 'GET',
    paths: collection,
    allOrganizations: true,
    permission: 'Read Only',
    query: listQuery,
    response: webhookEndpointList,
    handler: async ({ query, organizationId }, { tenants }) => ({
      body: await tenants.webhooks.list(organizationId, parseInput(listQuery, query, 'query')),
    }),
  },
  {
    operation: 'getWebhook',
    summary: 'Get a webhook endpoint without its secret',
    method: 'GET',
    paths: one,
    allOrganizations: true,
    permission: 'Read Only',
    unknown: 'not_found',
    response: webhookEndpointRecord,
    handler: async ({ params, organizationId }, { tenants }) => ({
      body: await tenants.webhooks.get(organizationId, params.id ?? ''),
    }),
  },
  {
    operation: 'updateWebhook',
    summary: 'Change, disable or enable a webhook endpoint',
    method: 'PATCH',
    paths: one,
    allOrganizations: true,
    permission: 'Full Access',
    audited: ['webhook.updated'],
    unknown: 'not_found',
    errors: ['blocked_address'],
    body: webhookEndpointChange,
    response: webhookEndpointRecord,
    handler: async ({ params, body, organizationId }, { tenants }) => ({
      body: await tenants.webhooks.update(organizationId, params.id ?? '', body),
    }),
  },
  {
    operation: 'rotateWebhookSecret',
    summary:
      'Rotate the signing secret; only this response contains the new one, and older ones sign beside it for a while',
    method: 'POST',
    paths: ['/v1/webhooks/{id}/rotate-secret'],
    allOrganizations: true,
    permission: 'Full Access',
    audited: ['webhook.secret_rotated'],
    unknown: 'not_found',
    body: secretRotation,
    bodyOptional: true,
    response: createdWebhookEndpoint,
    handler: rotateSecret,
  },
  {
    operation: 'testWebhook',
    summary: 'Post an example event at once and return the result',
    method: 'POST',
    paths: ['/v1/webhooks/{id}/test'],
    allOrganizations: true,
    permission: 'Full Access',
    unknown: 'not_found',
    delivers: true,
    // Each may hold a connection for five seconds, beside the deliveries and their limits.
    limit: { name: 'webhooks.test', perMinute: 60 },
    response: webhookPostRecord,
    handler: async ({ params, organizationId }, { tenants }) => ({
      body: await tenants.webhooks.test(organizationId, params.id ?? ''),
    }),
  },
  {
    operation: 'listWebhookDeliveries',
    summary: 'List the deliveries of a webhook endpoint with their attempts, newest first',
    method: 'GET',
    paths: ['/v1/webhooks/{id}/deliveries'],
    allOrganizations: true,
    permission: 'Read Only',
    unknown: 'not_found',
    query: webhookDeliveryQuery,
    response: webhookDeliveryList,
    handler: deliveries,
  },
  {
    operation: 'redeliverWebhookDelivery',
    summary: 'Redeliver one event to a webhook endpoint at once',
    method: 'POST',
    paths: ['/v1/webhooks/{id}/deliveries/{eventId}/redeliver'],
    allOrganizations: true,
    permission: 'Full Access',
    unknown: 'not_found',
    errors: ['endpoint_disabled'],
    delivers: true,
    response: webhookDeliveryRecord,
    handler: redeliverOne,
  },
  {
    operation: 'redeliverWebhook',
    summary: 'Redeliver the held and failed events since a time',
    method: 'POST',
    paths: ['/v1/webhooks/{id}/redeliver'],
    allOrganizations: true,
    permission: 'Full Access',
    unknown: 'not_found',
    errors: ['missing_required_field', 'endpoint_disabled'],
    body: redeliverInput,
    delivers: true,
    response: redelivered,
    handler: redeliver,
  },
  {
    operation: 'deleteWebhook',
    summary: 'Delete a webhook endpoint and its pending events',
    method: 'DELETE',
    paths: one,
    allOrganizations: true,
    permission: 'Full Access',
    audited: ['webhook.deleted'],
    unknown: 'not_found',
    response: deleted,
    handler: remove,
  },
])

/** Operations on notifications. */
export const eventDeliveryRoutes: readonly Route<Served>[] = routesOf(
  { tag: NOTIFICATIONS_TAG, belongsTo: 'organization' },
  [
    {
      operation: 'listNotificationWebhookDeliveries',
      summary: 'List the webhook events about a notification with their attempts, newest first',
      method: 'GET',
      paths: ['/v1/notifications/{id}/webhook-deliveries'],
      permission: 'Read Only',
      unknown: 'notification_not_found',
      response: notificationDeliveries,
      handler: async ({ params, organizationId }, { tenants }) => ({
        body: await tenants.notifications.webhookDeliveries(organizationId, params.id ?? ''),
      }),
    },
  ],
)
