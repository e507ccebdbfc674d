import { entryOf, isErrorCode, isPluginCode } from '../core/errors/catalogue.ts'
import { isNotifierError, NotifierError } from '../core/errors/notifier-error.ts'

/** Formats of an error body: `nested` and `flat`. */
export type ErrorFormat = 'nested' | 'flat'

/** An error in the form of an HTTP answer. */
export interface ErrorAnswer {
  readonly status: number
  readonly body: string
  /** Value of Retry-After in whole seconds. Null: no header. */
  readonly retryAfter: number | null
}

/**
 * Reduces a failure to its public part. Internal faults become one of two codes with the catalogue's message; their
 * cause stays in the process.
 */
export function publicError(error: unknown): NotifierError {
  if (!isNotifierError(error) || !(isErrorCode(error.code) || isPluginCode(error.code)))
    return new NotifierError('internal_server_error')
  const { code: known, message, details } = error
  if (known === 'idempotency_key_reused' && details?.field === 'idempotencyKey') {
    // The option in code is a header in HTTP.
    return new NotifierError(known, { message, details: { ...details, field: 'Idempotency-Key' } })
  }
  if (error.status < 500 || known === 'body_already_read') return error
  const code =
    error.code === 'service_unavailable' || error.code === 'not_started'
      ? 'service_unavailable'
      : 'internal_server_error'
  return new NotifierError(code, { retryAfterMs: error.retryAfterMs })
}

/** Renders an error from {@link publicError} in the configured format. */
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

/** Rounded up, at least 1, so that a client that obeys never returns too early. */
function retryAfterSeconds({ code, status, retryAfterMs }: NotifierError): number | null {
  if (retryAfterMs !== undefined) return Math.max(1, Math.ceil(retryAfterMs / 1000))
  return status === 429 || entryOf(code).retryable ? 1 : null
}
