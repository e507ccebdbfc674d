import { closeSync, openSync } from 'node:fs'
import { resolve } from 'node:path'
import querystring from 'node:querystring'
import { isNotifierError, NotifierError } from '../../../src/domain/errors/notifier-error.ts'
import { codeOf, unavailable } from './errors.ts'

/** Transient reasons that do not concern the file. */
const TRANSIENT: ReadonlySet<string | undefined> = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'EINTR'])

/** Wraps an error of the start. Permanent errors are configuration faults. */
export function startFailure(file: string, error: unknown): NotifierError {
  const cause = isNotifierError(error) ? error.cause : error
  const fault = permanentFault(file, codeOf(cause))
  if (fault !== null) return wrongFile(fault, cause)
  return isNotifierError(error) ? error : unavailable(error)
}

function permanentFault(file: string, code: ReturnType<typeof codeOf>): string | null {
  const uri = /^file:(?:\/\/(?:localhost)?(?=\/))?([^?#]*)/.exec(file)
  const path = resolve(uri === null ? file : querystring.unescape(uri[1] ?? ''))
  if (code === 'NOTADB')
    return `"${path}" is not a SQLite database. Use another file, or one that does not exist yet.`
  if (code === 'READONLY')
    return `"${path}" or its folder is read-only. This process must be able to write both.`
  if (code !== 'CANTOPEN') return null
  // SQLite does not report the reason; the system does.
  const reason = whyNotOpened(path, uri === null ? 'a' : 'r+')
  if (reason === null || TRANSIENT.has(reason.code)) return null
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
