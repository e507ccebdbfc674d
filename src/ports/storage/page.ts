/** Asks for one page of a list, newest first. */
export interface PageRequest {
  /** 1 to 100. */
  readonly limit: number
  /**
   * Rows to skip; 0 with a cursor. Refused with `invalid_parameter` where a page ends before it has skipped so many: see
   * {@link Page}.
   */
  readonly offset: number
  /** `nextCursor` of an earlier page: rows that arrive meanwhile neither repeat nor hide others. */
  readonly cursor?: string | undefined
}

/**
 * The next rows of a list. A filtered list of many rows is bounded by what it looks at, so that a page stays short however few
 * match: it then holds fewer than `limit`, even none, and its cursor leads on.
 */
export interface Page<Row> {
  readonly items: readonly Row[]
  /** Continues after this page; null on the last. Opaque, url-safe. */
  readonly nextCursor: string | null
}
