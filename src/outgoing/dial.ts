import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { AddressGuard } from './address-guard.ts'
import { BlockedAddressError } from './guarded-lookup.ts'

export interface DialOptions {
  /** Judges the address that was connected to; null for addresses that no user chooses. */
  readonly guard: AddressGuard | null
  /** Resolves names. Default: the system's resolver */
  readonly lookup?: LookupFunction | undefined
  /** Certificates (PEM) to trust instead of the runtime's own list. */
  readonly ca?: readonly string[] | undefined
}

export interface Address {
  readonly protocol: string
  readonly hostname: string
  readonly port: string
}

type Connected = (...how: [null, Socket] | [Error, null]) => void

/** Opens a connection and calls back once, when a request's bytes may flow. A socket that is destroyed meanwhile calls nobody. */
export type Dial = (to: Address, callback: Connected) => Socket

/** As many as the agent of Node.js keeps. */
const MOST_SESSIONS = 100
/** Finds out that the other side is gone while nothing is sent. */
const PROBE_AFTER_MS = 1_000

export function createDial({ guard, lookup, ca }: DialOptions): Dial {
  /** By host and port, the oldest first: a handshake that goes on where another ended proves no certificate again. */
  const sessions = new Map<string, Buffer>()

  function remember(key: string, session: Buffer): void {
    sessions.delete(key)
    sessions.set(key, session)
    const [oldest] = sessions.keys()
    if (sessions.size > MOST_SESSIONS && oldest !== undefined) sessions.delete(oldest)
  }

  function open({ protocol, hostname: host, port }: Address): Socket {
    const shared = { host, ...(lookup === undefined ? {} : { lookup }) }
    if (protocol !== 'https:') return connectTcp({ ...shared, port: Number(port || 80) })
    const key = `${host}:${port}`
    const session = sessions.get(key)
    const socket = connectTls({
      ...shared,
      port: Number(port || 443),
      ALPNProtocols: ['http/1.1'],
      ...(isIP(host) === 0 ? { servername: host } : {}),
      ...(ca === undefined ? {} : { ca: [...ca] }),
      ...(session === undefined ? {} : { session }),
    })
    // What a handshake went on with may be why it did not come to its end.
    const forget = (): void => void sessions.delete(key)
    socket.once('error', forget).once('close', forget)
    socket.once('secureConnect', () => socket.off('error', forget).off('close', forget))
    return socket.on('session', (newer) => remember(key, newer))
  }

  return function dial(to, callback) {
    const socket = open(to).setNoDelay(true).setKeepAlive(true, PROBE_AFTER_MS)
    const failed = (error: Error): void => callback(error, null)
    // Before all others: nothing is written to an address that is refused, no handshake either.
    socket.prependOnceListener('connect', () => {
      const { remoteAddress } = socket
      if (remoteAddress !== undefined && guard?.blocks(remoteAddress) === true) {
        socket.destroy(new BlockedAddressError())
      }
    })
    socket.once(to.protocol === 'https:' ? 'secureConnect' : 'connect', () => {
      if (socket.destroyed) return
      socket.off('error', failed)
      callback(null, socket)
    })
    return socket.once('error', failed)
  }
}
