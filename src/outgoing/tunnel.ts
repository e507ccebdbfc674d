import type { Socket } from 'node:net'
import { authorityOf, type Origin } from './origin.ts'

/** No connection to a provider. Nothing was sent. The message is for people and contains no secret. */
export class ConnectError extends Error {
  override readonly name: string = 'ConnectError'
}

/** A proxy opened no connection. */
export class ProxyError extends ConnectError {
  override readonly name = 'ProxyError'
  readonly code = 'EPROXY'
}

/** Asks a proxy to connect a socket to an origin (RFC 9110 9.3.6). */
export async function tunnel(socket: Socket, proxy: URL, origin: Origin): Promise<void> {
  const { request } = await import('node:http')
  const authority = authorityOf(origin)
  const headers = { host: authority, ...authorizationOf(proxy) }
  return new Promise((resolve, reject) => {
    request({ method: 'CONNECT', path: authority, headers, createConnection: () => socket })
      .on('connect', ({ statusCode = 0 }, _, head: Buffer) => {
        if (head.length > 0) socket.unshift(head)
        if (statusCode >= 200 && statusCode < 300) resolve()
        else reject(new ProxyError(explain(statusCode, authority)))
      })
      .on('error', reject)
      .end()
  })
}

function authorizationOf({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {}
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return { 'proxy-authorization': `Basic ${Buffer.from(credentials, 'utf8').toString('base64')}` }
}

function explain(status: number, authority: string): string {
  return status === 407
    ? 'The proxy answered 407: its URL needs the right user name and password.'
    : `The proxy answered ${status} and connects nothing to ${authority}.`
}
