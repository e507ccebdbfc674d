import {
  type HandlerResult,
  type RequestContext,
  type Route,
  routesOf,
  type Tag,
  type TenantsOf,
} from '../../core/rest/route.ts'
import { deleted } from '../../core/rest/schemas.ts'
import type { Categories } from './api.ts'
import { type CategoryChange, type CategoryInput, categoryChange, categoryInput } from './input.ts'
import { categoryList, categoryRecord } from './schemas.ts'

/** The methods of a notifier that the handlers use. */
export type Served = TenantsOf<{ readonly categories: Categories }>

const TAG: Tag = { name: 'Categories', description: 'Categories of messages, which people turn on and off.' }

async function create({ body, organizationId }: RequestContext, { tenants }: Served): Promise<HandlerResult> {
  // Untyped: the notifier parses it with `categoryInput`.
  return { body: await tenants.categories.create(organizationId, body as unknown as CategoryInput) }
}

async function update(
  { params, body, organizationId }: RequestContext,
  { tenants }: Served,
): Promise<HandlerResult> {
  // Untyped: the notifier parses it with `categoryChange`.
  const change = body as CategoryChange
  return { body: await tenants.categories.update(organizationId, params.id ?? '', change) }
}

async function remove(
  { params, organizationId }: RequestContext,
  { tenants }: Served,
): Promise<HandlerResult> {
  await tenants.categories.delete(organizationId, params.id ?? '')
  return { body: { deleted: true } }
}

const collection = ['/v1/categories']
const one = ['/v1/categories/{id}']

// Full Access for changes: `required` overrides what people want.
export const categoryRoutes: readonly Route<Served>[] = routesOf({ tag: TAG, belongsTo: 'organization' }, [
  {
    operation: 'createCategory',
    summary: 'Create a category of messages',
    method: 'POST',
    paths: collection,
    permission: 'Full Access',
    audited: ['category.created'],
    status: 201,
    errors: ['missing_required_field', 'category_already_exists'],
    body: categoryInput,
    response: categoryRecord,
    handler: create,
  },
  {
    operation: 'listCategories',
    summary: 'List the categories of messages',
    method: 'GET',
    paths: collection,
    permission: 'Read Only',
    response: categoryList,
    handler: async ({ organizationId }, { tenants }) => ({
      body: await tenants.categories.list(organizationId),
    }),
  },
  {
    operation: 'getCategory',
    summary: 'Get a category by its id or a former id',
    method: 'GET',
    paths: one,
    permission: 'Read Only',
    unknown: 'not_found',
    response: categoryRecord,
    handler: async ({ params, organizationId }, { tenants }) => ({
      body: await tenants.categories.get(organizationId, params.id ?? ''),
    }),
  },
  {
    operation: 'updateCategory',
    summary: 'Change a stored category',
    method: 'PATCH',
    paths: one,
    permission: 'Full Access',
    audited: ['category.updated'],
    unknown: 'not_found',
    errors: ['version_conflict', 'category_already_exists'],
    body: categoryChange,
    response: categoryRecord,
    handler: update,
  },
  {
    operation: 'deleteCategory',
    summary: 'Delete a stored category; what people chose for it stays stored',
    method: 'DELETE',
    paths: one,
    permission: 'Full Access',
    audited: ['category.deleted'],
    unknown: 'not_found',
    response: deleted,
    handler: remove,
  },
])
