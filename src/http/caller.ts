import { permits } from '../domain/api-key.ts'
import { NotifierError } from '../domain/errors/notifier-error.ts'
import { isAllowedAddress } from '../services/api-keys/ip-list.ts'
import { isOperatorKey } from '../services/api-keys/key-format.ts'
import type { ApiKeyRecord, OperatorKeyRecord } from '../services/api-keys/records.ts'
import type { Counted, Service } from '../services/service.ts'
import { bearerToken } from './authorization.ts'
import type { Client } from './client.ts'
import type { HttpRequest } from './message.ts'
import type { Match, RouteMatch } from './router.ts'

/** The caller of a request: an API key, an operator key, or a dashboard user. */
export interface Caller extends Pick<ApiKeyRecord, 'id' | 'permission' | 'grants'> {
  /** Organizations that the caller may name. `all`: an operator. */
  readonly organizations: 'all' | readonly string[]
  /** Name of a dashboard user. */
  readonly name?: string
  /** Whose limits the requests count against. */
  readonly counted: Counted
}

/** Authenticates the caller of a request. */
export type Authenticate = (request: HttpRequest, client: Client) => Promise<Caller>

/**
 * Authenticates API keys and operator keys. Each request looks up the current state of its key.
 *
 * @throws NotifierError `missing_authorization`, `invalid_api_key`, `expired_api_key`, `ip_not_allowed`
 */
export function authenticateKey({
  apiKeys,
  operatorKeys,
}: Pick<Service, 'apiKeys' | 'operatorKeys'>): Authenticate {
  return async (request, client) => {
    const secret = bearerToken(request.header('authorization'))
    const key = isOperatorKey(secret) ? await operatorKeys.verify(secret) : await apiKeys.verify(secret)
    assertAllowedAddress(key, client)
    const { id, permission, grants } = key
    if (!('organizationId' in key)) {
      return { id, permission, grants, organizations: 'all', counted: { operatorKeyId: id } }
    }
    const { organizationId } = key as ApiKeyRecord
    return { id, permission, grants, organizations: [organizationId], counted: { organizationId } }
  }
}

/** @throws NotifierError `ip_not_allowed` */
export function assertAllowedAddress(
  { allowedIps }: Pick<OperatorKeyRecord, 'allowedIps'>,
  { address }: Client,
): void {
  if (!isAllowedAddress(allowedIps, address)) throw new NotifierError('ip_not_allowed')
}

/** @throws NotifierError `not_found`, `method_not_allowed`, `operator_key_required`, `insufficient_permissions` */
export function permittedRoute(match: Match, { permission: granted, organizations }: Caller): RouteMatch {
  if (match.kind === 'unknown') throw new NotifierError('not_found')
  if (match.kind === 'method') throw new NotifierError('method_not_allowed')
  const { permission: required, belongsTo } = match.route
  if (belongsTo === 'operator' && organizations !== 'all') throw new NotifierError('operator_key_required')
  if (required !== 'public' && !permits(granted, required)) {
    throw new NotifierError('insufficient_permissions', { details: { required, granted } })
  }
  return match
}
