import { ERRORS, type ErrorCode } from './catalogue.ts'

/** What a {@link NotifierError} may carry besides its code. */
export interface NotifierErrorOptions {
  /** Replaces the catalogue's sentence; must not contain secrets. */
  readonly message?: string | undefined
  /** Extra context for the caller, for example `{ field: 'to', expected: 'string' }`. Must be JSON. */
  readonly details?: Readonly<Record<string, unknown>> | undefined
  /** HTTP status where one code answers with two (`template_not_found`: 404 as a resource, 422 in a send). */
  readonly status?: number | undefined
  /** Milliseconds to wait before a retry can succeed. */
  readonly retryAfterMs?: number | undefined
  /** The underlying error; kept for logs, never shown to an API caller. */
  readonly cause?: unknown
}

/** Every error that Carillon throws or answers with. `code` is stable; see docs/errors.md. */
export class NotifierError extends Error {
  override readonly name = 'NotifierError'
  readonly code: ErrorCode
  readonly status: number
  readonly details: Readonly<Record<string, unknown>> | undefined
  readonly retryAfterMs: number | undefined

  constructor(code: ErrorCode, options: NotifierErrorOptions = {}) {
    super(
      options.message ?? `${ERRORS[code].message} ${ERRORS[code].action}`,
      options.cause === undefined ? undefined : { cause: options.cause },
    )
    this.code = code
    this.status = options.status ?? ERRORS[code].status
    this.details = options.details
    this.retryAfterMs = options.retryAfterMs
  }

  /** True when repeating the same call later can succeed. */
  get retryable(): boolean {
    return ERRORS[this.code].retryable
  }
}

/** Tells a Carillon error from any other, also across duplicated copies of the package. */
export function isNotifierError(error: unknown): error is NotifierError {
  return error instanceof Error && error.name === 'NotifierError' && 'code' in error
}
