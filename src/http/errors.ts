import { ERRORS, isErrorCode } from '../domain/errors/catalogue.ts'
import { isNotifierError, NotifierError } from '../domain/errors/notifier-error.ts'

/** The two forms of an error's body: `nested` and `flat`. */
export type ErrorFormat = 'nested' | 'flat'

/** What an error looks like to the caller. */
export interface ErrorAnswer {
  readonly status: number
  readonly body: string
  /** Value of Retry-After in whole seconds; null: none. */
  readonly retryAfter: number | null
}

/**
 * What a caller may know of a failure. Faults of our side become one of two codes, in the catalogue's words alone:
 * nothing of their cause leaves the process.
 */
export function publicError(error: unknown): NotifierError {
  if (!isNotifierError(error) || !isErrorCode(error.code)) return new NotifierError('internal_server_error')
  const { code: known, message, details } = error
  if (known === 'idempotency_key_reused' && details?.field === 'idempotencyKey') {
    // In code it is an option, here a header.
    return new NotifierError(known, { message, details: { ...details, field: 'Idempotency-Key' } })
  }
  if (error.status < 500) return error
  const code =
    error.code === 'service_unavailable' || error.code === 'not_started'
      ? 'service_unavailable'
      : 'internal_server_error'
  return new NotifierError(code, { retryAfterMs: error.retryAfterMs })
}

/** Puts an error that {@link publicError} gave into the body form that is configured. */
export function errorAnswer(error: NotifierError, requestId: string, format: ErrorFormat): ErrorAnswer {
  const { code, message, status, details } = error
  const retryAfter = retryAfterSeconds(error)
  const body =
    format === 'flat'
      ? { error: message, code: code.toUpperCase(), statusCode: status }
      : {
          error: {
            code,
            message,
            ...(details === undefined ? {} : { details }),
            request_id: requestId,
            ...(retryAfter === null ? {} : { retry_after: retryAfter }),
          },
        }
  return { status, body: JSON.stringify(body), retryAfter }
}

/** Rounded up, at least 1: a client that waits so long never comes too early. */
function retryAfterSeconds({ code, status, retryAfterMs }: NotifierError): number | null {
  if (retryAfterMs !== undefined) return Math.max(1, Math.ceil(retryAfterMs / 1000))
  return status === 429 || ERRORS[code].retryable ? 1 : null
}
