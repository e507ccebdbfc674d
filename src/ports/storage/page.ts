/** Asks for one page of a list, newest first. */
export interface PageRequest {
  /** 1 to 100. */
  readonly limit: number
  /** Rows to skip; 0 with a cursor. */
  readonly offset: number
  /** `nextCursor` of an earlier page: rows that arrive meanwhile neither repeat nor hide others. */
  readonly cursor?: string | undefined
}

export interface Page<Row> {
  readonly items: readonly Row[]
  /** Continues after this page; null on the last. Opaque, url-safe. */
  readonly nextCursor: string | null
}
