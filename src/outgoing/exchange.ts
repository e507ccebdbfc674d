import { type ClientRequest, type Agent as HttpAgent, request as http, type IncomingMessage } from 'node:http'
import { type Agent as HttpsAgent, request as https } from 'node:https'
import type { Socket } from 'node:net'
import type { PostAnswer, PostFailure, PostResult } from '../domain/http-answer.ts'
import type { AddressGuard } from './address-guard.ts'
import { BlockedAddressError } from './guarded-lookup.ts'

/** One request whose URL has been judged. */
export interface Exchange {
  readonly method: string
  readonly url: URL
  readonly agent: HttpAgent | HttpsAgent
  /** Judges the address that was connected to; null for addresses that no user chooses. */
  readonly guard: AddressGuard | null
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array
  readonly timeoutMs: number
  readonly maxResponseBytes: number
  readonly signal: AbortSignal | undefined
  /** `performance.now()` */
  readonly startedAt: number
}

/** Framing and routing belong to this module: a caller's value could split the request or name another host. */
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

/** Carries one exchange out. Never rejects; settles within `timeoutMs`, whatever the receiver does. */
export function exchange(what: Exchange): Promise<PostResult> {
  return new Promise((resolve) => {
    let requestSent = false
    let answer: Answer | undefined
    let request: ClientRequest | undefined

    const settle = (reason: PostFailure['reason'], message: string): void => {
      clearTimeout(deadline)
      what.signal?.removeEventListener('abort', onAbort)
      const durationMs = Math.round(performance.now() - what.startedAt)
      // The status line decides: whatever happens to the body after it cannot undo it.
      resolve(
        answer === undefined
          ? { kind: 'failed', reason, requestSent, message, durationMs }
          : { ...answer.read(), durationMs },
      )
    }
    const cut = (reason: PostFailure['reason'], message: string): void => {
      settle(reason, message)
      request?.destroy()
    }
    const onAbort = (): void => cut('aborted', 'The attempt was aborted.')
    // Deadlines of I/O are real time: no other clock could hurry a socket.
    const deadline = setTimeout(
      () => cut('timeout', `No answer within ${what.timeoutMs} ms.`),
      what.timeoutMs,
    )

    if (what.signal?.aborted === true) {
      onAbort()
      return
    }
    what.signal?.addEventListener('abort', onAbort, { once: true })
    try {
      request = start(what)
    } catch {
      settle('unreachable', 'The request cannot be made: a header is invalid.')
      return
    }
    request.once('socket', (socket) => {
      onConnected(socket, what.url.protocol === 'https:', (ready) => {
        const { remoteAddress } = socket
        if (remoteAddress !== undefined && what.guard?.blocks(remoteAddress) === true) {
          request?.destroy(new BlockedAddressError())
        } else if (ready) {
          requestSent = true
        }
      })
    })
    request.once('response', (response) => {
      answer = collect(response, what.maxResponseBytes, {
        // Leaves the connection open for the next request.
        whole: () => settle('broken', ''),
        cut: () => cut('broken', ''),
      })
    })
    request.on('error', (error: NodeJS.ErrnoException) => {
      const code = error.code ?? 'unknown'
      if (error instanceof BlockedAddressError) settle('blocked', error.message)
      else if (requestSent) settle('broken', `The connection ended without an answer (${code}).`)
      else settle('unreachable', `No connection could be made (${code}).`)
    })
    request.end(what.body)
  })
}

function start({ method, url, agent, headers, body }: Exchange): ClientRequest {
  const own = Object.entries(headers).filter(([name]) => !RESERVED.has(name.toLowerCase()))
  const send = url.protocol === 'https:' ? https : http
  return send(url, {
    agent,
    method,
    headers: {
      'user-agent': 'Carillon',
      ...Object.fromEntries(own),
      ...(method === 'GET' ? {} : { 'content-length': Buffer.byteLength(body) }),
    },
  })
}

/** Calls back with true when the request's bytes can flow; for TLS also before its handshake, with false. */
function onConnected(socket: Socket, secure: boolean, callback: (ready: boolean) => void): void {
  // A kept-alive connection is handed over ready.
  if (!socket.connecting) {
    callback(true)
    return
  }
  socket.once('connect', () => callback(!secure))
  if (secure) socket.once('secureConnect', () => callback(true))
}

interface Answer {
  read(): Omit<PostAnswer, 'durationMs'>
}

function collect(
  response: IncomingMessage,
  maxBytes: number,
  ended: { readonly whole: () => void; readonly cut: () => void },
): Answer {
  const chunks: Buffer[] = []
  let size = 0
  let whole = false
  response.on('data', (chunk: Buffer) => {
    const rest = maxBytes - size
    chunks.push(chunk.length > rest ? chunk.subarray(0, rest) : chunk)
    size += Math.min(chunk.length, rest)
    if (chunk.length > rest) ended.cut()
  })
  response.once('end', () => {
    whole = true
    ended.whole()
  })
  response.on('error', ended.cut)
  return {
    read: () => ({
      kind: 'answered',
      status: response.statusCode ?? 0,
      headers: firstValues(response.rawHeaders),
      body: new TextDecoder().decode(Buffer.concat(chunks)),
      ...(whole ? {} : { cut: true }),
    }),
  }
}

function firstValues(rawHeaders: readonly string[]): Record<string, string> {
  const first = new Map<string, string>()
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]?.toLowerCase() ?? ''
    if (!first.has(name)) first.set(name, rawHeaders[index + 1] ?? '')
  }
  return Object.fromEntries(first)
}
