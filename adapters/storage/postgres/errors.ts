import { isNotifierError, NotifierError } from '../../../src/domain/errors/notifier-error.ts'

/** Classes of SQLSTATE that speak of the data of one statement: exceptions, constraints, limits of a value's size. */
const DATA_CLASSES: ReadonlySet<string> = new Set(['22', '23', '54'])

/** serialization_failure, deadlock_detected: the same transaction succeeds when it is run again. */
const PASSING: ReadonlySet<string> = new Set(['40001', '40P01'])

/** Connection exceptions, shutdowns and internal errors: the server may have finished what it was doing, or not. */
const UNCERTAIN = /^(?:08|57P|58|XX)/

/** The SQLSTATE of an error that the server sent. */
function stateOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || isNotifierError(error) || !('code' in error)) return undefined
  return typeof error.code === 'string' && /^[0-9A-Z]{5}$/.test(error.code) && 'severity' in error
    ? error.code
    : undefined
}

/**
 * True when the data is at fault and the same statement can never succeed; every other error is the storage's.
 * TypeErrors and RangeErrors come from serializing a value of the wrong type.
 */
export function isDataError(error: unknown): boolean {
  const state = stateOf(error)
  if (state !== undefined) return DATA_CLASSES.has(state.slice(0, 2))
  return error instanceof TypeError || error instanceof RangeError
}

/** True when running the same transaction again can help at once. */
export function isPassing(error: unknown): boolean {
  return PASSING.has(stateOf(error) ?? '')
}

/** True when the connection can be used no more, and nobody knows whether what it was asked for has happened. */
export function isUncertain(error: unknown): boolean {
  if (isNotifierError(error) || isDataError(error)) return false
  const state = stateOf(error)
  return state === undefined || UNCERTAIN.test(state)
}

/** True when a unique index refused the data. */
export function isTaken(error: unknown): boolean {
  return stateOf(error) === '23505'
}

/** What callers see of an error of one item. */
export function dataError(cause: unknown): NotifierError {
  return isTaken(cause)
    ? new NotifierError('already_exists', { cause })
    : new NotifierError('internal_server_error', { message: 'The data could not be stored.', cause })
}

/** What callers see of an error of the storage. */
export function unavailable(cause: unknown): NotifierError {
  return new NotifierError('service_unavailable', {
    message: 'PostgreSQL does not answer. Try again later; the cause is in the log.',
    cause,
  })
}

/** An error of an organization that does not exist. */
export function unknownOrganization(id: string): NotifierError {
  return new NotifierError('not_found', { message: `No organization has the id "${id}".` })
}
