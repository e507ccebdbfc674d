import { isNotifierError } from '../../../src/domain/errors/notifier-error.ts'
import type { Outcome } from '../../../src/domain/outcome.ts'

/** System calls that come before a connection, and what TLS and undici say of one that was not made. */
const BEFORE_CONNECTION: ReadonlySet<unknown> = new Set([
  'connect',
  'getaddrinfo',
  'UND_ERR_CONNECT_TIMEOUT',
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'ERR_TLS_CERT_ALTNAME_INVALID',
])
/** Clients wrap the error of a socket once or twice; a cause may also lead back to itself. */
const MOST_CAUSES = 8

/**
 * Tells of an error of `fetch`, or of another client of Node.js, whether nothing was certainly sent: no host was found, no
 * connection made, or the certificate not believed. Then the outcome is `retry`; for any other error it is `ambiguous`.
 */
export function isUnsent(error: unknown): boolean {
  let cause = error
  for (let depth = 0; depth < MOST_CAUSES && typeof cause === 'object' && cause !== null; depth += 1) {
    const fields: { code?: unknown; syscall?: unknown; errors?: unknown; cause?: unknown } = cause
    if (BEFORE_CONNECTION.has(fields.syscall) || BEFORE_CONNECTION.has(fields.code)) return true
    // One for each address of the host.
    if (Array.isArray(fields.errors)) return fields.errors.length > 0 && fields.errors.every(isUnsent)
    cause = fields.cause
  }
  return false
}

/** Nothing was sent, because the attempt is over: the outcome where the signal has aborted before. */
export function notBegun(): Outcome {
  return {
    kind: 'retry',
    code: 'provider_unavailable',
    scope: 'provider',
    message: 'The attempt ended before it began.',
  }
}

/** Nothing was sent, and nothing will be before somebody acts: another provider may do better. */
export function impossible(error: unknown): Outcome {
  return {
    kind: 'rejected',
    code: isNotifierError(error) ? error.code : 'provider_error',
    scope: 'account',
    message: error instanceof Error ? error.message : String(error),
  }
}
