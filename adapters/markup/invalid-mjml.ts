import { NotifierError } from '../../src/core/errors/notifier-error.ts'
import { MOST_NAMES } from '../../src/core/input/listed-names.ts'

/** A fault as MJML reports it. Its own sentence names a path of the machine. */
interface MjmlFault {
  readonly line?: number
  readonly tagName?: string
  readonly message: string
}

/** The error of a source that MJML refuses, with the lines of the first faults. */
export function invalidMjml(cause: unknown): NotifierError {
  const { errors } = (cause ?? {}) as { readonly errors?: readonly MjmlFault[] }
  const faults = Array.isArray(errors) ? (errors as readonly MjmlFault[]).slice(0, MOST_NAMES) : []
  const said = faults.map(
    ({ line, tagName, message }) => `line ${line ?? '?'} (${tagName ?? '?'}): ${message}`,
  )
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new NotifierError('invalid_template', {
    message: `MJML refuses the text: ${said.length > 0 ? said.join('; ') : reason.replace(/\.$/, '')}.`,
    details: { field: 'mjml' },
    cause,
  })
}
