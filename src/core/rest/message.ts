import type { NotifierError } from '../errors/notifier-error.ts'

/** Limits of one body. */
export interface BodyLimits {
  /** Most bytes. */
  readonly bytes: number
  /** Longest time from the first read to the end of the body, in milliseconds. */
  readonly timeoutMs: number
  /**
   * Called for a body that is still arriving.
   *
   * @param end ends the body with an error
   * @returns a callback for the number of bytes of each chunk
   */
  readonly watch?: (end: (error: NotifierError) => void) => (bytes: number) => void
  /**
   * Called with the size of a JSON body once it has arrived.
   *
   * @throws NotifierError `service_unavailable`
   */
  readonly arrived?: (bytes: number) => void
}

/**
 * A request as the core sees it. Adapters build it from their framework's request and interpret nothing: the
 * framework's opinion about address, scheme or body does not count.
 */
export interface HttpRequest {
  /** Upper case, as sent. */
  readonly method: string
  /** Path below the mount, not decoded, without the query. Begins with a slash. */
  readonly path: string
  /** Query, not decoded, without the question mark. Empty: none. */
  readonly query: string
  /** Address of the connection's peer. `unix`: a Unix socket. Undefined: unknown (a closed socket). */
  readonly remoteAddress: string | undefined
  /** True: the connection itself is TLS. */
  readonly encrypted: boolean
  /** True: the client has disconnected. */
  readonly aborted: boolean
  /** True: the whole body has arrived. False also if the host cannot tell. */
  readonly bodyComplete: boolean
  /** The framework's own request: that of Express, node:http or Fastify, the context of Koa, or a `Request`. */
  readonly native: unknown
  /** Result of a body parser of the host. Undefined: no parser ran; use {@link readBody}. */
  readonly parsedBody: unknown
  /**
   * Value of a header by its lower-case name. Undefined: absent. Repeated lines are joined with `, ` for every name, so
   * that a repeated Authorization stays visible. `host` is the name that the request is for, in every version of HTTP.
   */
  header(name: string): string | undefined
  /** All headers, in the form of {@link header}. */
  headers(): Readonly<Record<string, string | undefined>>
  /**
   * Calls back when the response has left, the client has disconnected, or the client reads too slowly and is cut off. A host
   * that cannot tell calls back at once.
   */
  afterResponse(callback: () => void): void
  /**
   * Reads the body once. Stops as soon as the body is too large or takes too long.
   *
   * @throws NotifierError `payload_too_large`; `invalid_json` if the client left before the end; `request_timeout` if
   *   the client pauses too long or the end is late; `body_already_read` if the host application has consumed the body
   *   and kept no bytes; the error of the watcher
   */
  readBody(limits: BodyLimits): Promise<Uint8Array>
}

/** An answer. Adapters send status, headers and body unchanged. */
export interface HttpResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /**
   * Null: no body (HEAD). Chunks: sent as fast as the client reads, each asked for when the one before has gone. A client
   * that leaves ends the iteration; a failure ends the connection before the body is complete.
   */
  readonly body: string | Buffer | AsyncIterable<Uint8Array> | null
}
