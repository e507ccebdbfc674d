import { parseInput } from '../../core/input/parse.ts'
import {
  type HandlerResult,
  type RequestContext,
  type Route,
  routesOf,
  type Tag,
} from '../../core/rest/route.ts'
import type { Organizations } from './api.ts'
import { type OrganizationInput, organizationChange, organizationInput } from './input.ts'
import {
  organizationDeletion,
  organizationDeletionQuery,
  organizationList,
  organizationQuery,
  organizationRecord,
  planList,
} from './schemas.ts'

/** The methods of a notifier that the handlers use. */
export type Served = { readonly organizations: Organizations }

const EXAMPLE_TIME = '2026-11-21T12:00:00.000Z'

const TAG: Tag = { name: 'Organizations', description: 'Tenants, managed with operator keys.' }

async function create({ body }: RequestContext, notifier: Served): Promise<HandlerResult> {
  // Untyped: the notifier parses it with `organizationInput`.
  const created = await notifier.organizations.create(body as unknown as OrganizationInput)
  return { body: created }
}

async function remove({ params, query }: RequestContext, notifier: Served): Promise<HandlerResult> {
  const options = parseInput(organizationDeletionQuery, query, 'query')
  return { body: await notifier.organizations.delete(params.id ?? '', options) }
}

const collection = ['/v1/organizations']
const one = ['/v1/organizations/{id}']

export const organizationRoutes: readonly Route<Served>[] = routesOf({ tag: TAG, belongsTo: 'operator' }, [
  {
    operation: 'createOrganization',
    summary: 'Create an organization',
    method: 'POST',
    paths: collection,
    permission: 'Full Access',
    audited: ['organization.created'],
    status: 201,
    errors: ['missing_required_field', 'already_exists'],
    body: organizationInput,
    response: organizationRecord,
    example: {
      request: {
        id: 'org_acme',
        name: 'Acme',
        plan: 'starter',
        branding: { logoUrl: 'https://cdn.acme.example/logo.png', color: '#0b5fff' },
      },
      response: {
        id: 'org_acme',
        name: 'Acme',
        plan: 'starter',
        smsCountries: null,
        senders: null,
        retention: { contentDays: null, logDays: null },
        locale: null,
        timeZone: null,
        branding: { name: null, logoUrl: 'https://cdn.acme.example/logo.png', color: '#0b5fff' },
        tracking: { opens: false, clicks: false },
        createdAt: EXAMPLE_TIME,
        deleting: false,
      },
    },
    handler: create,
  },
  {
    operation: 'listOrganizations',
    summary: 'List organizations, newest first',
    method: 'GET',
    paths: collection,
    permission: 'Read Only',
    query: organizationQuery,
    response: organizationList,
    handler: async ({ query }, notifier) => ({
      body: await notifier.organizations.list(parseInput(organizationQuery, query, 'query')),
    }),
  },
  {
    operation: 'listPlans',
    summary: 'List the plans that organizations may have',
    method: 'GET',
    paths: ['/v1/plans'],
    permission: 'Read Only',
    response: planList,
    handler: async (_context, notifier) => ({ body: await notifier.organizations.plans() }),
  },
  {
    operation: 'getOrganization',
    summary: 'Get an organization',
    method: 'GET',
    paths: one,
    permission: 'Read Only',
    unknown: 'not_found',
    response: organizationRecord,
    handler: async ({ params }, notifier) => ({ body: await notifier.organizations.get(params.id ?? '') }),
  },
  {
    operation: 'updateOrganization',
    summary: 'Change the name, plan or settings of an organization',
    method: 'PATCH',
    paths: one,
    permission: 'Full Access',
    audited: ['organization.updated'],
    unknown: 'not_found',
    body: organizationChange,
    response: organizationRecord,
    handler: async ({ params, body }, notifier) => ({
      body: await notifier.organizations.update(params.id ?? '', body),
    }),
  },
  {
    operation: 'deleteOrganization',
    summary: 'Delete an organization with all its data; its API keys stop working at once',
    method: 'DELETE',
    paths: one,
    permission: 'Full Access',
    audited: ['organization.deleted'],
    unknown: 'not_found',
    errors: ['organization_in_use'],
    query: organizationDeletionQuery,
    response: organizationDeletion,
    handler: remove,
  },
])
