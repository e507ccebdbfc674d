import { invalidOption } from '../../src/core/errors/invalid-option.ts'
import { NotifierError } from '../../src/core/errors/notifier-error.ts'
import type { Served } from '../../src/core/lifecycle/notifier-internals.ts'
import type { BodyLimits, HttpRequest } from '../../src/core/rest/message.ts'
import { serve } from '../../src/rest-api.ts'
import { type MountOptions, mountOf } from './target.ts'
import { readWebBody } from './web-body.ts'

export type { HttpApiOptions } from '../../src/http/options.ts'
export type { MountOptions } from './target.ts'

/** The connection of a request, which a `Request` does not expose. */
export interface Connection {
  /** Address of the connection's peer. `unix`: a Unix socket. Undefined: unknown. */
  readonly remoteAddress: string | undefined
  /** True: the connection itself is TLS. */
  readonly encrypted: boolean
}

/** Answers a request. Null: the path is not part of the API, and the request is untouched. */
export type NotifierFetch = (request: Request, connection: Connection) => Promise<Response | null>

/**
 * The REST API or the dashboard for runtimes with `Request` and `Response`: Hono, Next.js route handlers, Bun. The body must be unread.
 *
 * @throws NotifierError `invalid_configuration`
 *
 * @example
 * const answer = notifierFetch(notifier, { prefix: '/notifications' })
 * const response = await answer(request, { remoteAddress: '192.0.2.7', encrypted: true })
 */
export function notifierFetch(notifier: Served, options: MountOptions = {}): NotifierFetch {
  const { http, belowPrefix } = mountOf(options)
  const api = serve(notifier, http)
  return async function carillon(request, connection) {
    assertConnection(connection)
    const url = belowPrefix(request.url)
    const answer = url === null ? null : api.handle(new WebHttpRequest(request, connection, url))
    if (answer === null) return null
    const { status, headers, body } = await answer
    const isWhole = body === null || typeof body === 'string' || body instanceof Uint8Array
    return new Response(isWhole ? body : streamOf(body), { status, headers })
  }
}

/** `ReadableStream.from` is not in every runtime. */
function streamOf(body: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const chunks = body[Symbol.asyncIterator]()
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await chunks.next()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      async cancel() {
        await chunks.return?.()
      },
    },
    { highWaterMark: 0 },
  )
}

function assertConnection(connection: unknown): void {
  const { encrypted } = (connection ?? {}) as Partial<Connection>
  if (typeof encrypted === 'boolean') return
  throw invalidOption(
    'connection',
    'The connection is missing, which a Request does not contain: call with (request, { remoteAddress, encrypted }). In ' +
      'Next.js, wrap it in a route handler; docs/start/nextjs.md shows one.',
  )
}

class WebHttpRequest implements HttpRequest {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly remoteAddress: string | undefined
  readonly encrypted: boolean
  readonly native: Request
  readonly parsedBody = undefined
  readonly #request: Request

  constructor(request: Request, { remoteAddress, encrypted }: Connection, url: string) {
    const mark = url.indexOf('?')
    this.method = request.method
    this.path = mark === -1 ? url : url.slice(0, mark)
    this.query = mark === -1 ? '' : url.slice(mark + 1)
    this.remoteAddress = remoteAddress
    this.encrypted = encrypted
    this.#request = request
    this.native = request
  }

  get aborted(): boolean {
    return this.#request.signal.aborted
  }

  get bodyComplete(): boolean {
    return this.#request.body === null
  }

  header(name: string): string | undefined {
    const value = this.#request.headers.get(name) ?? undefined
    // HTTP/2 has no Host header; a Request built from it has the name in its URL.
    return value === undefined && name === 'host' ? new URL(this.#request.url).host : value
  }

  headers(): Readonly<Record<string, string | undefined>> {
    return { ...Object.fromEntries(this.#request.headers), host: this.header('host') }
  }

  /** A `Response` does not tell when it has left. */
  afterResponse(callback: () => void): void {
    callback()
  }

  readBody(limits: BodyLimits): Promise<Uint8Array> {
    return this.#request.bodyUsed ? Promise.reject(alreadyRead()) : readWebBody(this.#request, limits)
  }
}

function alreadyRead(): NotifierError {
  return new NotifierError('body_already_read', {
    message:
      'The application has read the body of this Request. Pass the request before its json() or text() is called, or ' +
      'pass a clone() made before that.',
  })
}
