import { parseInput } from '../../core/input/parse.ts'
import { listQuery, organizationDeletionQuery } from '../../core/rest/query-schemas.ts'
import { type HandlerResult, type RequestContext, type Route, routesOf } from '../../core/rest/route.ts'
import type { Service } from '../../service.ts'
import { type OrganizationInput, organizationChange, organizationInput } from './input.ts'
import { organizationDeletion, organizationList, organizationRecord } from './schemas.ts'

async function create({ body }: RequestContext, service: Service): Promise<HandlerResult> {
  // Untyped: the notifier parses it with `organizationInput`.
  const created = await service.organizations.create(body as unknown as OrganizationInput)
  return { body: created, organizationId: created.id }
}

async function remove({ params, query }: RequestContext, service: Service): Promise<HandlerResult> {
  const options = parseInput(organizationDeletionQuery, query, 'query')
  return { body: await service.organizations.delete(params.id ?? '', options) }
}

const collection = ['/v1/organizations']
const one = ['/v1/organizations/{id}']

export const organizationRoutes: readonly Route[] = routesOf(
  { tag: 'Organizations', belongsTo: 'operator' },
  [
    {
      operation: 'createOrganization',
      summary: 'Create an organization',
      method: 'POST',
      paths: collection,
      permission: 'Full Access',
      status: 201,
      errors: ['missing_required_field', 'already_exists'],
      body: organizationInput,
      response: organizationRecord,
      handler: create,
    },
    {
      operation: 'listOrganizations',
      summary: 'List organizations, newest first',
      method: 'GET',
      paths: collection,
      permission: 'Read Only',
      query: listQuery,
      response: organizationList,
      handler: async ({ query }, service) => ({
        body: await service.organizations.list(parseInput(listQuery, query, 'query')),
      }),
    },
    {
      operation: 'getOrganization',
      summary: 'Get an organization',
      method: 'GET',
      paths: one,
      permission: 'Read Only',
      unknown: 'not_found',
      response: organizationRecord,
      handler: async ({ params }, service) => ({ body: await service.organizations.get(params.id ?? '') }),
    },
    {
      operation: 'updateOrganization',
      summary: 'Change the name, plan or settings of an organization',
      method: 'PATCH',
      paths: one,
      permission: 'Full Access',
      unknown: 'not_found',
      body: organizationChange,
      response: organizationRecord,
      handler: async ({ params, body }, service) => ({
        body: await service.organizations.update(params.id ?? '', body),
      }),
    },
    {
      operation: 'deleteOrganization',
      summary: 'Delete an organization with all its data; its API keys stop working at once',
      method: 'DELETE',
      paths: one,
      permission: 'Full Access',
      unknown: 'not_found',
      errors: ['organization_in_use'],
      query: organizationDeletionQuery,
      response: organizationDeletion,
      handler: remove,
    },
  ],
)
