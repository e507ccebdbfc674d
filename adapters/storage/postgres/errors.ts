import { isNotifierError, NotifierError } from '../../../src/domain/errors/notifier-error.ts'
import { isPermanent, misconfigured, stateOf } from '../../peer/postgres-refusal.ts'

/** Classes of SQLSTATE that speak of the data of one statement: exceptions, constraints, limits of a value's size. */
const DATA_CLASSES: ReadonlySet<string> = new Set(['22', '23', '54'])

/** serialization_failure, deadlock_detected: the same transaction succeeds when it is run again. */
const PASSING: ReadonlySet<string> = new Set(['40001', '40P01'])

/**
 * Connection exceptions, shutdowns and internal errors: the server may have finished what it was doing, or not. With them
 * invalid transaction states: a server that may not write is none to stay connected to, and a connection that somebody
 * has left in a failed transaction would stay in it.
 */
const UNCERTAIN = /^(?:08|25|57P|58|XX)/

/** undefined_table and alike are for whoever reads the cause; these say that the transaction itself is at fault. */
const NO_TRANSACTION: ReadonlySet<string> = new Set(['25P01', '25P02', '25006', '25P04', '42501'])

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
  return PASSING.has(stateOf(error) ?? '') || isOvertaken(error)
}

/**
 * unique_violation of a history: another has added to it meanwhile. Those of this version wait for each other; processes of
 * one before hold the notification's row alone.
 */
function isOvertaken(error: unknown): boolean {
  if (stateOf(error) !== '23505') return false
  const { constraint } = error as Error & { readonly constraint?: string }
  return /^(?:events|states)_\w+_pkey$/.test(constraint ?? '')
}

/** True when the connection can be used no more, and nobody knows whether what it was asked for has happened. */
export function isUncertain(error: unknown): boolean {
  if (isNotifierError(error) || isDataError(error)) return false
  const state = stateOf(error)
  return state === undefined || UNCERTAIN.test(state)
}

/** invalid_sql_statement_name, duplicate_prepared_statement: another connection has what this one prepared, or both have. */
const UNPREPARED: ReadonlySet<string> = new Set(['26000', '42P05'])

/** True when a prepared statement was not found, or could not be prepared; it has not run. */
export function isUnprepared(error: unknown): boolean {
  return UNPREPARED.has(stateOf(error) ?? '')
}

/** The SQLSTATE of an error, also where it is the cause of what callers see. */
function causeOf(error: unknown): string | undefined {
  return stateOf(isNotifierError(error) ? error.cause : error)
}

/** lock_not_available: a lock did not become free in time. */
export function isHeld(error: unknown): boolean {
  return causeOf(error) === '55P03'
}

/** The same, or a table was dropped. */
export function isHeldOrGone(error: unknown): boolean {
  return isHeld(error) || causeOf(error) === '42P01'
}

/** insufficient_privilege: the role may not do this. */
export function isForbidden(error: unknown): boolean {
  return causeOf(error) === '42501'
}

/** True when a unique index refused the data. */
export function isTaken(error: unknown): boolean {
  return stateOf(error) === '23505'
}

/** disk_full, io_error: the server could not write. */
export function isDiskError(error: unknown): boolean {
  return /^(?:53100|58030)$/.test(stateOf(error) ?? '')
}

/** What callers see of an error of their own transaction, which no longer can be used. */
export function unusable(error: unknown): NotifierError {
  const cause = error instanceof Error && stateOf(error) === undefined ? (error.cause ?? error) : error
  const state = stateOf(cause)
  if (state === undefined || NO_TRANSACTION.has(state)) {
    return new NotifierError('invalid_transaction', {
      message:
        'The transaction cannot be used: it has ended or failed before, it may not write here, ' +
        'or its connection is lost. Nothing was accepted; the cause says more.',
      details: { reason: 'unusable' },
      cause: error,
    })
  }
  return new NotifierError('service_unavailable', {
    message:
      'PostgreSQL refused this inside your transaction. Roll it back and run all of it again; see the cause.',
    cause: error,
  })
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
    message: 'PostgreSQL does not answer. Try again later; see the cause.',
    cause,
  })
}

/** The same, but for errors of the data and those that say it already. */
export function asFailure(error: unknown): unknown {
  return isNotifierError(error) || isDataError(error) ? error : unavailable(error)
}

/** What callers see of an error of the start: what no later try mends is a fault of the configuration. */
export function startFailure(error: unknown): unknown {
  const cause = isNotifierError(error) ? error.cause : error
  return isPermanent(cause) ? misconfigured('postgres', cause) : error
}

/** An error of an organization that does not exist. */
export function unknownOrganization(id: string): NotifierError {
  return new NotifierError('not_found', { message: `No organization has the id "${id}".` })
}
