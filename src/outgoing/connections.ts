import type { Socket } from 'node:net'
import type { Client, Dispatcher } from 'undici'
import type { Dial } from './dial.ts'

/** A connection for one request at a time. Opened on first use, and again if it has ended. */
export interface Connection {
  /** True: it has carried an answer, and may have ended before the next request. */
  readonly used: boolean
  /** @param mostBytes maximum size of an answer with its framing; more ends the connection */
  dispatch(request: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler, mostBytes: number): void
  /** The answer is complete: the next request may follow. */
  free(): void
  /** Ends the connection and its request. */
  cut(): void
}

/** A pool of connections. */
export interface Connections {
  /**
   * Calls `use` with a connection, at once if one is free, otherwise in order.
   *
   * @param HttpClient see {@link loadClient}
   * @returns a function that stops waiting
   */
  take(HttpClient: typeof Client, origin: string, use: (connection: Connection) => void): () => void
  /** Ends all connections and their requests. */
  close(): void
}

export interface ConnectionsOptions {
  /** Maximum number of connections, and so of concurrent requests, to all origins. */
  readonly most: number
  readonly dial: Dial
  /** Called when no connection is open and no caller waits. */
  emptied?(): void
}

interface Kept extends Connection {
  readonly origin: string
  /** Ends the connection but keeps its place. */
  end(): void
}

interface Waiting {
  readonly HttpClient: typeof Client
  readonly origin: string
  use(connection: Connection): void
}

/** Receivers commonly close after 5 s of silence; an earlier end in a header of the answer takes precedence. */
const IDLE_MS = 15_000
/** Margin before that end, so that no request meets it. */
const IDLE_MARGIN_MS = 1_000

/** The answer is too long: headers and framing have no limit of their own. */
class LongAnswerError extends Error {
  override readonly name = 'LongAnswerError'
}

let loading: Promise<typeof Client> | undefined
let loaded: typeof Client | undefined

/** Loaded on first use: it takes 100 ms. Synchronous afterwards. */
export function loadClient(): Promise<typeof Client> | typeof Client {
  if (loaded !== undefined) return loaded
  loading ??= import('undici').then(({ Client }) => {
    loaded = Client
    return Client
  })
  return loading
}

export function createConnections({ most, dial, emptied = () => {} }: ConnectionsOptions): Connections {
  const open = new Set<Kept>()
  /** Idle connections, the last used last. */
  const idle: Kept[] = []
  const waiting = new Set<Waiting>()

  function keep({ HttpClient, origin }: Waiting): Kept {
    let socket: Socket | undefined
    let allowed = 0
    let mostRead = 0
    let used = false
    const client = new HttpClient(origin, {
      connect: (to, callback) => {
        const opening = dial(to, (...how) => {
          // The handshake came before.
          mostRead = opening.bytesRead + allowed
          opening.on('readable', () => {
            if (opening.bytesRead > mostRead) opening.destroy(new LongAnswerError())
          })
          callback(...how)
        })
        socket = opening
      },
      pipelining: 1,
      keepAliveTimeout: IDLE_MS,
      keepAliveMaxTimeout: IDLE_MS,
      keepAliveTimeoutThreshold: IDLE_MARGIN_MS,
      // The exchange has a deadline of its own.
      headersTimeout: 0,
      bodyTimeout: 0,
    })
    const kept: Kept = {
      origin,
      get used() {
        return used
      },
      dispatch(request, handler, mostBytes) {
        allowed = mostBytes
        mostRead = (socket?.bytesRead ?? 0) + allowed
        client.dispatch(request, handler)
      },
      free() {
        used = true
        if (open.has(kept)) idle.push(kept)
        serve()
      },
      end() {
        open.delete(kept)
        const at = idle.indexOf(kept)
        if (at >= 0) idle.splice(at, 1)
        void client.destroy()
        // The client does not own a connecting socket yet.
        socket?.destroy()
      },
      cut() {
        if (!open.has(kept)) return
        kept.end()
        serve()
      },
    }
    client.on('disconnect', () => {
      if (idle.includes(kept)) kept.cut()
    })
    open.add(kept)
    return kept
  }

  function find(next: Waiting): Kept | undefined {
    const at = idle.findLastIndex(({ origin }) => origin === next.origin)
    if (at >= 0) return idle.splice(at, 1)[0]
    // An idle connection makes room for a new one.
    if (open.size >= most) idle[0]?.end()
    return open.size < most ? keep(next) : undefined
  }

  function serve(): void {
    for (const next of waiting) {
      const found = find(next)
      if (found === undefined) return
      waiting.delete(next)
      next.use(found)
    }
    if (open.size === 0) emptied()
  }

  return {
    take(HttpClient, origin, use) {
      const next = { HttpClient, origin, use }
      waiting.add(next)
      serve()
      return () => waiting.delete(next)
    },
    close() {
      for (const kept of [...open]) kept.cut()
    },
  }
}
