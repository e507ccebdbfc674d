import { GRANTS } from '../../domain/api-key.ts'
import { type ApiKeyInput, apiKeyInput } from '../../domain/input/api-key.ts'
import { parseInput } from '../../domain/input/parse.ts'
import type { Service } from '../../services/service.ts'
import { assertGranted } from '../grants.ts'
import { apiKeyList, apiKeyRecord, createdApiKey } from '../schemas/api-key.ts'
import { deleted } from '../schemas/common.ts'
import { listQuery } from '../schemas/query.ts'
import type { HandlerResult, RequestContext, Route } from './route.ts'

async function create(
  { body, organizationId, grants }: RequestContext,
  service: Service,
): Promise<HandlerResult> {
  const asked: readonly unknown[] = Array.isArray(body.grants) ? body.grants : []
  assertGranted(
    GRANTS.filter((grant) => asked.includes(grant)),
    grants,
  )
  // Untyped: the notifier parses it with `apiKeyInput`.
  return { body: await service.apiKeys.create(organizationId, body as unknown as ApiKeyInput) }
}

async function list({ query, organizationId }: RequestContext, service: Service): Promise<HandlerResult> {
  return { body: await service.apiKeys.list(organizationId, parseInput(listQuery, query, 'query')) }
}

async function get({ params, organizationId }: RequestContext, service: Service): Promise<HandlerResult> {
  return { body: await service.apiKeys.get(organizationId, params.id ?? '') }
}

async function remove({ params, organizationId }: RequestContext, service: Service): Promise<HandlerResult> {
  await service.apiKeys.delete(organizationId, params.id ?? '')
  return { body: { deleted: true } }
}

const collection = ['/v1/api-keys', '/admin/api-keys']
const one = ['/v1/api-keys/{id}', '/admin/api-keys/{id}']

export const apiKeyRoutes: readonly Route[] = [
  {
    operation: 'createApiKey',
    summary: 'Create an API key; only this response contains its secret',
    tag: 'API keys',
    method: 'POST',
    paths: collection,
    belongsTo: 'organization',
    permission: 'Full Access',
    limit: 'requests',
    status: 201,
    errors: ['missing_required_field'],
    body: apiKeyInput,
    response: createdApiKey,
    handler: create,
  },
  {
    operation: 'listApiKeys',
    summary: 'List API keys without their secrets, newest first',
    tag: 'API keys',
    method: 'GET',
    paths: collection,
    belongsTo: 'organization',
    permission: 'Read Only',
    limit: 'requests',
    status: 200,
    query: listQuery,
    response: apiKeyList,
    handler: list,
  },
  {
    operation: 'getApiKey',
    summary: 'Get an API key without its secret',
    tag: 'API keys',
    method: 'GET',
    paths: one,
    belongsTo: 'organization',
    permission: 'Read Only',
    limit: 'requests',
    status: 200,
    unknown: 'not_found',
    response: apiKeyRecord,
    handler: get,
  },
  {
    operation: 'deleteApiKey',
    summary: 'Delete an API key; it stops working at once',
    tag: 'API keys',
    method: 'DELETE',
    paths: one,
    belongsTo: 'organization',
    permission: 'Full Access',
    limit: 'requests',
    status: 200,
    unknown: 'not_found',
    response: deleted,
    handler: remove,
  },
]
