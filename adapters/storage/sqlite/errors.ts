import { isNotifierError, NotifierError } from '../../../src/core/errors/notifier-error.ts'

/** SQLite's primary result codes that make a difference here, by the numbers of `node:sqlite`. */
const CODES = {
  1: 'ERROR',
  5: 'BUSY',
  8: 'READONLY',
  10: 'IOERR',
  11: 'CORRUPT',
  13: 'FULL',
  14: 'CANTOPEN',
  18: 'TOOBIG',
  19: 'CONSTRAINT',
  20: 'MISMATCH',
  25: 'RANGE',
  26: 'NOTADB',
} as const

type Code = (typeof CODES)[keyof typeof CODES]

const NAMES: ReadonlySet<string> = new Set(Object.values(CODES))

/** Concern the data of one statement. */
const DATA_ERRORS: ReadonlySet<Code | null> = new Set<Code>(['TOOBIG', 'CONSTRAINT', 'MISMATCH', 'RANGE'])

/** Concern writes to the disk. */
const DISK_ERRORS: ReadonlySet<Code | null> = new Set<Code>(['READONLY', 'IOERR', 'FULL'])

/** The primary result code in an error of any driver; null: none, or one that makes no difference here. */
export function codeOf(error: unknown): Code | null {
  const { errcode, rawCode = errcode, code } = Object(error) as Readonly<Record<string, unknown>>
  if (typeof rawCode === 'number') return CODES[(rawCode & 0xff) as keyof typeof CODES] ?? null
  // `SQLITE_IOERR_WRITE` is a kind of `SQLITE_IOERR`.
  const [prefix, name = ''] = String(code).split('_')
  return prefix === 'SQLITE' && NAMES.has(name) ? (name as Code) : null
}

/**
 * True: the data is at fault, and the statement can never succeed. All other errors are the storage's. Errors without a
 * result code come from binding or serializing a value of the wrong type.
 */
export function isDataError(error: unknown): boolean {
  if (!(error instanceof Error) || isNotifierError(error)) return false
  return DATA_ERRORS.has(codeOf(error)) || error instanceof TypeError || error instanceof RangeError
}

/** True: the disk refused a write, for example because it is full. */
export function isDiskError(error: unknown): boolean {
  return DISK_ERRORS.has(codeOf(error))
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
