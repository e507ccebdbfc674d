/** What is used of a client of `pg`: a type of its own, so that the declarations need no package. */
export interface PgClient {
  query(query: PgQuery): Promise<PgResult | readonly PgResult[]>
  /** @param destroy closes the connection instead of keeping it */
  release(destroy?: boolean): void
  on(event: 'error', listener: (error: Error) => void): unknown
  removeListener(event: 'error', listener: (error: Error) => void): unknown
}

/** What is used of a `Pool` of `pg` 8. */
export interface PgPool {
  connect(): Promise<PgClient>
}

export interface PgQuery {
  readonly text: string
  readonly values?: unknown[]
  /** Of a statement that the connection prepares and keeps. */
  readonly name?: string
  readonly types?: { getTypeParser(oid: number, format?: string): (value: string) => unknown }
  /** Milliseconds; after it the client gives the query up. */
  readonly query_timeout?: number
}

export interface PgResult {
  readonly command: string
  readonly rows: unknown[]
}

/** A connection that listens; it belongs to no pool. */
export interface PgListener {
  connect(): Promise<unknown>
  query(text: string): Promise<unknown>
  end(): Promise<unknown>
  on(event: 'notification', listener: (message: { readonly payload?: string | undefined }) => void): unknown
  on(event: 'error', listener: (error: Error) => void): unknown
  on(event: 'end', listener: () => void): unknown
}
