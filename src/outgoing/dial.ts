import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { AddressGuard } from './address-guard.ts'
import { BlockedAddressError } from './guarded-lookup.ts'

export interface DialOptions {
  /** Checks the connected address. Null: no user chose the address. */
  readonly guard: AddressGuard | null
  /** Resolves names. Default: the system's resolver. */
  readonly lookup?: LookupFunction | undefined
  /** Certificates (PEM) to trust instead of the runtime's list. */
  readonly ca?: readonly string[] | undefined
}

export interface Address {
  readonly protocol: string
  readonly hostname: string
  readonly port: string
}

type Connected = (...how: [null, Socket] | [Error, null]) => void

/** Opens a connection and calls back once, when it is ready. A destroyed socket does not call back. */
export type Dial = (to: Address, callback: Connected) => Socket

/** As in Node's agent. */
const MOST_SESSIONS = 100
/** Detects that the peer is gone while nothing is sent. */
const PROBE_AFTER_MS = 1_000

export function createDial({ guard, lookup, ca }: DialOptions): Dial {
  /** TLS sessions by host and port, oldest first: a resumed handshake verifies no certificate. */
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
    // The session may be the cause of a failed handshake.
    const forget = (): void => void sessions.delete(key)
    socket.once('error', forget).once('close', forget)
    socket.once('secureConnect', () => socket.off('error', forget).off('close', forget))
    return socket.on('session', (newer) => remember(key, newer))
  }

  return function dial(to, callback) {
    const socket = open(to).setNoDelay(true).setKeepAlive(true, PROBE_AFTER_MS)
    const failed = (error: Error): void => callback(error, null)
    // Runs first: nothing, not even a handshake, is sent to a refused address.
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
