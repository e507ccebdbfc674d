import { permits } from '../domain/api-key.ts'
import { NotifierError } from '../domain/errors/notifier-error.ts'
import { isAllowedAddress } from '../services/api-keys/ip-list.ts'
import { isOperatorKey } from '../services/api-keys/key-format.ts'
import type { ApiKeyRecord } from '../services/api-keys/records.ts'
import type { Service } from '../services/service.ts'
import { bearerToken } from './authorization.ts'
import type { Client } from './client.ts'
import type { HttpRequest } from './message.ts'
import type { Match, RouteMatch } from './router.ts'

/** The owner of the key in a request. */
export interface Caller extends Pick<ApiKeyRecord, 'id' | 'permission' | 'grants'> {
  /** Null: an operator key. */
  readonly organizationId: string | null
}

/**
 * Authenticates a request against the current state of its key.
 *
 * @throws NotifierError `missing_authorization`, `invalid_api_key`, `expired_api_key`, `ip_not_allowed`
 */
export async function callerOf(
  request: HttpRequest,
  client: Client,
  { apiKeys, operatorKeys }: Pick<Service, 'apiKeys' | 'operatorKeys'>,
): Promise<Caller> {
  const secret = bearerToken(request.header('authorization'))
  const key = isOperatorKey(secret)
    ? { ...(await operatorKeys.verify(secret)), organizationId: null }
    : await apiKeys.verify(secret)
  if (!isAllowedAddress(key.allowedIps, client.address)) throw new NotifierError('ip_not_allowed')
  return key
}

/** @throws NotifierError `not_found`, `method_not_allowed`, `operator_key_required`, `insufficient_permissions` */
export function permittedRoute(match: Match, { permission: granted, organizationId }: Caller): RouteMatch {
  if (match.kind === 'unknown') throw new NotifierError('not_found')
  if (match.kind === 'method') throw new NotifierError('method_not_allowed')
  const { permission: required, belongsTo } = match.route
  if (belongsTo === 'operator' && organizationId !== null) throw new NotifierError('operator_key_required')
  if (required !== 'public' && !permits(granted, required)) {
    throw new NotifierError('insufficient_permissions', { details: { required, granted } })
  }
  return match
}
