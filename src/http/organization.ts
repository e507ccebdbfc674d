import { NotifierError } from '../domain/errors/notifier-error.ts'
import type { HttpRequest } from './message.ts'
import type { Query } from './query.ts'

/**
 * Which organization a request concerns: the header X-Organization-ID or the query `orgId`, else the
 * key's own. `/admin` paths require `orgId`.
 *
 * @throws NotifierError `missing_required_field`, `invalid_parameter` when header and query differ,
 *   `organization_mismatch` when it is not the key's
 */
export function organizationOf(
  request: HttpRequest,
  query: Query,
  keyOrganization: string,
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
  const named = inQuery || inHeader || keyOrganization
  if (named !== keyOrganization) throw new NotifierError('organization_mismatch')
  return keyOrganization
}
