import type { Socket } from 'node:net'
import type { ProxyFor } from '../core/ports/outgoing.ts'
import { IdleSet } from './idle-set.ts'
import { openSocket, type SocketOptions } from './open-socket.ts'
import { type Origin, originOf } from './origin.ts'

/** Kept connections to any number of origins. A connection carries one request at a time. */
export interface Connections {
  /**
   * Connects a request as soon as one connection is free. The caller's next step is the write.
   *
   * @param owner gets a connection that has never carried another owner's request
   * @returns a function that cancels the request; without effect after the end of the wait
   */
  connect(owner: string, url: URL, waiting: Waiting): () => void
  /** Ends all connections and their requests. Later requests open new ones. */
  close(): void
}

/** A request without a connection. Exactly one method is called, unless the request gives up. */
export interface Waiting {
  connected(connection: Connection): void
  /** Nothing was sent. */
  failed(error: Error): void
}

/** A connection that one request has for itself until `free` is emitted on the socket. */
export interface Connection {
  readonly socket: Socket
  /** The header `Keep-Alive` of the answer. */
  keep(hint: string | undefined): void
}

export interface ConnectionsOptions extends SocketOptions {
  /** Maximum number of connections, and so of concurrent requests, of one owner to one origin. Default: no maximum. */
  readonly most?: number | undefined
  /** Maximum number of idle connections of all owners to all origins. Default: no maximum. */
  readonly mostIdle?: number | undefined
  /** Default: no proxy. */
  readonly proxyFor?: ProxyFor | undefined
}

/** Receivers commonly close after 5 s of silence; an earlier end in a header of the answer takes precedence. */
const IDLE_MS = 15_000
/** Margin before that end, so that no request runs into it. */
const IDLE_MARGIN_MS = 1_000
/** Well above every body that is read: it limits headers, interim answers and chunk framing, which have no end. */
const MOST_BYTES = 1024 * 1024

class LongAnswerError extends Error {
  override readonly name = 'LongAnswerError'
}

class ClosedError extends Error {
  override readonly name = 'ClosedError'
}

export function createConnections(options: ConnectionsOptions): Connections {
  const origins = new Map<string, OriginPool>()
  const idle = new IdleSet<Kept>(options.mostIdle ?? Number.POSITIVE_INFINITY)
  return {
    connect(owner, url, waiting) {
      const name = `${url.origin} ${owner}`
      let origin = origins.get(name)
      if (origin === undefined) {
        const created = new OriginPool(owner, url, options, idle, () => {
          if (origins.get(name) === created) origins.delete(name)
        })
        origins.set(name, created)
        origin = created
      }
      return origin.connect(waiting)
    },
    close() {
      const open = [...origins.values()]
      origins.clear()
      for (const origin of open) origin.close()
    },
  }
}

/** The connections of one owner to one origin, and the requests that wait for one. */
class OriginPool {
  readonly #owner: string
  readonly #url: URL
  readonly #origin: Origin
  readonly #options: ConnectionsOptions
  readonly #allIdle: IdleSet<Kept>
  readonly #onEmpty: () => void
  readonly #waiting = new Set<Waiting>()
  readonly #open = new Set<Kept>()
  /** The last one is used first, so that the others can end. */
  readonly #idle: Kept[] = []
  readonly #closing = new AbortController()
  #opening = 0
  #looking = false

  constructor(
    owner: string,
    url: URL,
    options: ConnectionsOptions,
    allIdle: IdleSet<Kept>,
    onEmpty: () => void,
  ) {
    this.#owner = owner
    this.#url = url
    this.#origin = originOf(url)
    this.#options = options
    this.#allIdle = allIdle
    this.#onEmpty = onEmpty
  }

