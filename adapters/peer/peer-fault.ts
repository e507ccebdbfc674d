import { NotifierError } from '../../src/core/errors/notifier-error.ts'

/**
 * The error for a failed `import()` of an optional package: `missing_peer` with the command that installs it, otherwise
 * the failure as it is.
 *
 * The import, with its literal name and the comment `turbopackOptional`, is awaited in the `try` itself. Then bundlers
 * include an installed package, and do not fail for want of one.
 */
export function peerFault(name: string, cause: unknown): unknown {
  if (!isMissing(cause, name)) return cause
  return new NotifierError('missing_peer', {
    message: `The package "${name}" is not installed. Run: npm install ${name}`,
    details: { package: name, command: `npm install ${name}` },
    cause,
  })
}

/** True if the package itself is missing, not one of its dependencies. Bundlers name the file of the package instead. */
function isMissing(error: unknown, name: string): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    (error.code === 'ERR_MODULE_NOT_FOUND' || error.code === 'MODULE_NOT_FOUND') &&
    (error.message.includes(`'${name}'`) || error.message.includes(`'${name}/`))
  )
}
