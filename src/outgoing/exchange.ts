import type { Agent, ClientRequest, RequestOptions } from 'node:http'
import type { HttpAnswer, HttpFailure, HttpResult } from '../core/channels/http-answer.ts'
import type { PostSignal } from '../core/ports/outgoing.ts'
import type { Connection, Connections } from './connections.ts'
import { codingsOf, decodeBody } from './content-coding.ts'
import { codeOf } from './error-code.ts'
import { BlockedAddressError } from './guarded-lookup.ts'
import { ConnectError } from './tunnel.ts'

/** A request whose URL has been checked. */
export interface Exchange {
  readonly method: string
  readonly url: URL
  /** See {@link Connections.connect}. */
  readonly owner: string
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

/** Performs one exchange. Never rejects; settles within `timeoutMs`, regardless of the receiver. */
export async function exchange(what: Exchange): Promise<HttpResult> {
  // Loaded on first use: it takes longer than a small application's start.
  client ??= clientOf(await import('node:http'))
  const { request, agents } = client
  return new Promise((resolve) => exchangeBy(request, agents[what.url.protocol as Protocol], what, resolve))
}

type Http = typeof import('node:http')
type Protocol = 'http:' | 'https:'

interface Client {
  readonly request: Http['request']
  readonly agents: Readonly<Record<Protocol, IdleAgent>>
}

/** Opens no connections: requests get those of {@link Connections}. */
interface IdleAgent extends Agent {
  /** The last request that the runtime has handed over. */
  handed?: ClientRequest | undefined
}

let client: Client | undefined

function clientOf({ request, Agent }: Http): Client {
  const agentOf = (protocol: Protocol): IdleAgent => {
    const agent: IdleAgent = new Agent({ keepAlive: true })
    const addRequest = (handed: ClientRequest): void => {
      agent.handed = handed
    }
    return Object.assign(agent, { protocol, addRequest })
  }
  return { request, agents: { 'http:': agentOf('http:'), 'https:': agentOf('https:') } }
}

function exchangeBy(
  create: Http['request'],
  agent: IdleAgent,
  what: Exchange,
  resolve: (result: HttpResult | Promise<HttpResult>) => void,
): void {
  let request: ClientRequest
  let connection: Connection | undefined
  let answer: Answer | undefined
  let settled = false
  let leave = (): void => {}

  const settle = (reason: HttpFailure['reason'], message: string): void => {
    if (settled) return
    settled = true
    clearTimeout(deadline)
    what.signal?.removeEventListener('abort', onAbort)
    const durationMs = Math.round(performance.now() - what.startedAt)
    // The status line decides; a failure of the body does not change the result.
    resolve(
      answer === undefined
        ? { kind: 'failed', reason, requestSent: connection !== undefined, message, durationMs }
        : answer.read(durationMs),
    )
  }
  const cut = (reason: HttpFailure['reason'], message: string): void => {
    if (settled) return
    settle(reason, message)
    if (connection === undefined) leave()
    else request.destroy()
  }
  const onAbort = (): void => cut('aborted', 'The attempt was aborted.')
  const onError = (error: unknown): void =>
    cut('broken', `The connection ended without a valid answer (${codeOf(error)}).`)
  // Deadlines of I/O use real time: no other clock affects a socket.
  const deadline = setTimeout(() => cut('timeout', `No answer within ${what.timeoutMs} ms.`), what.timeoutMs)

  if (what.signal?.aborted === true) {
    onAbort()
    return
  }
  what.signal?.addEventListener('abort', onAbort, { once: true })
  try {
    request = create(optionsOf(what, agent)).on('error', onError)
  } catch (error) {
    settle('unreachable', `The request cannot be made (${codeOf(error)}).`)
    return
  }
  const handed = agent.handed === request
  agent.handed = undefined
  if (!handed) {
    settle('unreachable', "This runtime's node:http ignores its agent, so the address cannot be checked.")
    request.destroy()
    return
  }
  request.on('response', (response) => {
    const headers = firstValues(response.rawHeaders)
    connection?.keep(headers['keep-alive'])
    const receiving = collect(response.statusCode ?? 0, headers, what.maxResponseBytes)
    answer = receiving
    response
      .on('data', (chunk: Buffer) => {
        if (!receiving.add(chunk)) cut('broken', '')
      })
      .on('end', () => {
        receiving.end()
        settle('broken', '')
      })
      .on('error', onError)
  })
  leave = what.connections.connect(what.owner, what.url, {
    connected(given) {
      // The next step is the write.
      connection = given
      try {
        request.onSocket(given.socket)
        request.end(what.method === 'GET' ? undefined : what.body)
      } catch (error) {
        given.socket.destroy()
        onError(error)
      }
    },
    failed(error) {
      if (error instanceof BlockedAddressError) settle('blocked', error.message)
      else if (error instanceof ConnectError) settle('unreachable', error.message)
      else settle('unreachable', `No connection could be made (${codeOf(error)}).`)
    },
  })
}

function optionsOf({ method, url, headers, body }: Exchange, agent: Agent): RequestOptions {
  // An object: tracers that wrap node:http add their headers to it, and break a list. A name in other letters replaces
  // an earlier one.
  const all: Record<string, string> = {
    host: url.host,
    'user-agent': 'Carillon',
    'accept-encoding': 'identity',
  }
  for (const [name, value] of Object.entries(headers)) {
    if (!RESERVED.has(name.toLowerCase())) all[name] = value
  }
  if (method !== 'GET') all['content-length'] = String(Buffer.byteLength(body))
  return { agent, protocol: url.protocol, method, path: url.pathname + url.search, headers: all }
}

/** The part of an answer received so far. */
interface Answer {
  /** False: the maximum is reached. */
  add(chunk: Buffer): boolean
  end(): void
  /** Some gateways compress unrequested, so the body may have to be decoded. */
  read(durationMs: number): HttpAnswer | Promise<HttpAnswer>
}

type Headers = Readonly<Record<string, string>>

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
      const answer = (body: Buffer, complete: boolean): HttpAnswer => ({
        kind: 'answered',
        status,
        headers,
        body: decoder.decode(body),
        ...(complete ? {} : { cut: true }),
        durationMs,
      })
      const codings = codingsOf(headers['content-encoding'] ?? '')
      if (codings.length === 0 || bytes.length === 0) return answer(bytes, whole)
      return decodeBody(bytes, codings, maxBytes).then((decoded) =>
        answer(decoded.bytes, whole && decoded.whole),
      )
    },
  }
}

/** @param raw names and values in turn */
function firstValues(raw: readonly string[]): Headers {
  const first: Record<string, string> = Object.create(null)
  for (let index = 0; index < raw.length; index += 2) {
    const name = (raw[index] ?? '').toLowerCase()
    first[name] ??= raw[index + 1] ?? ''
  }
  return first
}
