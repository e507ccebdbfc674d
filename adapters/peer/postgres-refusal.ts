import { isNotifierError, NotifierError } from '../../src/domain/errors/notifier-error.ts'

/** Classes of SQLSTATE, and a state, that no later try mends: who may connect, the database's name, and privileges. */
const PERMANENT = /^(?:28|3D|42501)/

/** The SQLSTATE of an error that the server sent. */
export function stateOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || isNotifierError(error) || !('code' in error)) return undefined
  return typeof error.code === 'string' && /^[0-9A-Z]{5}$/.test(error.code) && 'severity' in error
    ? error.code
    : undefined
}

/** What Node.js says of a certificate, a key or an authority: of the server's, or of those that were named. */
const OF_CERTIFICATES =
  /^(?:ERR_TLS_CERT|ERR_OSSL_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH)/

/** What `pg` says itself: the server asks for a password that was not given, or encrypts nothing. */
const OF_PG = /^(?:SASL: SCRAM-SERVER-FIRST-MESSAGE: client password|The server does not support SSL)/

/** True of what no later try mends: a fault of the configuration. */
export function isPermanent(error: unknown): error is Error {
  if (!(error instanceof Error)) return false
  if (PERMANENT.test(stateOf(error) ?? '') || OF_PG.test(error.message)) return true
  const { code = '', syscall } = error as NodeJS.ErrnoException
  // What is opened is a file with a certificate or a key.
  return OF_CERTIFICATES.test(code) || (syscall === 'open' && (code === 'ENOENT' || code === 'EACCES'))
}

/** What callers see of that. @param maker the function that was given where PostgreSQL is */
export function misconfigured(maker: string, cause: Error): NotifierError {
  return new NotifierError('invalid_configuration', {
    message:
      `${maker}: PostgreSQL cannot be used: "${cause.message}". ` +
      'Correct what "connectionString" or "pool" say, the certificates, or what the database allows its role.',
    cause,
  })
}
