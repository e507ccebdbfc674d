import { parseInput } from '../../core/input/parse.ts'
import {
  type HandlerResult,
  type RequestContext,
  type Route,
  routesOf,
  type Tag,
  type TenantsOf,
} from '../../core/rest/route.ts'
import { deleted } from '../../core/rest/schemas.ts'
import type { Suppressions } from './api.ts'
import { type SuppressionInput, suppressionInput } from './input.ts'
import { suppressionList, suppressionQuery, suppressionRecord, suppressionTargetQuery } from './schemas.ts'

/** The methods of a notifier that the handlers use. */
export type Served = TenantsOf<{ readonly suppressions: Suppressions }>

const TAG: Tag = { name: 'Suppressions', description: 'Recipients that get no messages.' }

async function add({ body, organizationId }: RequestContext, { tenants }: Served): Promise<HandlerResult> {
  // Untyped: the notifier parses it with `suppressionInput`.
  return { body: await tenants.suppressions.add(organizationId, body as unknown as SuppressionInput) }
}

async function list({ query, organizationId }: RequestContext, { tenants }: Served): Promise<HandlerResult> {
  const parsed = parseInput(suppressionQuery, query, 'query')
  return { body: await tenants.suppressions.list(organizationId, parsed) }
}

async function remove(
  { query, organizationId }: RequestContext,
  { tenants }: Served,
): Promise<HandlerResult> {
  const target = parseInput(suppressionTargetQuery, query, 'query')
  await tenants.suppressions.remove(organizationId, target)
  return { body: { deleted: true } }
}

const collection = ['/v1/suppressions']

export const suppressionRoutes: readonly Route<Served>[] = routesOf({ tag: TAG, belongsTo: 'organization' }, [
  {
    operation: 'addSuppression',
    summary: 'Suppress a recipient; an existing entry stays unchanged',
    method: 'POST',
    paths: collection,
    permission: 'Full Access',
    audited: ['suppression.added'],
    status: 201,
    errors: [
      'missing_required_field',
      'invalid_channel',
      'invalid_email',
      'invalid_phone',
      'invalid_recipient',
    ],
    body: suppressionInput,
    response: suppressionRecord,
    handler: add,
  },
  {
    operation: 'listSuppressions',
    summary: 'List suppressed recipients, newest first',
    method: 'GET',
    paths: collection,
    permission: 'Read Only',
    errors: ['invalid_channel'],
    query: suppressionQuery,
    response: suppressionList,
    handler: list,
  },
  {
    // In the query, because proxies and routers treat encoded slashes and dots in paths differently.
    operation: 'removeSuppression',
    summary: 'Remove a suppression',
    method: 'DELETE',
    paths: collection,
    permission: 'Full Access',
    audited: ['suppression.removed'],
    errors: ['missing_required_field', 'invalid_channel', 'not_found'],
    query: suppressionTargetQuery,
    response: deleted,
    handler: remove,
  },
])
