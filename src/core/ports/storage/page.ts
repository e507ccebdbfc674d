/** Asks for one page of a list, newest first. */
export interface PageRequest {
  /** 1 to 100. */
  readonly limit: number
  /**
   * Rows to skip; 0 with a cursor. Refused with `invalid_parameter` if a page ends before it has skipped that many: see
   * {@link Page}.
   */
  readonly offset: number
  /** `nextCursor` of an earlier page. New rows then neither repeat nor hide others. */
  readonly cursor?: string | undefined
}

/**
 * The next rows of a list. A page looks at a limited number of rows: with a filter it may hold fewer than `limit`
 * matches, or none, and its cursor leads on.
 */
export interface Page<Row> {
  readonly items: readonly Row[]
  /** Continues after this page. Null: the last page. Opaque, URL-safe. */
  readonly nextCursor: string | null
}
