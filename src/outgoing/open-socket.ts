import { connect, isIP, type LookupFunction, type Socket } from 'node:net'
import type { AddressGuard } from './address-guard.ts'
import { codeOf } from './error-code.ts'
import { BlockedAddressError } from './guarded-lookup.ts'
import { authorityOf, type Origin, originOf } from './origin.ts'
import { ignoredProxyVariable } from './proxy.ts'
import { ConnectError, ProxyError, tunnel } from './tunnel.ts'

const UNKNOWN_AUTHORITY = /^(UNABLE_TO_(GET_ISSUER|VERIFY)|SELF_SIGNED|DEPTH_ZERO|CERT_UNTRUSTED)/
const NO_ROUTE = /^(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH)$/

/** Why a provider cannot be reached, with the remedy if the code shows one. */
function explainConnection(origin: Origin, code: string, throughProxy: boolean): string {
  const ignored = throughProxy || !NO_ROUTE.test(code) ? null : ignoredProxyVariable()
  return [
    `No connection could be made to ${authorityOf(origin)} (${code}).`,
    ...(UNKNOWN_AUTHORITY.test(code)
      ? ['If you trust the authority of its certificate, name its file in NODE_EXTRA_CA_CERTS.']
      : []),
    ...(ignored === null
      ? []
      : [`${ignored} has no effect: set NODE_USE_ENV_PROXY=1, or use the option "proxy".`]),
  ].join(' ')
}

/** Why a proxy cannot be used. Its URL's user name and password are not shown. */
function explainProxy(proxy: Origin, code: string): string {
  const mixedUp = proxy.secure ? /^(EPROTO|ERR_SSL_|ECONNRESET$)/ : /^(HPE_|ECONNRESET$)/
  const [spoken, other] = proxy.secure ? ['no TLS', 'http'] : ['TLS', 'https']
  const hint = mixedUp.test(code) ? ` If it speaks ${spoken}, its URL begins with ${other}://.` : ''
  return `The proxy ${authorityOf(proxy)} cannot be used (${code}).${hint}`
}

export interface SocketOptions {
  /** Checks the connected address. Null: no user chose the address. */
  readonly guard: AddressGuard | null
  /** Resolves names. Default: the system's resolver. */
  readonly lookup?: LookupFunction | undefined
  /** Certificates (PEM) to trust instead of the runtime's list. */
  readonly ca?: readonly string[] | undefined
  /** @default 'http/1.1' */
  readonly protocol?: 'http/1.1' | 'h2' | undefined
  /** A connection that is not open by then is given up. Default: 10 000 */
  readonly timeoutMs?: number | undefined
}

const CONNECT_MS = 10_000
/** Detects that the peer is gone while nothing is sent. */
const PROBE_AFTER_MS = 1_000

/**
 * Connects, with TLS if the origin needs it.
 *
 * @param proxy leads there. Null: none
 * @param signal ends an attempt that is not connected yet
 * @throws BlockedAddressError, ConnectError, or with a guard the error of the system call or of TLS; nothing was sent then
 */
export async function openSocket(
  origin: Origin,
  proxy: URL | null,
  options: SocketOptions,
  signal: AbortSignal,
): Promise<Socket> {
  const { guard, lookup, timeoutMs = CONNECT_MS } = options
  const hop = proxy === null ? origin : originOf(proxy)
  let socket: Socket = connect({
    host: hop.host,
    port: hop.port,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: PROBE_AFTER_MS,
    ...(lookup === undefined ? {} : { lookup }),
  })
  let inProxy = proxy !== null
  const giveUp = (code: string): void => {
    socket.destroy(Object.assign(new Error('No connection.'), { code }))
  }
  const onAbort = (): void => giveUp('ECONNABORTED')
  const timer = setTimeout(giveUp, timeoutMs, 'ETIMEDOUT')
  signal.addEventListener('abort', onAbort)
  const secure = async (host: string, more: Pick<SocketOptions, 'ca' | 'protocol'>): Promise<void> => {
    socket = await encrypted(socket, host, more)
    await reached(socket, 'secureConnect')
  }
  try {
    if (signal.aborted) onAbort()
    await reached(socket, 'connect')
    check(socket, guard)
    if (proxy !== null) {
      if (hop.secure) await secure(hop.host, {})
      await tunnel(socket, proxy, origin)
      inProxy = false
    }
    if (origin.secure) await secure(origin.host, options)
    return socket
  } catch (error) {
    socket.destroy()
    // Users see the errors of addresses that they choose: those get no names and settings of the operator.
    if (guard !== null || error instanceof ConnectError) throw error
    const code = codeOf(error)
    if (inProxy) throw new ProxyError(explainProxy(hop, code), { cause: error })
    throw new ConnectError(explainConnection(origin, code, proxy !== null), { cause: error })
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
  }
}

async function encrypted(
  socket: Socket,
  host: string,
  { ca, protocol = 'http/1.1' }: Pick<SocketOptions, 'ca' | 'protocol'>,
): Promise<Socket> {
  const tls = await import('node:tls')
  return tls.connect({
    socket,
    host,
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ALPNProtocols: [protocol],
    ...(ca === undefined ? {} : { ca: [...ca] }),
  })
}

function reached(socket: Socket, event: 'connect' | 'secureConnect'): Promise<void> {
  return new Promise((resolve, reject) => {
    socket
      .once(event, resolve)
      // Stays: an error without a listener would end the process.
      .on('error', reject)
      .once('close', () => reject(Object.assign(new Error('The connection ended.'), { code: 'ECONNRESET' })))
  })
}

/** A runtime that ignores `lookup`, or hides the address, gets no connection. */
function check({ remoteAddress }: Socket, guard: AddressGuard | null): void {
  if (guard === null) return
  if (remoteAddress === undefined) {
    throw Object.assign(new Error('The address is unknown.'), { code: 'EADDRNOTAVAIL' })
  }
  if (guard.blocks(remoteAddress)) throw new BlockedAddressError()
}
