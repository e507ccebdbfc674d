import { type ClientHttp2Session, connect, constants } from 'node:http2'
import type { Socket } from 'node:net'
import type { ProxyFor } from '../../../src/core/ports/outgoing.ts'
import { openSocket } from '../../../src/outgoing/open-socket.ts'
import { originOf } from '../../../src/outgoing/origin.ts'

/** Target and timing of a session. */
export interface Http2SessionOptions {
  /** `https://host` or `https://host:port`. */
  readonly origin: string
  /** Certificates (PEM) to trust instead of the runtime's list. */
  readonly ca: string | readonly string[] | undefined
  /** Time limit for DNS lookup, TCP, TLS and the first SETTINGS, in milliseconds. */
  readonly connectTimeoutMs: number
  /** Interval between PINGs, in milliseconds. The session ends if a PING is unanswered when the next is due. */
  readonly keepAliveMs: number
  readonly proxyFor: ProxyFor
}

export interface Http2Request {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  readonly signal: AbortSignal
}

export type Http2Result =
  | {
      readonly kind: 'answered'
      readonly status: number
      /** A response header by its lower-case name. */
      header(name: string): string | undefined
      /** Start of the body, decoded leniently. */
      readonly body: string
      /** Stops new requests on the session that answered. Running ones continue. */
      retire(): void
    }
  | {
      readonly kind: 'failed'
      /** True: the server may have processed the request. */
      readonly mayHaveActed: boolean
      /** Human-readable, without header values. */
      readonly message: string
    }

/** One connection to one host. */
export interface Http2Session {
  /**
   * Waits until the server's stream limit has room for one more.
   *
   * @returns false if the session takes no more requests or the signal aborted; nothing was sent
   */
  room(signal: AbortSignal): Promise<boolean>
  /** Sends one request at once. Never rejects. */
  post(request: Http2Request): Promise<Http2Result>
  /** True: the session takes no further requests. */
  readonly spent: boolean
  /** Resolves when the connection has ended. */
  readonly gone: Promise<void>
  /** Ends the connection and its running requests. Resolves when it has ended. */
  close(): Promise<void>
}

const MAX_BODY_BYTES = 16_384

/** Connects. Rejects if no HTTP/2 session is established in time or `signal` aborts; nothing was sent then. */
export async function openHttp2Session(
  options: Http2SessionOptions,
  signal: AbortSignal,
): Promise<Http2Session> {
  const { origin, connectTimeoutMs, keepAliveMs } = options
  const startedAt = performance.now()
  const socket = await connected(options, signal)
  const session = connect(origin, { createConnection: () => socket })
  // Errors of an idle connection must not end the process. Affected requests report them.
  session.on('error', () => {})
  const leftMs = Math.max(1, connectTimeoutMs - (performance.now() - startedAt))
  await established(session, leftMs, signal)

  let open = 0
  let retired = false
  let lastStreamId = Number.POSITIVE_INFINITY
  const waiting = new Set<() => void>()
  const wake = (): void => {
    for (const look of [...waiting]) look()
  }
  const isSpent = (): boolean => retired || session.closed || session.destroyed
  const stopPings = keepAlive(session, keepAliveMs)
  const end = (): void => {
    session.destroy()
    // The session alone would wait for the server to close its side, which some servers never do.
    socket.destroy()
  }
  const endIfIdle = (): void => {
    if (open === 0 && isSpent()) end()
  }
  const retire = (): void => {
    retired = true
    wake()
    endIfIdle()
  }

  session.on('remoteSettings', wake)
  session.on('goaway', (_code, last) => {
    lastStreamId = Math.min(lastStreamId, last ?? lastStreamId)
    retire()
  })
  const gone = new Promise<void>((resolve) => {
    session.once('close', () => {
      stopPings()
      wake()
      resolve()
    })
  })

  return {
    gone,
    get spent() {
      return isSpent()
    },
    room(signal) {
      return new Promise((resolve) => {
        const look = (): void => {
          const refused = isSpent() || signal.aborted
          if (!refused && open >= limitOf(session)) return
          waiting.delete(look)
          signal.removeEventListener('abort', look)
          // Counted here, so that concurrent callers do not share one slot.
          if (!refused) open += 1
          resolve(!refused)
        }
        waiting.add(look)
        signal.addEventListener('abort', look)
        look()
      })
    },
    post: (request) =>
      exchange(session, request, {
        wasRefused: (streamId) => streamId > lastStreamId,
        retire,
        ended() {
          open -= 1
          wake()
          endIfIdle()
        },
      }),
    close() {
      end()
      return gone
    },
  }
}

