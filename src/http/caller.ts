import { isAllowedAddress } from '../core/access/ip-list.ts'
import { isOperatorKey } from '../core/access/key-format.ts'
import type { KeyRecord } from '../core/access/verify-key.ts'
import { NotifierError } from '../core/errors/notifier-error.ts'
import type { Caller } from '../core/rest/caller.ts'
import type { HttpNotifier } from '../core/rest/http-notifier.ts'
import type { HttpRequest } from '../core/rest/message.ts'
import { bearerToken } from './authorization.ts'
import type { Client } from './client.ts'

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
}: Pick<HttpNotifier, 'apiKeys' | 'operatorKeys'>): Authenticate {
  return async (request, client) => {
    const secret = bearerToken(request.header('authorization'))
    const key = isOperatorKey(secret) ? await operatorKeys.verify(secret) : await apiKeys.verify(secret)
    assertAllowedAddress(key, client)
    const { id, name, permission, grants } = key
    if (!('organizationId' in key)) {
      return { id, name, permission, grants, organizations: 'all', counted: { operatorKeyId: id } }
    }
    const { organizationId } = key
    return { id, name, permission, grants, organizations: [organizationId], counted: { organizationId } }
  }
}

/** @throws NotifierError `ip_not_allowed` */
export function assertAllowedAddress(
  { allowedIps }: Pick<KeyRecord, 'allowedIps'>,
  { address }: Client,
): void {
  if (!isAllowedAddress(allowedIps, address)) throw new NotifierError('ip_not_allowed')
}
