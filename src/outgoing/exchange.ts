import { validateHeaderName, validateHeaderValue } from 'node:http'
import type { Agent, Dispatcher } from 'undici'
import type { PostAnswer, PostFailure, PostResult } from '../domain/http-answer.ts'
import type { PostSignal } from '../ports/outgoing.ts'
import type { Connections } from './connections.ts'
import { codingsOf, decodeBody } from './content-coding.ts'
import { BlockedAddressError } from './guarded-lookup.ts'

/** A request whose URL has been checked. */
export interface Exchange {
  readonly method: string
  readonly url: URL
  readonly connections: Connections
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

/** Performs one exchange. Never rejects; settles within `timeoutMs` whatever the receiver does. */
export async function exchange(what: Exchange): Promise<PostResult> {
  const agent = await what.connections.agent()
  return new Promise((resolve) => exchangeBy(agent, what, resolve))
}

function exchangeBy(
  agent: Agent,
  what: Exchange,
  resolve: (result: PostResult | Promise<PostResult>) => void,
): void {
  const request = requestOf(what)
  let sending: Dispatcher.DispatchController | undefined
  let answer: Answer | undefined
  let settled = false
  let repeated = false

  const settle = (reason: PostFailure['reason'], message: string): void => {
    settled = true
    clearTimeout(deadline)
    what.signal?.removeEventListener('abort', onAbort)
    const durationMs = Math.round(performance.now() - what.startedAt)
    // The status line decides; a failure of the body does not change the result.
    resolve(
      answer === undefined
        ? { kind: 'failed', reason, requestSent: sending !== undefined, message, durationMs }
        : answer.read(durationMs),
    )
  }
  const cut = (reason: PostFailure['reason'], message: string): void => {
    if (settled) return
    settle(reason, message)
    sending?.abort(new Error(reason))
  }
  const fail = (error: NodeJS.ErrnoException): void => {
    // Protocol errors have no code.
    const code = error.code ?? error.name
    if (error instanceof BlockedAddressError) cut('blocked', error.message)
    else if (sending !== undefined) cut('broken', `The connection ended without a valid answer (${code}).`)
    else if (code === 'ECONNRESET' && !repeated) {
      // A kept connection was reset while idle, before anything was written. In this turn others may be, too.
      repeated = true
      setImmediate(begin)
    } else cut('unreachable', `No connection could be made (${code}).`)
  }
  const handler: Dispatcher.DispatchHandler = {
    // The next step is the write.
    onRequestStart(controller) {
      if (settled) controller.abort(new Error('given up'))
      else sending = controller
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
    },
    onResponseError: (_, error) => fail(error),
  }
  const begin = (): void => {
    if (settled) return
    if (request === null) cut('unreachable', 'The request cannot be made: a header is invalid.')
    else agent.dispatch(request, handler)
  }
  const onAbort = (): void => cut('aborted', 'The attempt was aborted.')
  // Deadlines of I/O use real time: no other clock affects a socket.
  const deadline = setTimeout(() => cut('timeout', `No answer within ${what.timeoutMs} ms.`), what.timeoutMs)

  if (what.signal?.aborted === true) onAbort()
  else what.signal?.addEventListener('abort', onAbort, { once: true })
  begin()
}

/** @returns null: undici would refuse a header, and its pool would never use that connection again */
function requestOf({ method, url, headers, body }: Exchange): Agent.DispatchOptions | null {
  const list: string[] = []
  let named = false
  let asked = false
  for (const [name, value] of Object.entries(headers)) {
    const known = name.toLowerCase()
    if (RESERVED.has(known)) continue
    if (known === 'user-agent') named = true
    if (known === 'accept-encoding') asked = true
    if (!isValidHeader(name, value)) return null
    list.push(name, value)
  }
  if (!named) list.push('user-agent', 'Carillon')
  if (!asked) list.push('accept-encoding', 'identity')
  return {
    origin: url.origin,
    method,
    path: url.pathname + url.search,
    headers: list,
    body: method === 'GET' ? null : body,
  }
}

function isValidHeader(name: string, value: string): boolean {
  try {
    validateHeaderName(name)
    validateHeaderValue(name, value)
    return true
  } catch {
    return false
  }
}

/** The part of an answer received so far. */
interface Answer {
  /** False: the maximum is reached. */
  add(chunk: Buffer): boolean
  end(): void
  /** Some gateways compress unasked, so the body may have to be decoded. */
  read(durationMs: number): PostAnswer | Promise<PostAnswer>
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
    read(durationMs) {
      const bytes = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)
      const first = firstValues(headers)
      const answer = (body: Buffer, complete: boolean): PostAnswer => ({
        kind: 'answered',
        status,
        headers: first,
        body: decoder.decode(body),
        ...(complete ? {} : { cut: true }),
        durationMs,
      })
      const codings = codingsOf(first['content-encoding'] ?? '')
      if (codings.length === 0 || bytes.length === 0) return answer(bytes, whole)
      return decodeBody(bytes, codings, maxBytes).then((decoded) =>
        answer(decoded.bytes, whole && decoded.whole),
      )
    },
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
