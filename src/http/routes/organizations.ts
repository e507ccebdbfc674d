import {
  type OrganizationInput,
  organizationChange,
  organizationInput,
} from '../../domain/input/organization.ts'
import { parseInput } from '../../domain/input/parse.ts'
import type { Service } from '../../services/service.ts'
import { organizationDeletion, organizationList, organizationRecord } from '../schemas/organization.ts'
import { listQuery, organizationDeletionQuery } from '../schemas/query.ts'
import type { HandlerResult, RequestContext, Route } from './route.ts'

async function create({ body }: RequestContext, service: Service): Promise<HandlerResult> {
  // Untyped: the notifier parses it with `organizationInput`.
  const created = await service.organizations.create(body as unknown as OrganizationInput)
  return { body: created, organizationId: created.id }
}

async function list({ query }: RequestContext, service: Service): Promise<HandlerResult> {
  return { body: await service.organizations.list(parseInput(listQuery, query, 'query')) }
}

async function get({ params }: RequestContext, service: Service): Promise<HandlerResult> {
  return { body: await service.organizations.get(params.id ?? '') }
}

async function update({ params, body }: RequestContext, service: Service): Promise<HandlerResult> {
  return { body: await service.organizations.update(params.id ?? '', body) }
}

async function remove({ params, query }: RequestContext, service: Service): Promise<HandlerResult> {
  const options = parseInput(organizationDeletionQuery, query, 'query')
  return { body: await service.organizations.delete(params.id ?? '', options) }
}

const collection = ['/v1/organizations']
const one = ['/v1/organizations/{id}']

export const organizationRoutes: readonly Route[] = [
  {
    operation: 'createOrganization',
    summary: 'Create an organization',
    tag: 'Organizations',
    method: 'POST',
    paths: collection,
    belongsTo: 'operator',
    permission: 'Full Access',
    limit: 'requests',
    status: 201,
    errors: ['missing_required_field', 'already_exists'],
    body: organizationInput,
    response: organizationRecord,
    handler: create,
  },
  {
    operation: 'listOrganizations',
    summary: 'List organizations, newest first',
    tag: 'Organizations',
    method: 'GET',
    paths: collection,
    belongsTo: 'operator',
    permission: 'Read Only',
    limit: 'requests',
    status: 200,
    query: listQuery,
    response: organizationList,
    handler: list,
  },
  {
    operation: 'getOrganization',
    summary: 'Get an organization',
    tag: 'Organizations',
    method: 'GET',
    paths: one,
    belongsTo: 'operator',
    permission: 'Read Only',
    limit: 'requests',
    status: 200,
    unknown: 'not_found',
    response: organizationRecord,
    handler: get,
  },
  {
    operation: 'updateOrganization',
    summary: 'Change the name, plan or settings of an organization',
    tag: 'Organizations',
    method: 'PATCH',
    paths: one,
    belongsTo: 'operator',
    permission: 'Full Access',
    limit: 'requests',
    status: 200,
    unknown: 'not_found',
    body: organizationChange,
    response: organizationRecord,
    handler: update,
  },
  {
    operation: 'deleteOrganization',
    summary: 'Delete an organization with all its data; its API keys stop working at once',
    tag: 'Organizations',
    method: 'DELETE',
    paths: one,
    belongsTo: 'operator',
    permission: 'Full Access',
    limit: 'requests',
    status: 200,
    unknown: 'not_found',
    errors: ['organization_in_use'],
    query: organizationDeletionQuery,
    response: organizationDeletion,
    handler: remove,
  },
]
