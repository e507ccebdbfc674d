import type { ErrorCode } from '../core/errors/catalogue.ts'

/** What only the client can find: no whole answer came, none came in time, or it is not one of Carillon. */
type OwnCode = 'unreachable' | 'timeout' | 'unexpected_answer'

interface Known {
  readonly message: string
  readonly status?: number | undefined
  readonly requestId?: string | undefined
  readonly retryAfterMs?: number | undefined
  readonly details?: Readonly<Record<string, unknown>> | undefined
  readonly cause?: unknown
}

/** Every error of a client but an abort. It never contains the key. */
export class CarillonError extends Error {
  override readonly name = 'CarillonError'
  /**
   * A code of docs/reference/errors.md, that of a plug-in, or `unreachable` (no whole answer came), `timeout` (none came in `timeoutMs`) or
   * `unexpected_answer` (it is not one of Carillon). Later versions of the service add codes.
   */
  readonly code: ErrorCode | OwnCode | (string & {})
  /** HTTP status. Undefined: there is no answer. */
  readonly status: number | undefined
  /** `X-Request-Id` of the answer, for the logs of the service. */
  readonly requestId: string | undefined
  /** Milliseconds until a retry may succeed. Undefined: not known. */
  readonly retryAfterMs: number | undefined
  /** Context of the error, such as `{ field: 'to' }`. */
  readonly details: Readonly<Record<string, unknown>> | undefined

  constructor(
    code: CarillonError['code'],
    { message, status, requestId, retryAfterMs, details, cause }: Known,
  ) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.status = status
    this.requestId = requestId
    this.retryAfterMs = retryAfterMs
    this.details = details
  }
}
