import type { Socket } from 'node:net'
import type { Client, Dispatcher } from 'undici'
import type { Dial } from './dial.ts'

/** A connection that one request has for itself. It is opened when it is first used, and anew if it has ended meanwhile. */
export interface Connection {
  /** An answer has come over it: it may have ended since, before the next request was written. */
  readonly used: boolean
  /** @param mostBytes of an answer, with all that frames its body; the connection ends when more comes */
  dispatch(request: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler, mostBytes: number): void
  /** The answer has been read to its end: the next request may follow. */
  free(): void
  /** Ends the connection, and what is under way on it. */
  cut(): void
}

/** Connections that are kept for the next request. */
export interface Connections {
  /**
   * Calls `use` with a connection, at once if one is free; those who must wait are served in order.
   *
   * @param HttpClient see {@link loadClient}
   * @returns gives up waiting
   */
  take(HttpClient: typeof Client, origin: string, use: (connection: Connection) => void): () => void
  /** Ends all connections, and what is under way on them. */
  close(): void
}

export interface ConnectionsOptions {
  /** Most connections, and so most requests under way, wherever they go. */
  readonly most: number
  readonly dial: Dial
  /** None is open and nobody waits. */
  emptied?(): void
}

interface Kept extends Connection {
  readonly origin: string
  /** Cuts it, and gives its place to nobody yet. */
  end(): void
}

interface Waiting {
  readonly HttpClient: typeof Client
  readonly origin: string
  use(connection: Connection): void
}

/** Receivers commonly close after 5 s of silence; Node's own server announces that in a header, which wins if it is sooner. */
const IDLE_MS = 15_000
/** An announced end is met so much earlier: a request must not cross it. */
const IDLE_MARGIN_MS = 1_000

/** More came than an answer may have: what frames a body, or comes before it, has no end of its own. */
class LongAnswerError extends Error {
  override readonly name = 'LongAnswerError'
}

let loading: Promise<typeof Client> | undefined
let loaded: typeof Client | undefined

/** Loaded with the first request: it costs a process 100 ms. Those after it need not wait. */
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
  /** Those without a request, the last used last. */
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
          // What came before is the handshake.
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
      // The deadline of an exchange holds for all of it.
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
        // One that is still being opened is not yet the client's.
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
    // One that is of no use now gives its place to one that is.
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
