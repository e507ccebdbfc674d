import type { Client, Dispatcher } from 'undici'
import type { PostAnswer, PostFailure, PostResult } from '../domain/http-answer.ts'
import type { PostSignal } from '../ports/outgoing.ts'
import { type Connection, type Connections, loadClient } from './connections.ts'
import { BlockedAddressError } from './guarded-lookup.ts'

/** A request whose URL has been checked. */
export interface Exchange {
  readonly method: string
  readonly url: URL
  /** The connections to an origin. */
  connectionsTo(origin: string): Connections
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array
  readonly timeoutMs: number
  readonly maxResponseBytes: number
  readonly signal: PostSignal | undefined
  /** `performance.now()` */
  readonly startedAt: number
}

/** This module sets framing and routing: a caller's value could split the request or name another host. */
const RESERVED: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/**
 * Maximum size of an answer besides its body: headers, interim answers and chunk framing. Well above the read-ahead
 * before the status line, which decides.
 */
const FRAME_BYTES = 256 * 1024

/** For a request that never started. */
const INVALID = 'UND_ERR_INVALID_ARG'
/** For a request on a connection that was cut. */
const CUT = 'UND_ERR_DESTROYED'

/** Performs one exchange. Never rejects; settles within `timeoutMs` whatever the receiver does. */
export function exchange(what: Exchange): Promise<PostResult> {
  const client = loadClient()
  return client instanceof Promise
    ? client.then((HttpClient) => exchangeBy(HttpClient, what))
    : exchangeBy(client, what)
}

function exchangeBy(HttpClient: typeof Client, what: Exchange): Promise<PostResult> {
  return new Promise((resolve) => {
    let requestSent = false
    let answer: Answer | undefined
    let connection: Connection | undefined
    let giveUp = (): void => {}

    const settle = (reason: PostFailure['reason'], message: string): void => {
      clearTimeout(deadline)
      what.signal?.removeEventListener('abort', onAbort)
      const durationMs = Math.round(performance.now() - what.startedAt)
      // The status line decides; a failure of the body does not change the result.
      resolve(
        answer === undefined
          ? { kind: 'failed', reason, requestSent, message, durationMs }
          : { ...answer.read(), durationMs },
      )
    }
    const cut = (reason: PostFailure['reason'], message: string): void => {
      settle(reason, message)
      if (connection === undefined) giveUp()
      else connection.cut()
    }
    const fail = (error: NodeJS.ErrnoException): void => {
      // Protocol errors have no code.
      const code = error.code ?? error.name
      if (error instanceof BlockedAddressError) cut('blocked', error.message)
      else if (requestSent) cut('broken', `The connection ended without a valid answer (${code}).`)
      else if (code === INVALID) cut('unreachable', 'The request cannot be made: a header is invalid.')
      else if (connection?.used === true && code !== CUT) {
        // It was reset while idle, before anything was written.
        connection.cut()
        begin()
      } else cut('unreachable', `No connection could be made (${code}).`)
    }
    const begin = (): void => {
      connection = undefined
      giveUp = what.connectionsTo(what.url.origin).take(HttpClient, what.url.origin, use)
    }
    const use = (taken: Connection): void => {
      connection = taken
      const handler: Dispatcher.DispatchHandler = {
        // The next step is the write.
        onRequestStart() {
          requestSent = true
        },
        onResponseStart(_, status, headers) {
          if (status >= 200) answer = collect(status, headers, what.maxResponseBytes)
        },
        onResponseData(_, chunk) {
          if (answer?.add(chunk) === false) cut('broken', '')
        },
        onResponseEnd() {
          answer?.end()
          settle('broken', '')
          taken.free()
        },
        onResponseError: (_, error) => fail(error),
      }
      taken.dispatch(requestOf(what), handler, FRAME_BYTES + 2 * what.maxResponseBytes)
    }
    const onAbort = (): void => cut('aborted', 'The attempt was aborted.')
    // Deadlines of I/O use real time: no other clock affects a socket.
    const deadline = setTimeout(
      () => cut('timeout', `No answer within ${what.timeoutMs} ms.`),
      what.timeoutMs,
    )

    if (what.signal?.aborted === true) {
      settle('aborted', 'The attempt was aborted.')
      return
    }
    what.signal?.addEventListener('abort', onAbort, { once: true })
    begin()
  })
}

function requestOf({ method, url, headers, body }: Exchange): Dispatcher.DispatchOptions {
  const list: string[] = []
  let named = false
  for (const name of Object.keys(headers)) {
    const known = name.toLowerCase()
    if (RESERVED.has(known)) continue
    if (known === 'user-agent') named = true
    list.push(name, headers[name] as string)
  }
  if (!named) list.push('user-agent', 'Carillon')
  return { method, path: url.pathname + url.search, headers: list, body: method === 'GET' ? null : body }
}

/** The part of an answer received so far. */
interface Answer {
  /** False: the maximum is reached. */
  add(chunk: Buffer): boolean
  end(): void
  read(): Omit<PostAnswer, 'durationMs'>
}

type Headers = Readonly<Record<string, string | string[] | undefined>>

const decoder = new TextDecoder()

function collect(status: number, headers: Headers, maxBytes: number): Answer {
  const chunks: Buffer[] = []
  let size = 0
  let whole = false
  return {
    add(chunk) {
      const rest = maxBytes - size
      chunks.push(chunk.length > rest ? chunk.subarray(0, rest) : chunk)
      size += Math.min(chunk.length, rest)
      return chunk.length <= rest
    },
    end() {
      whole = true
    },
    read: () => ({
      kind: 'answered',
      status,
      headers: firstValues(headers),
      body: decoder.decode(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)),
      ...(whole ? {} : { cut: true }),
    }),
  }
}

function firstValues(headers: Headers): Record<string, string> {
  const first: Record<string, string> = Object.create(null)
  for (const name of Object.keys(headers)) {
    const value = headers[name]
    first[name] = (typeof value === 'object' ? value[0] : value) ?? ''
  }
  return first
}
