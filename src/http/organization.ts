import { NotifierError } from '../core/errors/notifier-error.ts'
import type { Caller } from '../core/rest/caller.ts'
import type { HttpNotifier } from '../core/rest/http-notifier.ts'
import type { HttpRequest } from '../core/rest/message.ts'
import type { Query } from '../core/rest/query.ts'
import { ALL_ORGANIZATIONS } from '../core/tenancy/all-organizations.ts'
import { ORGANIZATION_ID, unknownOrganization } from '../core/tenancy/organization.ts'
import type { RouteMatch } from './router.ts'

/**
 * The organization of a request. Empty: the operation belongs to no organization. An organization that an operator
 * names must exist; during its deletion its own keys stop working too. `*`: all organizations.
 *
 * @param together the operations that take `*`
 * @throws NotifierError `missing_required_field`, also for an operation that does not take `*`, `invalid_parameter` if header
 *   and query differ, `organization_mismatch` if the caller may not act for it, `not_found`
 */
export async function organizationOf(
  request: HttpRequest,
  query: Query,
  { route, organizationRequired }: RouteMatch,
  caller: Caller | null,
  { organizations }: Pick<HttpNotifier, 'organizations'>,
  together: readonly string[],
): Promise<string> {
  if (caller === null || route.belongsTo !== 'organization') return ''
  const named = namedOrganization(request, query, caller.organizations, organizationRequired)
  if (named === ALL_ORGANIZATIONS) return allOf(route, caller, together)
  if (caller.organizations !== 'all') return named
  if (!ORGANIZATION_ID.test(named) || (await organizations.get(named)).deleting)
    throw unknownOrganization(named)
  return named
}

/** An application may let people in to `['*']`: that is not every organization, which is `all`. */
function allOf(
  { operation, allOrganizations }: RouteMatch['route'],
  { organizations }: Caller,
  together: readonly string[],
): string {
  if (organizations !== 'all') throw new NotifierError('organization_mismatch')
  if (allOrganizations === true) return ALL_ORGANIZATIONS
  throw new NotifierError('missing_required_field', {
    message:
      `"${operation}" concerns one organization: give its id instead of "${ALL_ORGANIZATIONS}". ` +
      `Operations over all organizations are ${together.join(', ')}.`,
    details: { field: 'orgId', operations: together },
  })
}

/**
 * The header X-Organization-ID or the query parameter `orgId`, else the caller's only organization. `/admin` paths
 * require `orgId`; callers with several organizations require one of the two.
 */
function namedOrganization(
  request: HttpRequest,
  query: Query,
  permitted: Caller['organizations'],
  required: boolean,
): string {
  const inQuery = query.orgId
  const inHeader = request.header('x-organization-id')
  if (required && (inQuery === undefined || inQuery === '')) {
    throw new NotifierError('missing_required_field', {
      message: 'The query parameter "orgId" is required.',
      details: { field: 'orgId' },
    })
  }
  if (inQuery && inHeader && inQuery !== inHeader) {
    throw new NotifierError('invalid_parameter', {
      message: 'The header X-Organization-ID and the query parameter "orgId" name different organizations.',
      details: { field: 'orgId' },
    })
  }
  const named = inQuery || inHeader || (permitted.length === 1 ? permitted[0] : undefined)
  if (named === undefined) {
    throw new NotifierError('missing_required_field', {
      message:
        'This caller can act for several organizations. Name the one that the request concerns in the header ' +
        'X-Organization-ID or the query parameter "orgId".',
      details: { field: 'orgId', header: 'X-Organization-ID' },
    })
  }
  if (permitted !== 'all' && !permitted.includes(named)) throw new NotifierError('organization_mismatch')
  return named
}
