import { isNotifierError } from '../../../src/core/errors/notifier-error.ts'
import type { Outcome } from '../../../src/core/notification/outcome.ts'

/** System calls before a connection, and errors of TLS and of `fetch` without one. */
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
/** Clients wrap a socket's error once or twice. A chain of causes may be circular. */
const MOST_CAUSES = 8

/**
 * True: an error of `fetch`, or of another client of Node.js, proves that nothing was sent, because the host was not
 * found, the connection failed or the certificate was not trusted. The outcome is `retry` then, and `ambiguous` for any
 * other error.
 *
 * @example
 * const outcome: Outcome = isUnsent(error)
 *   ? { kind: 'retry', code: 'provider_unavailable', scope: 'provider', message: String(error) }
 *   : { kind: 'ambiguous', reason: String(error) }
 */
export function isUnsent(error: unknown): boolean {
  let cause = error
  for (let depth = 0; depth < MOST_CAUSES && typeof cause === 'object' && cause !== null; depth += 1) {
    const fields: { code?: unknown; syscall?: unknown; errors?: unknown; cause?: unknown } = cause
    if (BEFORE_CONNECTION.has(fields.syscall) || BEFORE_CONNECTION.has(fields.code)) return true
    // One error per address of the host.
    if (Array.isArray(fields.errors)) return fields.errors.length > 0 && fields.errors.every(isUnsent)
    cause = fields.cause
  }
  return false
}

/**
 * The outcome of an attempt whose signal aborted before anything was sent.
 *
 * @example
 * const send: Provider['send'] = async ({ to, body }, { signal }) =>
 *   signal.aborted ? notBegun() : client.deliver(to, body)
 */
export function notBegun(): Outcome {
  return {
    kind: 'retry',
    code: 'provider_unavailable',
    scope: 'provider',
    message: 'The attempt was aborted before it began.',
  }
}

/** The outcome of an attempt that cannot be sent until the configuration changes. Another provider may succeed. */
export function impossible(error: unknown): Outcome {
  return {
    kind: 'rejected',
    code: isNotifierError(error) ? error.code : 'provider_error',
    scope: 'account',
    message: error instanceof Error ? error.message : String(error),
  }
}
