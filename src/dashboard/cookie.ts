import type { HttpRequest } from '../core/rest/message.ts'
import { SESSION_MS } from '../features/sessions/index.ts'
import type { Client } from '../http/client.ts'

/** Browsers accept the prefix over HTTPS alone, and Safari no `Secure` cookie on http://localhost. */
const nameFor = ({ secure }: Pick<Client, 'secure'>): string =>
  secure ? '__Secure-carillon_session' : 'carillon_session'

/**
 * The cookie of a session. Without a `Path` it belongs to the directory of the request (RFC 6265 5.1.4), which is the mount:
 * so it needs no option that names the mount, and works behind a proxy that strips a prefix.
 */
export function sessionCookie(token: string, client: Pick<Client, 'secure'>): string {
  const attributes = `HttpOnly; SameSite=Strict; Max-Age=${SESSION_MS / 1000}`
  return `${nameFor(client)}=${token}; ${attributes}${client.secure ? '; Secure' : ''}`
}

export function endedCookie(client: Pick<Client, 'secure'>): string {
  return `${nameFor(client)}=; HttpOnly; SameSite=Strict; Max-Age=0${client.secure ? '; Secure' : ''}`
}

/** The tokens that a request brings. */
export function sessionTokens(request: HttpRequest, client: Pick<Client, 'secure'>): string[] {
  const start = `${nameFor(client)}=`
  return (request.header('cookie') ?? '')
    .split(/[;,]/)
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(start))
    .map((pair) => pair.slice(start.length))
}
