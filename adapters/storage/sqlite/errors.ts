import { isNotifierError, NotifierError } from '../../../src/domain/errors/notifier-error.ts'

/** SQLite result codes that concern the data of one statement: TOOBIG, CONSTRAINT, MISMATCH, RANGE. */
const DATA_ERRORS: ReadonlySet<number> = new Set([18, 19, 20, 25])

/** SQLite result codes that concern writes to the disk: READONLY, IOERR, FULL. */
const DISK_ERRORS: ReadonlySet<number> = new Set([8, 10, 13])

/**
 * True: the data is at fault, and the statement can never succeed. All other errors are the storage's. Errors without a
 * result code come from binding or serializing a value of the wrong type.
 */
export function isDataError(error: unknown): boolean {
  if (!(error instanceof Error) || isNotifierError(error)) return false
  if ('errcode' in error && typeof error.errcode === 'number') return DATA_ERRORS.has(error.errcode & 0xff)
  return error instanceof TypeError || error instanceof RangeError
}

/** True: the disk refused a write, for example because it is full. */
export function isDiskError(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && DISK_ERRORS.has(Number(error.errcode) & 0xff)
}

/** Wraps an error of one item. */
export function dataError(cause: unknown): NotifierError {
  const unique = cause instanceof Error && cause.message.includes('UNIQUE constraint failed')
  return unique
    ? new NotifierError('already_exists', { cause })
    : new NotifierError('internal_server_error', { message: 'The data could not be stored.', cause })
}

/** Wraps an error of the storage. */
export function unavailable(cause: unknown): NotifierError {
  return new NotifierError('service_unavailable', {
    message: 'The SQLite storage does not answer. Try again later; see the cause.',
    cause,
  })
}
