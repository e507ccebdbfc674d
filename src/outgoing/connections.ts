import type { LookupFunction, Socket } from 'node:net'
import type { Agent, buildConnector } from 'undici'
import type { AddressGuard } from './address-guard.ts'
import { BlockedAddressError } from './guarded-lookup.ts'

/** Kept connections to any number of origins, by undici's agent. */
export interface Connections {
  /** Resolves to an agent that follows no redirects and has no deadlines of its own for an answer. */
  agent(): Promise<Agent>
  /** Ends all connections and their requests. Later requests open new ones. */
  close(): void
}

export interface ConnectionsOptions {
  /** Maximum number of connections, and so of concurrent requests, to one origin. Default: no maximum. */
  readonly most?: number | undefined
  /** Checks the connected address. Null: no user chose the address. */
  readonly guard: AddressGuard | null
  /** Resolves names. Default: the system's resolver. */
  readonly lookup?: LookupFunction | undefined
  /** Certificates (PEM) to trust instead of the runtime's list. */
  readonly ca?: readonly string[] | undefined
}

/** Receivers commonly close after 5 s of silence; an earlier end in a header of the answer takes precedence. */
const IDLE_MS = 15_000
/** Margin before that end, so that no request meets it. */
const IDLE_MARGIN_MS = 1_000
/** A connection that is not open by then is given up, whatever the deadline of its request. */
const CONNECT_MS = 10_000
/** Detects that the peer is gone while nothing is sent. */
const PROBE_AFTER_MS = 1_000
/** Well above every body that is read: it limits headers, interim answers and chunk framing, which have no end. */
const MOST_BYTES = 1024 * 1024

class LongAnswerError extends Error {
  override readonly name = 'LongAnswerError'
}

export function createConnections(options: ConnectionsOptions): Connections {
  const { most, guard, lookup, ca } = options
  let open: { readonly agent: Promise<Agent>; readonly closing: AbortController } | undefined

  /** Loads undici on first use: it takes 100 ms. */
  async function create(signal: AbortSignal): Promise<Agent> {
    const { Agent, buildConnector } = await import('undici')
    const connect = buildConnector({
      // Also ends what is not connected yet.
      signal,
      timeout: CONNECT_MS,
      keepAliveInitialDelay: PROBE_AFTER_MS,
      // A session that a receiver no longer accepts would fail every handshake.
      maxCachedSessions: 0,
      ...(lookup === undefined ? {} : { lookup }),
      ...(ca === undefined ? {} : { ca: [...ca] }),
    })
    return new Agent({
      connect: (to, callback) => connect(to, checked(callback)),
      connections: most ?? null,
      keepAliveTimeout: IDLE_MS,
      keepAliveMaxTimeout: IDLE_MS,
      keepAliveTimeoutThreshold: IDLE_MARGIN_MS,
      // The exchange has a deadline of its own.
      headersTimeout: 0,
      bodyTimeout: 0,
    })
  }

  function checked(callback: buildConnector.Callback): buildConnector.Callback {
    return (error, socket) => {
      if (error !== null) return callback(error, null)
      const { remoteAddress } = socket
      if (remoteAddress === undefined || guard?.blocks(remoteAddress) !== true) {
        return callback(null, limited(socket))
      }
      socket.destroy()
      callback(new BlockedAddressError(), null)
    }
  }

  return {
    agent() {
      if (open === undefined) {
        const closing = new AbortController()
        open = { agent: create(closing.signal), closing }
      }
      return open.agent
    },
    close() {
      const closed = open
      open = undefined
      void closed?.agent.then((agent) => agent.destroy()).then(() => closed.closing.abort())
    },
  }
}

/** Counts what arrives after each write, which is one answer: a connection carries one request at a time. */
function limited(socket: Socket): Socket {
  let written = 0
  let readBefore = 0
  let read = 0
  return socket.on('readable', () => {
    if (socket.bytesWritten !== written) {
      written = socket.bytesWritten
      readBefore = read
    }
    read = socket.bytesRead
    if (read - readBefore > MOST_BYTES) socket.destroy(new LongAnswerError())
  })
}
