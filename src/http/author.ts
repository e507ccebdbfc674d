import type { Author } from '../core/audit/audit.ts'
import type { Caller } from '../core/rest/caller.ts'
import type { HttpRequest } from '../core/rest/message.ts'
import type { Client } from './client.ts'

const MAX_USER_AGENT = 200

/** Who makes the changes of a request, and from where. */
export function authorOf(
  { id, name, organizations, session }: Caller,
  { address }: Client,
  request: HttpRequest,
): Author {
  const type = organizations === 'all' ? 'operator' : session === true ? 'session' : 'key'
  const userAgent = request.header('user-agent')?.slice(0, MAX_USER_AGENT) ?? null
  return { actor: { type, id, name: name ?? null }, from: { ip: address, userAgent } }
}
