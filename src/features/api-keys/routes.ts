import { GRANTS } from '../../core/access/permissions.ts'
import { parseInput } from '../../core/input/parse.ts'
import { assertGranted } from '../../core/rest/grants.ts'
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
import type { ApiKeys } from './api.ts'
import { type ApiKeyInput, apiKeyInput, keyRotation } from './input.ts'
import { apiKeyList, apiKeyRecord, createdApiKey } from './schemas.ts'

/** The methods of a notifier that the handlers use. */
export type Served = TenantsOf<{ readonly apiKeys: ApiKeys }>

const EXAMPLE_TIME = '2026-11-21T12:00:00.000Z'
const EXAMPLE_KEY = {
  id: 'key_3fJ0kT9sLrZyQw2XbVn8aA',
  organizationId: 'org_default',
  name: 'billing',
  permission: 'Write',
  grants: [],
  hint: 'crl_abcd…wxyz',
  expiresAt: null,
  allowedIps: [],
  createdAt: EXAMPLE_TIME,
  lastUsedAt: null,
  replacedBy: null,
}

const TAG: Tag = { name: 'API keys', description: 'API keys and their permissions.' }

async function create(
  { body, organizationId, grants }: RequestContext,
  { tenants }: Served,
): Promise<HandlerResult> {
  const asked: readonly unknown[] = Array.isArray(body.grants) ? body.grants : []
  assertGranted(
    GRANTS.filter((grant) => asked.includes(grant)),
    grants,
  )
  // Untyped: the notifier parses it with `apiKeyInput`.
  return { body: await tenants.apiKeys.create(organizationId, body as unknown as ApiKeyInput) }
}

async function rotate(
  { params: { id = '' }, body, organizationId, grants }: RequestContext,
  { tenants: { apiKeys } }: Served,
): Promise<HandlerResult> {
  const old = await apiKeys.get(organizationId, id)
  assertGranted(old.grants, grants)
  return { body: await apiKeys.rotate(organizationId, id, parseInput(keyRotation, body)) }
}

async function remove(
  { params, organizationId }: RequestContext,
  { tenants }: Served,
): Promise<HandlerResult> {
  await tenants.apiKeys.delete(organizationId, params.id ?? '')
  return { body: { deleted: true } }
}

const collection = ['/v1/api-keys', '/admin/api-keys']
const one = ['/v1/api-keys/{id}', '/admin/api-keys/{id}']

export const apiKeyRoutes: readonly Route<Served>[] = routesOf({ tag: TAG, belongsTo: 'organization' }, [
  {
    operation: 'createApiKey',
    summary: 'Create an API key; only this response contains its secret',
    method: 'POST',
    paths: collection,
    permission: 'Full Access',
    audited: ['api_key.created'],
    status: 201,
    errors: ['missing_required_field', 'key_limit_reached'],
    body: apiKeyInput,
    response: createdApiKey,
    example: {
      request: { name: 'billing', permission: 'Write' },
      response: { ...EXAMPLE_KEY, secret: 'crl_…' },
    },
    handler: create,
  },
  {
    operation: 'listApiKeys',
    summary: 'List API keys without their secrets, newest first',
    method: 'GET',
    paths: collection,
    permission: 'Read Only',
    query: listQuery,
    response: apiKeyList,
    handler: async ({ query, organizationId }, { tenants }) => ({
      body: await tenants.apiKeys.list(organizationId, parseInput(listQuery, query, 'query')),
    }),
  },
  {
    operation: 'getApiKey',
    summary: 'Get an API key without its secret',
    method: 'GET',
    paths: one,
    permission: 'Read Only',
    unknown: 'not_found',
    response: apiKeyRecord,
    handler: async ({ params, organizationId }, { tenants }) => ({
      body: await tenants.apiKeys.get(organizationId, params.id ?? ''),
    }),
  },
  {
    operation: 'rotateApiKey',
    summary:
      'Make a key with the rights and expiry of this one, which works on for a day; only this response contains the secret',
    method: 'POST',
    paths: one.map((path) => `${path}/rotate`),
    permission: 'Full Access',
    audited: ['api_key.rotated'],
    status: 201,
    unknown: 'not_found',
    errors: ['key_limit_reached', 'key_already_rotated'],
    body: keyRotation,
    bodyOptional: true,
    response: createdApiKey,
    handler: rotate,
  },
  {
    operation: 'deleteApiKey',
    summary: 'Delete an API key; it stops working at once',
    method: 'DELETE',
    paths: one,
    permission: 'Full Access',
    audited: ['api_key.deleted'],
    unknown: 'not_found',
    response: deleted,
    handler: remove,
  },
])
