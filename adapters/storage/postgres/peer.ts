/** The members in use of a client of `pg`, so that the declarations do not need the package. */
export interface PgClient {
  query(query: PgQuery): Promise<PgResult | readonly PgResult[]>
  /** @param destroy true: close the connection instead of keeping it */
  release(destroy?: boolean): void
  on(event: 'error', listener: (error: Error) => void): unknown
  removeListener(event: 'error', listener: (error: Error) => void): unknown
}

/** The members in use of a `Pool` of `pg` 8. */
export interface PgPool {
  connect(): Promise<PgClient>
}

export interface PgQuery {
  readonly text: string
  readonly values?: unknown[]
  /** Name of a statement for the connection to prepare and keep. */
  readonly name?: string
  readonly types?: { getTypeParser(oid: number, format?: string): (value: string) => unknown }
  /** Milliseconds until the client gives up. */
  readonly query_timeout?: number
}

export interface PgResult {
  readonly command: string
  readonly rows: unknown[]
}

/** A connection that listens, outside the pool. */
export interface PgListener {
  connect(): Promise<unknown>
  query(text: string): Promise<unknown>
  end(): Promise<unknown>
  on(event: 'notification', listener: (message: { readonly payload?: string | undefined }) => void): unknown
  on(event: 'error', listener: (error: Error) => void): unknown
  on(event: 'end', listener: () => void): unknown
}
