import { NotifierError } from '../domain/errors/notifier-error.ts'
import { isOrganizationId } from '../domain/input/organization.ts'
import { unknownOrganization } from '../services/scope.ts'
import type { Service } from '../services/service.ts'
import type { Caller } from './caller.ts'
import type { HttpRequest } from './message.ts'
import type { Query } from './query.ts'
import type { RouteMatch } from './router.ts'

/**
 * Which organization a request concerns; empty: its operation belongs to none. An operator's must exist: while it is being
 * deleted, a key of its own would not work either.
 *
 * @throws NotifierError `missing_required_field`, `invalid_parameter` when header and query differ, `organization_mismatch`
 *   when it is not the key's, `not_found`
 */
export async function organizationOf(
  request: HttpRequest,
  query: Query,
  { route, organizationRequired }: RouteMatch,
  caller: Caller | null,
  { organizations }: Pick<Service, 'organizations'>,
): Promise<string> {
  if (caller === null || route.belongsTo !== 'organization') return ''
  const named = namedOrganization(request, query, caller.organizationId, organizationRequired)
  if (caller.organizationId !== null) return named
  if (!isOrganizationId(named) || (await organizations.get(named)).deleting) throw unknownOrganization(named)
  return named
}

/**
 * The header X-Organization-ID or the query `orgId`, else the key's own. `/admin` paths require `orgId`, and an operator key
 * requires one of the two.
 */
function namedOrganization(
  request: HttpRequest,
  query: Query,
  own: string | null,
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
  const named = inQuery || inHeader || own
  if (named === null) {
    throw new NotifierError('missing_required_field', {
      message:
        'An operator key belongs to no organization. Name the one that the request concerns in the header ' +
        'X-Organization-ID or the query parameter "orgId".',
      details: { field: 'orgId', header: 'X-Organization-ID' },
    })
  }
  if (own !== null && named !== own) throw new NotifierError('organization_mismatch')
  return named
}
