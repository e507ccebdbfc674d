import { createServer, type ServerResponse } from 'node:http'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import type { HttpAct, OutcomeRow, ProviderAct } from './harness.ts'
import { type ReceivedRequest, receive, startReceiver } from './receiver.ts'

/** An answer of the API. */
export interface ProviderReply {
  readonly status: number
  /** Text is sent unchanged, other values as JSON. Absent: no body. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * An entry of the service's error table with its answer. `$credentials` in the body becomes the request's credentials:
 * no outcome may repeat them.
 */
export interface ProviderRow extends OutcomeRow {
  readonly reply: ProviderReply
}

/** Answers of a {@link providerServer}. */
export interface ProviderServerOptions {
  /** The answer to an accepted message; `number` counts from 1. */
  accept(request: ReceivedRequest, number: number): ProviderReply
  /** @default none */
  readonly rows?: readonly ProviderRow[] | undefined
  /** The answer to too many requests. @default 429 with an empty object */
  readonly overloaded?: ProviderReply | undefined
  /** Answers requests without a message (tokens, checks) in every behaviour. Undefined: the request is a message. */
  aside?(request: ReceivedRequest): ProviderReply | undefined
}

/** A simulated API on a free port of this machine, over plain HTTP. */
export interface ProviderServer {
  /** `http://127.0.0.1:<port>` */
  readonly url: string
  /** Sets the behaviour for messages from now on. */
  act(behaviour: ProviderAct | HttpAct): void
  /** Successfully answered messages, oldest first. */
  readonly taken: readonly ReceivedRequest[]
  /** All complete requests. */
  readonly requests: readonly ReceivedRequest[]
  /** Number of connections so far. */
  connections(): number
  /** Maximum number of concurrent connections so far. */
  mostConnections(): number
  /** Resolves when the server hangs after a message, or within its answer. */
  hanging(): Promise<void>
  /** Resolves when no connection is open. */
  drained(): Promise<void>
  close(): Promise<void>
}

const PAGE = {
  headers: { 'content-type': 'text/html' },
  body: '<!doctype html><title>Gateway</title><p>All is well.</p>',
} as const

const KEPT_MS = 60_000

/** Statuses of success whose answers end with their headers (RFC 9110 15.3). */
const NO_BODY: ReadonlySet<number> = new Set([204, 205])

/**
 * Simulates a service's API: it accepts messages until `act` changes its behaviour.
 *
 * @example
 * const server = await providerServer({ accept: (_, number) => ({ status: 201, body: { id: `m${number}` } }) })
 * const sms = acmeSms({ apiKey: 'secret-key', url: server.url })
 * server.act({ kind: 'overloaded', retryAfter: '30' })
 */
export async function providerServer(options: ProviderServerOptions): Promise<ProviderServer> {
  const { rows = [], overloaded = { status: 429, body: {} } } = options
  const taken: ReceivedRequest[] = []
  let behaviour: ProviderAct | HttpAct = { kind: 'accept' }
  let hangs = () => {}
  const hanging = new Promise<void>((resolve) => {
    hangs = resolve
  })

  const requests: ReceivedRequest[] = []
  /** The complete answer. Null: none. */
  function replyTo(request: ReceivedRequest): ProviderReply | null {
    switch (behaviour.kind) {
      case 'accept':
      case 'encoded':
        taken.push(request)
        return options.accept(request, taken.length)
      case 'answer': {
        const row = rowOf(behaviour.row)
        if (row.outcome.kind === 'accepted') taken.push(request)
        return row.reply
      }
      case 'html':
        return { ...PAGE, status: successTo(request).status }
      case 'empty':
        return { status: successTo(request).status }
      case 'fault':
        return { ...PAGE, status: behaviour.status }
      case 'redirect':
        return { status: 307, headers: { location: behaviour.to } }
      case 'overloaded': {
        const hint = behaviour.retryAfter === null ? {} : { 'retry-after': behaviour.retryAfter }
        return { ...overloaded, headers: { ...overloaded.headers, ...hint } }
      }
      default:
        return null
    }
  }

  function misbehave(response: ServerResponse, request: ReceivedRequest, act: ProviderAct | HttpAct): void {
    if (act.kind === 'hang') {
      hangs()
      return
    }
    if (act.kind === 'break') {
      response.socket?.resetAndDestroy()
      return
    }
    const { status, headers = {}, body } = successTo(request)
    if (NO_BODY.has(status)) {
      // Nothing can follow its headers, so the answer is whole.
      response.writeHead(status, headers).end(hangs)
      return
    }
    if (act.kind === 'endless') {
      response.writeHead(status, { 'content-type': 'application/json' })
      writeForEver(response)
      return
    }
    const whole = bytesOf(body).length > 1 ? bytesOf(body) : Buffer.from('{"id":"unfinished"}')
    response.writeHead(status, { ...headers, 'content-length': whole.length })
    response.write(whole.subarray(0, -1), () => {
      if (act.kind === 'truncate') response.destroy()
      else hangs()
    })
  }

  const successTo = (request: ReceivedRequest) => options.accept(request, taken.length + 1)

  function rowOf(name: string): ProviderRow {
    const row = rows.find((one) => one.row === name)
    if (row === undefined) throw new Error(`There is no row "${name}".`)
    return row
  }

  const respond = (response: ServerResponse, request: ReceivedRequest): void => {
    const reply = options.aside?.(request) ?? replyTo(request)
    if (reply === null) misbehave(response, request, behaviour)
    else answer(response, request, reply, behaviour)
  }
  // Longer than a check waits, or a client that leaves connections open would be seen to end them.
  const server = createServer({ keepAliveTimeout: KEPT_MS }, receive(requests, respond))
  const receiver = await startReceiver(server, requests)

  return {
    url: `http://127.0.0.1:${receiver.port}`,
    act(next) {
      if (next.kind === 'answer') rowOf(next.row)
      behaviour = next
    },
    taken,
    requests,
    connections: () => receiver.connections,
    mostConnections: () => receiver.mostOpen,
    hanging: () => hanging,
    drained: receiver.drained,
    close: receiver.close,
  }
}

const ENCODE = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync } as const

function answer(
  response: ServerResponse,
  request: ReceivedRequest,
  reply: ProviderReply,
  behaviour: ProviderAct | HttpAct,
): void {
  const { status, headers = {}, body } = reply
  const carried = Object.entries(request.headers)
    .filter(([name]) => /auth|token|api-?key/.test(name))
    .map(([, value]) => String(value))
    .join(' ')
  const text = bytesOf(body).toString('utf8').replaceAll('$credentials', carried.replaceAll('"', ''))
  const bytes = behaviour.kind === 'encoded' ? ENCODE[behaviour.coding](text) : Buffer.from(text, 'utf8')
  response.writeHead(status, {
    'content-type': typeof body === 'string' ? 'text/plain' : 'application/json',
    ...headers,
    ...(behaviour.kind === 'encoded' ? { 'content-encoding': behaviour.coding } : {}),
    'content-length': bytes.length,
  })
  response.end(bytes)
}

/** Slowly: a client without a limit should fail its check, not exhaust the memory. */
function writeForEver(response: ServerResponse): void {
  const chunk = Buffer.alloc(65_536, ' ')
  const timer = setInterval(() => response.write(chunk), 10)
  response.on('close', () => clearInterval(timer))
}

function bytesOf(body: unknown): Buffer {
  if (body === undefined) return Buffer.alloc(0)
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body), 'utf8')
}