  connect(waiting: Waiting): () => void {
    this.#waiting.add(waiting)
    if (this.#idle.length === 0) this.#openMore()
    else if (!this.#looking) {
      // A connection that the peer has ended meanwhile is known in the next turn. Nothing must be written to it.
      this.#looking = true
      setImmediate(() => this.#look())
    }
    return () => this.#waiting.delete(waiting)
  }

  close(): void {
    this.#closing.abort()
    for (const { socket } of this.#open) socket.destroy()
    for (const waiting of this.#waiting) this.#fail(waiting, new ClosedError())
  }

  #look(): void {
    this.#looking = false
    for (const waiting of this.#waiting) {
      let kept = this.#wake()
      while (kept?.reusable() === false) kept = this.#wake()
      if (kept === undefined) break
      this.#give(kept, waiting)
    }
    this.#openMore()
  }

  #wake(): Kept | undefined {
    const kept = this.#idle.pop()
    if (kept !== undefined) this.#allIdle.delete(this.#owner, kept)
    return kept
  }

  #give(kept: Kept, waiting: Waiting): void {
    this.#waiting.delete(waiting)
    kept.take()
    waiting.connected(kept)
  }

  #fail(waiting: Waiting | undefined, error: Error): void {
    if (waiting === undefined) return
    this.#waiting.delete(waiting)
    waiting.failed(error)
  }

  #openMore(): void {
    const { most = Number.POSITIVE_INFINITY } = this.#options
    while (this.#opening < this.#waiting.size && this.#opening + this.#open.size < most) {
      this.#opening += 1
      this.#openOne().then(
        (socket) => this.#opened(socket),
        (error: Error) => {
          this.#opening -= 1
          const [first] = this.#waiting
          this.#fail(first, error)
          this.#proceed()
        },
      )
    }
  }

  async #openOne(): Promise<Socket> {
    const proxy = this.#options.proxyFor?.(this.#url) ?? null
    return openSocket(this.#origin, proxy, this.#options, this.#closing.signal)
  }

  #opened(socket: Socket): void {
    this.#opening -= 1
    if (this.#closing.signal.aborted) {
      socket.destroy()
      return
    }
    const kept = new Kept(socket)
    this.#open.add(kept)
    socket.on('free', () => this.#free(kept))
    socket.once('close', () => {
      this.#open.delete(kept)
      this.#allIdle.delete(this.#owner, kept)
      const index = this.#idle.indexOf(kept)
      if (index >= 0) this.#idle.splice(index, 1)
      this.#proceed()
    })
    this.#free(kept)
  }

  #free(kept: Kept): void {
    if (!kept.reusable()) {
      kept.socket.destroy()
      return
    }
    const [first] = this.#waiting
    if (first === undefined) {
      kept.rest()
      this.#idle.push(kept)
      this.#allIdle.add(this.#owner, kept)?.socket.destroy()
    } else this.#give(kept, first)
  }

  #proceed(): void {
    this.#openMore()
    if (this.#open.size + this.#opening + this.#waiting.size === 0) this.#onEmpty()
  }
}

class Kept implements Connection {
  readonly socket: Socket
  #busy = false
  #read = 0
  #idleMs = IDLE_MS

  constructor(socket: Socket) {
    this.socket = socket
      .setTimeout(IDLE_MS)
      // Every read and write restarts the time.
      .on('timeout', () => {
        if (!this.#busy) socket.destroy()
      })
      .on('data', (bytes) => {
        this.#read += bytes.length
        if (!this.#busy || this.#read > MOST_BYTES) socket.destroy(new LongAnswerError())
      })
  }

  keep(hint: string | undefined): void {
    const seconds = /timeout=(\d+)/i.exec(hint ?? '')?.[1]
    this.#idleMs =
      seconds === undefined ? IDLE_MS : Math.min(Number(seconds) * 1_000 - IDLE_MARGIN_MS, IDLE_MS)
  }

  reusable(): boolean {
    return this.#idleMs > 0 && this.socket.writable && !this.socket.destroyed
  }

  take(): void {
    if (!this.#busy) this.socket.ref()
    this.#busy = true
    this.#read = 0
  }

  rest(): void {
    this.#busy = false
    const { socket } = this
    if (socket.timeout !== this.#idleMs) socket.setTimeout(this.#idleMs)
    // An idle connection does not keep the process running.
    socket.unref()
  }
}