async function connected(
  { origin, ca, connectTimeoutMs: timeoutMs, proxyFor }: Http2SessionOptions,
  signal: AbortSignal,
): Promise<Socket> {
  const url = new URL(origin)
  const trusted = ca === undefined ? undefined : [ca].flat()
  const options = { guard: null, ca: trusted, protocol: 'h2', timeoutMs } as const
  return openSocket(originOf(url), proxyFor(url), options, signal)
}

/** Waits for the server's first SETTINGS, which hold its stream limit. */
function established(session: ClientHttp2Session, timeoutMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void => {
      end()
      session.destroy()
      reject(error)
    }
    const onAbort = (): void => fail(new Error('The channel was closed.'))
    const end = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
    }
    const timer = setTimeout(() => fail(new Error(`No HTTP/2 session within ${timeoutMs} ms.`)), timeoutMs)
    session.once('error', (error: NodeJS.ErrnoException) =>
      fail(new Error(`No connection could be made (${error.code ?? 'unknown'}).`)),
    )
    session.once('close', () => fail(new Error('The connection ended before it was ready.')))
    session.once('remoteSettings', () => {
      end()
      resolve()
    })
    signal.addEventListener('abort', onAbort, { once: true })
    if (signal.aborted) onAbort()
  })
}

/** A connection that a firewall dropped looks open. Only an answer proves otherwise. */
function keepAlive(session: ClientHttp2Session, everyMs: number): () => void {
  let unanswered = false
  const timer = setInterval(() => {
    if (session.destroyed) return
    if (unanswered) {
      session.destroy(new Error('The connection does not answer.'))
      return
    }
    unanswered = session.ping((error) => {
      if (error === null) unanswered = false
    })
  }, everyMs)
  timer.unref()
  return () => clearInterval(timer)
}

function limitOf(session: ClientHttp2Session): number {
  return session.remoteSettings.maxConcurrentStreams ?? Number.POSITIVE_INFINITY
}

function exchange(
  session: ClientHttp2Session,
  { path, headers, body, signal }: Http2Request,
  hooks: {
    readonly wasRefused: (streamId: number) => boolean
    readonly retire: () => void
    readonly ended: () => void
  },
): Promise<Http2Result> {
  return new Promise((resolve) => {
    const failed = (mayHaveActed: boolean, message: string): void =>
      resolve({ kind: 'failed', mayHaveActed, message })
    let stream: ReturnType<ClientHttp2Session['request']>
    try {
      stream = session.request({ ':method': 'POST', ':path': path, ...headers })
    } catch {
      hooks.ended()
      failed(false, 'The connection ended before the request was sent.')
      return
    }
    const answer = collector()
    const onAbort = (): void => {
      failed(true, 'The attempt was aborted before the answer arrived.')
      stream.close(constants.NGHTTP2_CANCEL)
    }
    signal.addEventListener('abort', onAbort, { once: true })
    stream.on('error', () => {})
    stream.on('response', answer.start)
    stream.on('data', (chunk: Buffer) => {
      answer.add(chunk)
      // The kept part suffices, and the rest may never end.
      if (answer.isFull()) stream.close(constants.NGHTTP2_CANCEL)
    })
    stream.once('close', () => {
      signal.removeEventListener('abort', onAbort)
      hooks.ended()
      const result = answer.read()
      if (result !== null) {
        resolve({ ...result, retire: hooks.retire })
        return
      }
      // RFC 9113 6.8 and 8.7: both guarantee that the server has not processed the request.
      const refused =
        stream.id === undefined ||
        stream.rstCode === constants.NGHTTP2_REFUSED_STREAM ||
        hooks.wasRefused(stream.id)
      failed(
        !refused,
        refused
          ? 'The server refused the request without processing it.'
          : 'The connection ended without an answer.',
      )
    })
    stream.end(body)
  })
}

function collector(): {
  readonly start: (headers: NodeJS.Dict<string | string[] | number>) => void
  readonly add: (chunk: Buffer) => void
  readonly isFull: () => boolean
  readonly read: () => Omit<Extract<Http2Result, { kind: 'answered' }>, 'retire'> | null
} {
  let headers: NodeJS.Dict<string | string[] | number> | undefined
  const chunks: Buffer[] = []
  let size = 0
  return {
    start(received) {
      headers = received
    },
    add(chunk) {
      const kept = chunk.subarray(0, MAX_BODY_BYTES - size)
      size += kept.length
      if (kept.length > 0) chunks.push(kept)
    },
    isFull: () => size >= MAX_BODY_BYTES,
    read() {
      if (headers === undefined) return null
      const received = headers
      return {
        kind: 'answered',
        status: Number(received[':status']),
        header: (name) => [received[name]].flat()[0]?.toString(),
        body: new TextDecoder().decode(Buffer.concat(chunks)),
      }
    },
  }
}
