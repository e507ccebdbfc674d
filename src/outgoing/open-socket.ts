import { connect, isIP, type LookupFunction, type Socket } from 'node:net'
import type { AddressGuard } from './address-guard.ts'
import { BlockedAddressError } from './guarded-lookup.ts'

/** The host and port of a URL. */
export interface Place {
  /** An IPv6 address without brackets. */
  readonly host: string
  readonly port: number
  readonly secure: boolean
}

export interface SocketOptions {
  /** Checks the connected address. Null: no user chose the address. */
  readonly guard: AddressGuard | null
  /** Resolves names. Default: the system's resolver. */
  readonly lookup?: LookupFunction | undefined
  /** Certificates (PEM) to trust instead of the runtime's list. */
  readonly ca?: readonly string[] | undefined
}

/** A connection that is not open by then is given up, whatever the deadline of its request. */
const CONNECT_MS = 10_000
/** Detects that the peer is gone while nothing is sent. */
const PROBE_AFTER_MS = 1_000

export function placeOf({ protocol, hostname, port }: URL): Place {
  const secure = protocol === 'https:'
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (secure ? 443 : 80) : Number(port),
    secure,
  }
}

/**
 * Connects, with TLS if the place demands it.
 *
 * @param signal ends what is not connected yet
 * @throws BlockedAddressError, or the error of the system call or of TLS; nothing was sent then
 */
export async function openSocket(place: Place, options: SocketOptions, signal: AbortSignal): Promise<Socket> {
  const { host, port } = place
  const { guard, lookup, ca } = options
  let socket: Socket = connect({
    host,
    port,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: PROBE_AFTER_MS,
    ...(lookup === undefined ? {} : { lookup }),
  })
  const giveUp = (code: string): void => {
    socket.destroy(Object.assign(new Error('No connection.'), { code }))
  }
  const onAbort = (): void => giveUp('ECONNABORTED')
  const timer = setTimeout(giveUp, CONNECT_MS, 'ETIMEDOUT')
  signal.addEventListener('abort', onAbort)
  try {
    await reached(socket, 'connect')
    check(socket, guard)
    if (place.secure) {
      const tls = await import('node:tls')
      socket = tls.connect({
        socket,
        host,
        ...(isIP(host) === 0 ? { servername: host } : {}),
        ALPNProtocols: ['http/1.1'],
        ...(ca === undefined ? {} : { ca: [...ca] }),
      })
      await reached(socket, 'secureConnect')
    }
    return socket
  } catch (error) {
    socket.destroy()
    throw error
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
  }
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
