import { NotifierError } from '../core/errors/notifier-error.ts'

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
