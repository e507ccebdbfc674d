import { type ErrorCode, entryOf, pageOf, standardMessage } from './catalogue.ts'

/** Fields of a {@link NotifierError} besides its code. */
export interface NotifierErrorOptions {
  /** Replaces the catalogue's sentence. Must contain no secret. */
  readonly message?: string | undefined
  /** Context for the caller, for example `{ field: 'to', expected: 'string' }`. Must be JSON. */
  readonly details?: Readonly<Record<string, unknown>> | undefined
  /** HTTP status, for a code with two (`template_not_found`: 404 as a resource, 422 in a send). */
  readonly status?: number | undefined
  /** Milliseconds until a retry may succeed; rounded up. */
  readonly retryAfterMs?: number | undefined
  /** The underlying error, for logs only; never part of an API answer. */
  readonly cause?: unknown
}

/** Every error that Carillon throws or returns. `code` is stable; see docs/reference/errors.md. */
export class NotifierError extends Error {
  override readonly name = 'NotifierError'
  readonly code: ErrorCode
  readonly status: number
  readonly details: Readonly<Record<string, unknown>> | undefined
  /** Milliseconds until a retry may succeed, a whole number. Undefined: not known. */
  readonly retryAfterMs: number | undefined
  /** The page about the code, below the folder of the application. Undefined: the code is of a plug-in. */
  readonly docs: string | undefined

  constructor(code: ErrorCode, options: NotifierErrorOptions = {}) {
    super(
      options.message ?? standardMessage(code),
      options.cause === undefined ? undefined : { cause: options.cause },
    )
    this.code = code
    this.status = options.status ?? entryOf(code).status
    this.details = options.details
    // Rounded up, so that a caller who waits that long is never too early.
    this.retryAfterMs = options.retryAfterMs === undefined ? undefined : Math.ceil(options.retryAfterMs)
    this.docs = pageOf(code)
  }

  /** Equal to `status`. Fastify, NestJS and others read this name. */
  get statusCode(): number {
    return this.status
  }

  /** False: the message is for the operator. Koa and NestJS then hide it from their clients. */
  get expose(): boolean {
    return this.status < 500
  }

  /** True: the same call may succeed later. */
  get retryable(): boolean {
    return entryOf(this.code).retryable
  }
}

/**
 * Whether a value is a Carillon error, also one from another copy of the package.
 *
 * @example
 * try {
 *   await notifier.send({ channel: 'sms', to: '+15005550006', body: 'Your code is 123456.' })
 * } catch (error) {
 *   if (isNotifierError(error) && error.code === 'invalid_phone') console.warn(error.message)
 *   else throw error
 * }
 */
export function isNotifierError(error: unknown): error is NotifierError {
  return error instanceof Error && error.name === 'NotifierError' && 'code' in error
}
