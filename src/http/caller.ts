import { isAllowedAddress } from '../core/access/ip-list.ts'
import { isOperatorKey } from '../core/access/key-format.ts'
import type { KeyRecord } from '../core/access/keys.ts'
import { NotifierError } from '../core/errors/notifier-error.ts'
import type { Caller } from '../core/rest/caller.ts'
import type { HttpNotifier } from '../core/rest/http-notifier.ts'
import type { HttpRequest } from '../core/rest/message.ts'
import type { Client } from './client.ts'

const MAX_TOKEN = 256
const BEARER = /^bearer +([\x21-\x7e]+) *$/i

/**
 * The token of `Authorization: Bearer <token>`: scheme in any case, exactly one token. Adapters join repeated headers
 * with a comma and a space, so they hold two tokens and fail like any malformed header.
 *
 * @throws NotifierError `missing_authorization`; `invalid_api_key` for a malformed header
 */
export function bearerToken(header: string | undefined): string {
  if (header === undefined || header === '') throw new NotifierError('missing_authorization')
  const token = header.length > MAX_TOKEN + 64 ? undefined : BEARER.exec(header)?.[1]
  if (token === undefined || token.length > MAX_TOKEN) {
    throw new NotifierError('invalid_api_key', {
      message:
        'The Authorization header has no key with the scheme Bearer. Send "Authorization: Bearer <API key>".',
    })
  }
  return token
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
