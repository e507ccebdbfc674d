import { isNotifierError } from '../../src/domain/errors/notifier-error.ts'

/** Classes of SQLSTATE, and a state, that no later try mends: who may connect, the database's name, and privileges. */
const PERMANENT = /^(?:28|3D|42501)/

/** The SQLSTATE of an error that the server sent. */
export function stateOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || isNotifierError(error) || !('code' in error)) return undefined
  return typeof error.code === 'string' && /^[0-9A-Z]{5}$/.test(error.code) && 'severity' in error
    ? error.code
    : undefined
}

/** True of an answer that no later try mends: a fault of the configuration. */
export function isPermanent(error: unknown): error is Error {
  return error instanceof Error && (PERMANENT.test(stateOf(error) ?? '') || isWithoutPassword(error))
}

/** What `pg` says itself when the server asks for a password that it was not given. */
function isWithoutPassword({ message }: Error): boolean {
  return message.startsWith('SASL: SCRAM-SERVER-FIRST-MESSAGE: client password')
}
