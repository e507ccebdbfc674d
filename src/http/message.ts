import type { NotifierError } from '../domain/errors/notifier-error.ts'

/** Bounds of one body. */
export interface BodyLimits {
  /** Most bytes. */
  readonly bytes: number
  /** Longest time from the first look at the body to its end, in milliseconds. */
  readonly timeoutMs: number
  /**
   * Called for a body that is still arriving.
   *
   * @param end ends the body with an error
   * @returns to be called with the number of bytes of each piece that arrives
   */
  readonly watch?: (end: (error: NotifierError) => void) => (bytes: number) => void
}

/**
 * A request as the core sees it. Adapters make one from whatever their framework has.
 * Nothing in it is interpreted: what the framework believes about address, scheme or body is not asked.
 */
export interface HttpRequest {
  /** Upper case, as sent. */
  readonly method: string
  /** Below the mount, not decoded, without the query; begins with a slash. */
  readonly path: string
  /** Not decoded, without the question mark; empty: none. */
  readonly query: string
  /** Address of the peer of the connection; `unix`: a Unix socket. Undefined when it is not known (a closed socket). */
  readonly remoteAddress: string | undefined
  /** True when the connection itself is TLS. */
  readonly encrypted: boolean
  /** True when the client has gone: nobody will read the answer. */
  readonly aborted: boolean
  /** True when the whole body has arrived. False also where the host cannot tell. */
  readonly bodyComplete: boolean
  /** What a body parser of the host made of the body; undefined: none ran, use {@link readBody}. */
  readonly parsedBody: unknown
  /**
   * Value of a header by its lower-case name; undefined when absent. Several lines of one name are joined by
   * `, ` for every name: a repeated Authorization must be seen, not silently reduced to one of the two. `host` is the
   * name that the request is for, whatever the version of HTTP calls it.
   */
  header(name: string): string | undefined
  /** All headers, as {@link header} gives them. */
  headers(): Readonly<Record<string, string | undefined>>
  /**
   * Reads the body once, and stops reading as soon as it is too large or takes too long.
   *
   * @throws NotifierError `payload_too_large`; `invalid_json` when the client left before the end;
   *   `request_timeout` when the client pauses too long or the end does not come in time; `invalid_configuration` when the
   *   host application has used the body up; the error of who watches it
   */
  readBody(limits: BodyLimits): Promise<Uint8Array>
}

/** An answer. Adapters send it as it is: status, each header, body. */
export interface HttpResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Null: none (HEAD). */
  readonly body: string | Buffer | null
}
