import { parseInput } from '../../domain/input/parse.ts'
import { webhookEndpointInput } from '../../domain/input/webhook-endpoint.ts'
import type { Notifier } from '../../services/notifier.ts'
import type { WebhookEndpointInput } from '../../services/records.ts'
import { deleted } from '../schemas/common.ts'
import { listQuery } from '../schemas/query.ts'
import { createdWebhookEndpoint, webhookEndpointList, webhookEndpointRecord } from '../schemas/webhook.ts'
import type { HandlerResult, RequestContext, Route } from './route.ts'

async function create({ body, organizationId }: RequestContext, notifier: Notifier): Promise<HandlerResult> {
  // The body may hold anything: the notifier parses it by `webhookEndpointInput`.
  const endpoint = body as unknown as WebhookEndpointInput
  return { body: await notifier.webhooks.create(endpoint, { organizationId }) }
}

async function list({ query, organizationId }: RequestContext, notifier: Notifier): Promise<HandlerResult> {
  return { body: await notifier.webhooks.list({ ...parseInput(listQuery, query, 'query'), organizationId }) }
}

async function get({ params, organizationId }: RequestContext, notifier: Notifier): Promise<HandlerResult> {
  return { body: await notifier.webhooks.get(params.id ?? '', { organizationId }) }
}

async function remove(
  { params, organizationId }: RequestContext,
  notifier: Notifier,
): Promise<HandlerResult> {
  await notifier.webhooks.delete(params.id ?? '', { organizationId })
  return { body: { deleted: true } }
}

const collection = ['/v1/webhooks']
const one = ['/v1/webhooks/{id}']

export const webhookRoutes: readonly Route[] = [
  {
    operation: 'createWebhook',
    summary: 'Register a webhook endpoint; its secret is shown in this answer and never again',
    tag: 'Webhooks',
    method: 'POST',
    paths: collection,
    permission: 'Full Access',
    limit: 'requests',
    status: 201,
    errors: ['missing_required_field', 'blocked_address'],
    body: webhookEndpointInput,
    response: createdWebhookEndpoint,
    handler: create,
  },
  {
    operation: 'listWebhooks',
    summary: 'List webhook endpoints without their secrets, newest first',
    tag: 'Webhooks',
    method: 'GET',
    paths: collection,
    permission: 'Read Only',
    limit: 'requests',
    status: 200,
    query: listQuery,
    response: webhookEndpointList,
    handler: list,
  },
  {
    operation: 'getWebhook',
    summary: 'Get a webhook endpoint without its secret',
    tag: 'Webhooks',
    method: 'GET',
    paths: one,
    permission: 'Read Only',
    limit: 'requests',
    status: 200,
    unknown: 'not_found',
    response: webhookEndpointRecord,
    handler: get,
  },
  {
    operation: 'deleteWebhook',
    summary: 'Delete a webhook endpoint; what it was still to be told is dropped',
    tag: 'Webhooks',
    method: 'DELETE',
    paths: one,
    permission: 'Full Access',
    limit: 'requests',
    status: 200,
    unknown: 'not_found',
    response: deleted,
    handler: remove,
  },
]
