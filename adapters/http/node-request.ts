import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { NotifierError } from '../../src/core/errors/notifier-error.ts'
import type { BodyLimits, HttpRequest } from '../../src/core/rest/message.ts'
import type { HttpApi } from '../../src/http/api.ts'
import { tooLarge } from '../../src/http/json-body.ts'
import { UNIX_PEER } from '../../src/http/proxies.ts'
import { readNodeBody } from './node-body.ts'
import { SLOWEST_READ_MS, writeNodeResponse } from './node-response.ts'
import { withoutOrigin } from './target.ts'

/** The traces of body parsers of the host application. */
export interface ParsedBody {
  readonly body?: unknown
  /** The body as it came, which some parsers and hosts keep. */
  readonly rawBody?: unknown
}

/** A request of node:http, possibly with the results of a body parser. */
export type NodeRequest = IncomingMessage & ParsedBody

/** Replaces Host in HTTP/2 (RFC 9113 §8.3.1). */
const AUTHORITY = ':authority'

/**
 * Answers a Node request through the API.
 *
 * @param url the target below the mount
 * @returns false if the path is not part of the API; the request is untouched then
 */
export function handleNodeRequest(
  api: HttpApi,
  req: NodeRequest,
  res: ServerResponse,
  url: string = withoutOrigin(req.url ?? '/'),
): boolean {
  const answer = api.handle(new NodeHttpRequest(req, res, url))
  if (answer === null) return false
  answer.then((response) => writeNodeResponse(req, res, response)).catch((error) => res.destroy(error))
  return true
}

/** A class: one small object per request instead of closures. */
export class NodeHttpRequest implements HttpRequest {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly native: unknown
  readonly #req: NodeRequest
  readonly #res: ServerResponse
  readonly #parsed: ParsedBody

  /**
   * @param parsed where the framework keeps the results of body parsers
   * @param native the framework's own request
   */
  constructor(
    req: NodeRequest,
    res: ServerResponse,
    url: string,
    parsed: ParsedBody = req,
    native: unknown = req,
  ) {
    this.native = native
    const mark = url.indexOf('?')
    this.method = req.method ?? 'GET'
    this.path = mark === -1 ? url : url.slice(0, mark)
    this.query = mark === -1 ? '' : url.slice(mark + 1)
    this.#req = req
    this.#res = res
    this.#parsed = parsed
  }

  get remoteAddress(): string | undefined {
    const { socket } = this.#req
    return socket.remoteAddress ?? (isUnix(socket) ? UNIX_PEER : undefined)
  }

  get encrypted(): boolean {
    return (this.#req.socket as { readonly encrypted?: boolean }).encrypted === true
  }

  get aborted(): boolean {
    return this.#res.destroyed || this.#req.socket.destroyed
  }

  get bodyComplete(): boolean {
    return this.#req.complete
  }

  get parsedBody(): unknown {
    // Express 4 parsers leave an empty object for bodies that they skip, so only the result for a consumed body counts.
    if (!this.#req.readableDidRead) return undefined
    const { body } = this.#parsed
    // Text and bytes go to `readBody`, and from there to the API's own parser.
    return isRaw(body) ? undefined : body
  }

  header(name: string): string | undefined {
    const value = this.#req.headers[name] ?? (name === 'host' ? this.#req.headers[AUTHORITY] : undefined)
    // Node keeps one line of these two headers and drops the rest. It joins all others.
    if (value !== undefined && (name === 'authorization' || name === 'content-type')) {
      return joinedLines(this.#req.rawHeaders, name, value)
    }
    return Array.isArray(value) ? value.join(', ') : (value as string | undefined)
  }

  headers(): Readonly<Record<string, string | undefined>> {
    const names = Object.keys(this.#req.headers).map((name) => (name === AUTHORITY ? 'host' : name))
    return Object.fromEntries(names.map((name) => [name, this.header(name)]))
  }

  afterResponse(callback: () => void): void {
    const res = this.#res
    if (res.destroyed || res.writableFinished) {
      callback()
      return
    }
    const timer = setTimeout(() => res.destroy(), SLOWEST_READ_MS)
    timer.unref()
    res.once('close', () => {
      clearTimeout(timer)
      callback()
    })
  }

  readBody(limits: BodyLimits): Promise<Uint8Array> {
    if (!this.#req.readableDidRead) return readNodeBody(this.#req, limits)
    const { body, rawBody } = this.#parsed
    const raw = isRaw(rawBody) ? rawBody : body
    if (!isRaw(raw)) return Promise.reject(new NotifierError('body_already_read'))
    return bounded(typeof raw === 'string' ? Buffer.from(raw) : raw, limits.bytes)
  }
}

function isRaw(body: unknown): body is string | Uint8Array {
  return typeof body === 'string' || body instanceof Uint8Array
}

/**
 * Decided by the address that the server listens on: a closed TCP connection has no address either, and Unix sockets
 * can be trusted proxies.
 */
function isUnix(socket: object): boolean {
  const { server } = socket as { readonly server?: Partial<Server> }
  return typeof server?.address?.() === 'string'
}

function bounded(bytes: Uint8Array, limit: number): Promise<Uint8Array> {
  return bytes.length > limit ? Promise.reject(tooLarge(limit)) : Promise.resolve(bytes)
}

function joinedLines(rawHeaders: readonly string[], name: string, value: string | string[]): string {
  let joined: string | undefined
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const line = rawHeaders[index]
    if (line?.length === name.length && line.toLowerCase() === name) {
      // The first line comes from `headers`, which a middleware of the host may have changed on purpose.
      joined = joined === undefined ? String(value) : `${joined}, ${rawHeaders[index + 1]}`
    }
  }
  return joined ?? String(value)
}
