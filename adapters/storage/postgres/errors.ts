import { uploadGone } from '../../../src/core/accept/upload.ts'
import { isNotifierError, NotifierError } from '../../../src/core/errors/notifier-error.ts'
import { isPermanent, misconfigured, stateOf } from '../../peer/postgres-refusal.ts'

/** SQLSTATE classes that concern the data of one statement: exceptions, constraints, size limits. */
const DATA_CLASSES: ReadonlySet<string> = new Set(['22', '23', '54'])

/** serialization_failure, deadlock_detected: a retry of the transaction succeeds. */
const TRANSIENT: ReadonlySet<string> = new Set(['40001', '40P01'])

/**
 * Connection exceptions, shutdowns and internal errors leave the outcome unknown. Invalid transaction states belong
 * here too: a read-only server must be left, and a connection in a failed transaction would stay in it.
 */
const UNCERTAIN = /^(?:08|25|57P|58|XX)/

/** The transaction itself is at fault. Other states, such as undefined_table, only appear as the cause. */
const NO_TRANSACTION: ReadonlySet<string> = new Set(['25P01', '25P02', '25006', '25P04', '42501'])

/**
 * True: the data is at fault, and the statement can never succeed. All other errors are the storage's. TypeErrors and
 * RangeErrors come from serializing a value of the wrong type.
 */
export function isDataError(error: unknown): boolean {
  const state = stateOf(error)
  if (state !== undefined) return DATA_CLASSES.has(state.slice(0, 2))
  return error instanceof TypeError || error instanceof RangeError
}

/** True: an immediate retry of the transaction can succeed. */
export function isTransient(error: unknown): boolean {
  return TRANSIENT.has(stateOf(error) ?? '')
}

/** True: the connection is unusable, and the outcome of its last statement is unknown. */
export function isUncertain(error: unknown): boolean {
  if (isNotifierError(error) || isDataError(error)) return false
  const state = stateOf(error)
  return state === undefined || UNCERTAIN.test(state)
}

/** invalid_sql_statement_name, duplicate_prepared_statement: a pooler switched connections. */
const UNPREPARED: ReadonlySet<string> = new Set(['26000', '42P05'])

/** True: a prepared statement was missing or could not be prepared. It has not run. */
export function isUnprepared(error: unknown): boolean {
  return UNPREPARED.has(stateOf(error) ?? '')
}

/** The SQLSTATE of an error or of its cause. */
function causeOf(error: unknown): string | undefined {
  return stateOf(isNotifierError(error) ? error.cause : error)
}

/** lock_not_available: a lock timed out. */
export function isHeld(error: unknown): boolean {
  return causeOf(error) === '55P03'
}

/** A lock timed out, or a table was dropped. */
export function isHeldOrGone(error: unknown): boolean {
  return isHeld(error) || causeOf(error) === '42P01'
}

/** insufficient_privilege: the role lacks a privilege. */
export function isForbidden(error: unknown): boolean {
  return causeOf(error) === '42501'
}

/** True when a unique index refused the data. */
export function isTaken(error: unknown): boolean {
  return stateOf(error) === '23505'
}

/** disk_full, io_error: the server cannot write. */
export function isDiskError(error: unknown): boolean {
  return /^(?:53100|58030)$/.test(stateOf(error) ?? '')
}

/** Wraps an error inside the caller's transaction, which is unusable now. */
export function unusable(error: unknown): NotifierError {
  const cause = error instanceof Error && stateOf(error) === undefined ? (error.cause ?? error) : error
  const state = stateOf(cause)
  if (state === undefined || NO_TRANSACTION.has(state)) {
    return new NotifierError('invalid_transaction', {
      message:
        'The transaction is unusable: it has ended or failed, it is read-only, ' +
        'or its connection is lost. Nothing was stored; see the cause.',
      details: { reason: 'unusable' },
      cause: error,
    })
  }
  return new NotifierError('service_unavailable', {
    message:
      'PostgreSQL refused a statement inside your transaction. Roll it back and run all of it again; see the cause.',
    cause: error,
  })
}

/** foreign_key_violation: an accept names an upload that does not exist. There are no other references. */
const NO_UPLOAD = '23503'

/** Wraps an error of one item. */
export function dataError(cause: unknown): NotifierError {
  if (stateOf(cause) === NO_UPLOAD) return uploadGone(cause)
  return isTaken(cause)
    ? new NotifierError('already_exists', { cause })
    : new NotifierError('internal_server_error', { message: 'The data could not be stored.', cause })
}

/** Wraps an error of the storage. */
export function unavailable(cause: unknown): NotifierError {
  return new NotifierError('service_unavailable', {
    message: 'PostgreSQL does not answer. Try again later; see the cause.',
    cause,
  })
}

/** The same, except for data errors and errors that are already wrapped. */
export function asFailure(error: unknown): unknown {
  return isNotifierError(error) || isDataError(error) ? error : unavailable(error)
}

/** Wraps an error of the start. Permanent errors are configuration faults. */
export function startFailure(error: unknown): unknown {
  const cause = isNotifierError(error) ? error.cause : error
  return isPermanent(cause) ? misconfigured('postgres', cause) : error
}
