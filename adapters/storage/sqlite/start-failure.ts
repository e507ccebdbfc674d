import { closeSync, openSync } from 'node:fs'
import { resolve } from 'node:path'
import querystring from 'node:querystring'
import { isNotifierError, NotifierError } from '../../../src/core/errors/notifier-error.ts'
import { codeOf, unavailable } from './errors.ts'

/** Transient reasons that do not concern the file. */
const TRANSIENT: ReadonlySet<string | undefined> = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'EINTR'])

/** Wraps an error of the start. Permanent errors are configuration faults. */
export function startFailure(file: string, error: unknown): NotifierError {
  if (isNotifierError(error) && error.code === 'invalid_configuration') return error
  const cause = isNotifierError(error) ? error.cause : error
  const code = codeOf(cause)
  const fault =
    code === 'ERROR' && cause instanceof Error
      ? `Carillon's tables cannot be created in "${pathOf(file)}": ${cause.message}. Use another file.`
      : permanentFault(file, isForbidden(cause) ? 'READONLY' : code)
  if (fault !== null) return wrongFile(fault, cause)
  return isNotifierError(error) ? error : unavailable(error)
}

/** The system refused to open a file for writing. */
function isForbidden(error: unknown): boolean {
  return ['EACCES', 'EPERM', 'EROFS'].includes(String(Object(error).code))
}

const URI = /^file:(?:\/\/(?:localhost)?(?=\/))?([^?#]*)/

function pathOf(file: string): string {
  const uri = URI.exec(file)
  return resolve(uri === null ? file : querystring.unescape(uri[1] ?? ''))
}

function permanentFault(file: string, code: ReturnType<typeof codeOf>): string | null {
  const path = pathOf(file)
  if (code === 'NOTADB')
    return `"${path}" is not a SQLite database. Use another file, or one that does not exist yet.`
  if (code === 'CORRUPT') return `"${path}" is damaged. Restore it from a backup, or use another file.`
  if (code === 'READONLY')
    return `"${path}" or its folder is read-only. This process must be able to write both.`
  if (code !== 'CANTOPEN') return null
  // SQLite does not report the reason; the system does.
  const reason = whyNotOpened(path, URI.test(file) ? 'r+' : 'a')
  if (reason === null || TRANSIENT.has(reason.code)) return null
  if (reason.code === 'EISDIR') return `"${path}" is a directory. Name a file in it.`
  return `"${path}" cannot be opened (${reason.code}). Its folder must exist, and this process must be able to write there.`
}

/** @param flags `r+` for a URI, which may forbid creating the file */
function whyNotOpened(path: string, flags: 'a' | 'r+'): NodeJS.ErrnoException | null {
  try {
    closeSync(openSync(path, flags))
    return null
  } catch (error) {
    return error as NodeJS.ErrnoException
  }
}

/** Wraps an error of opening itself. SQLite's code ERROR for it always concerns a URI; some drivers give no code. */
export function openingFailure(file: string, error: unknown): NotifierError {
  const code = codeOf(error)
  if (code === 'ERROR' && error instanceof Error)
    return wrongFile(
      `SQLite cannot open "${file}": ${error.message}. Correct the URI, or name a path.`,
      error,
    )
  const fault = permanentFault(file, code ?? 'CANTOPEN')
  return fault === null ? unavailable(error) : wrongFile(fault, error)
}

function wrongFile(fault: string, cause: unknown): NotifierError {
  return new NotifierError('invalid_configuration', {
    message: `sqlite: ${fault}`,
    details: { option: 'file' },
    cause,
  })
}
