import { isNotifierError, NotifierError } from '../../src/core/errors/notifier-error.ts'

/** SQLSTATE classes and states that a retry cannot fix: authentication, unknown database, privileges. */
const PERMANENT = /^(?:28|3D|42501)/

/** The SQLSTATE of an error that the server sent. */
export function stateOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || isNotifierError(error) || !('code' in error)) return undefined
  return typeof error.code === 'string' && /^[0-9A-Z]{5}$/.test(error.code) && 'severity' in error
    ? error.code
    : undefined
}

/** Node.js errors about certificates, keys and authorities, of the server or in the options. */
const OF_CERTIFICATES =
  /^(?:ERR_TLS_CERT|ERR_OSSL_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH)/

/** Errors of `pg` itself: the password is missing, or the server does not support TLS. */
const OF_PG = /^(?:SASL: SCRAM-SERVER-FIRST-MESSAGE: client password|The server does not support SSL)/

/** True for configuration faults, which a retry cannot fix. */
export function isPermanent(error: unknown): error is Error {
  if (!(error instanceof Error)) return false
  if (PERMANENT.test(stateOf(error) ?? '') || OF_PG.test(error.message)) return true
  const { code = '', syscall } = error as NodeJS.ErrnoException
  // Failed to open a certificate or key file.
  return OF_CERTIFICATES.test(code) || (syscall === 'open' && (code === 'ENOENT' || code === 'EACCES'))
}

/** Wraps a permanent failure. @param maker the function that received the connection options */
export function misconfigured(maker: string, cause: Error): NotifierError {
  return new NotifierError('invalid_configuration', {
    message:
      `${maker}: PostgreSQL cannot be used: "${cause.message}". ` +
      'Correct "connectionString" or "pool", the certificates, or the privileges of the role.',
    cause,
  })
}
