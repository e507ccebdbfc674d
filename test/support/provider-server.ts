import type { ServerResponse } from 'node:http'
import type { Message, Provider } from '../../src/ports/provider.ts'
import type {
  HttpAct,
  OutcomeRow,
  ProviderAct,
  ProviderHarness,
  TakenMessage,
} from '../../src/testing/provider-contract.ts'
import { httpReceiver, type ReceivedRequest } from '../integration/support/receivers.ts'

export type { ReceivedRequest }

/** One answer of a provider's API. */
export interface ProviderReply {
  readonly status: number
  /** A text goes as it is; anything else as JSON; absent: nothing. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** One row of a table of errors, and how the provider says it. `$credentials` in the body becomes what the request carried. */
export interface ProviderRow extends OutcomeRow {
  readonly reply: ProviderReply
}

export interface ProviderServerOptions {
  /** The answer to a message that is taken; `number` counts them from 1. */
  accept(request: ReceivedRequest, number: number): ProviderReply
  readonly rows?: readonly ProviderRow[]
  /** The provider's answer to too many requests. @default 429 with an empty object */
  readonly overloaded?: ProviderReply
  /** Answers what is no message (tokens, checks), whatever the server acts; undefined: it is a message. */
  aside?(request: ReceivedRequest): ProviderReply | undefined
}

/** A provider's API on this machine, over plain HTTP. */
export interface ProviderServer {
  readonly url: string
  /** What the server does with messages from now on. */
  act(how: ProviderAct | HttpAct): void
  /** Requests with a message that were answered with success, oldest first. */
  readonly taken: readonly ReceivedRequest[]
  /** All requests that arrived whole. */
  readonly requests: readonly ReceivedRequest[]
  /** Connections so far. */
  connections(): number
  mostConnections(): number
  /** Resolves when a message has arrived to which the server is silent, or stopped in the middle of its answer. */
  hanging(): Promise<void>
  drained(): Promise<void>
  close(): Promise<void>
}

export async function providerServer(options: ProviderServerOptions): Promise<ProviderServer> {
  const { rows = [], overloaded = { status: 429, body: {} } } = options
  const taken: ReceivedRequest[] = []
  let how: ProviderAct | HttpAct = { kind: 'accept' }
  let hangs = () => {}
  const hanging = new Promise<void>((resolve) => {
    hangs = resolve
  })

  const receiver = await httpReceiver((response, request) => {
    const aside = options.aside?.(request)
    if (aside !== undefined) {
      answer(response, request, aside)
      return
    }
    const act = how
    const success = () => options.accept(request, taken.length + 1)
    switch (act.kind) {
      case 'accept': {
        taken.push(request)
        answer(response, request, options.accept(request, taken.length))
        break
      }
      case 'answer': {
        const row = rows.find((one) => one.row === act.row)
        if (row === undefined) throw new Error(`There is no row "${act.row}".`)
        if (row.outcome.kind === 'accepted') taken.push(request)
        answer(response, request, row.reply)
        break
      }
      case 'hang':
        hangs()
        break
      case 'break':
        response.socket?.resetAndDestroy()
        break
      case 'hang-in-body':
      case 'truncate': {
        const { status, headers = {}, body } = success()
        const whole = bytesOf(body).length > 1 ? bytesOf(body) : Buffer.from('{"id":"unfinished"}')
        response.writeHead(status, { ...headers, 'content-length': whole.length })
        response.write(whole.subarray(0, -1), () => {
          if (act.kind === 'truncate') response.destroy()
          else hangs()
        })
        break
      }
      case 'html':
        response.writeHead(success().status, { 'content-type': 'text/html' })
        response.end('<!doctype html><title>Gateway</title><p>All is well.</p>')
        break
      case 'empty':
        response.writeHead(success().status).end()
        break
      case 'overloaded':
        answer(response, request, {
          ...overloaded,
          headers: {
            ...overloaded.headers,
            ...(act.retryAfter === null ? {} : { 'retry-after': act.retryAfter }),
          },
        })
    }
  })

  return {
    url: `http://127.0.0.1:${receiver.port}`,
    act(next) {
      how = next
    },
    taken,
    requests: receiver.requests,
    connections: () => receiver.connections,
    mostConnections: () => receiver.mostOpen,
    hanging: () => hanging,
    drained: receiver.drained,
    close: receiver.close,
  }
}

function answer(response: ServerResponse, request: ReceivedRequest, reply: ProviderReply): void {
  const { status, headers = {}, body } = reply
  const carried = Object.entries(request.headers)
    .filter(([name]) => /auth|token|api-?key/.test(name))
    .map(([, value]) => String(value))
    .join(' ')
  const text = bytesOf(body).toString('utf8').replaceAll('$credentials', carried.replaceAll('"', ''))
  response.writeHead(status, {
    'content-type': typeof body === 'string' ? 'text/plain' : 'application/json',
    ...headers,
    'content-length': Buffer.byteLength(text),
  })
  response.end(text)
}

function bytesOf(body: unknown): Buffer {
  if (body === undefined) return Buffer.alloc(0)
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body), 'utf8')
}

export interface ProviderHarnessOptions extends ProviderServerOptions {
  /** The channel, given the address of the stand-in; at most four connections make the contract quick. */
  channel(url: string): Provider
  readonly message: Message
  readonly secrets: readonly string[]
  /** Reads the message out of a request as the provider would. */
  take(request: ReceivedRequest): TakenMessage | Promise<TakenMessage>
}

/**
 * What `providerContract` needs of a provider over HTTP, over a fresh stand-in:
 * `providerContract(test, () => providerHarness({ … }), ROWS, { http: true })`.
 */
export async function providerHarness(options: ProviderHarnessOptions): Promise<ProviderHarness> {
  const server = await providerServer(options)
  return {
    channel: options.channel(server.url),
    message: options.message,
    secrets: options.secrets,
    act: server.act,
    actHttp: server.act,
    taken: () => Promise.all(server.taken.map(options.take)),
    hanging: server.hanging,
    mostConnections: server.mostConnections,
    drained: server.drained,
    elsewhere: (host, port) => ({
      channel: options.channel(`${host === '127.0.0.1' ? 'http' : 'https'}://${host}:${port}`),
      message: options.message,
    }),
    close: server.close,
  }
}
