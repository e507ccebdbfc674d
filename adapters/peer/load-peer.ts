import { NotifierError } from '../../src/domain/errors/notifier-error.ts'

/**
 * Loads an optional package on first use.
 *
 * @throws NotifierError `missing_peer` with the command that installs it.
 */
export async function loadPeer<Module>(name: string, load: () => Promise<Module>): Promise<Module> {
  try {
    return await load()
  } catch (cause) {
    if (!isMissing(cause, name)) throw cause
    throw new NotifierError('missing_peer', {
      message: `The package "${name}" is not installed. Run: npm install ${name}`,
      details: { package: name, command: `npm install ${name}` },
      cause,
    })
  }
}

/** True if the package itself is missing, not one of its dependencies. */
function isMissing(error: unknown, name: string): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    (error.code === 'ERR_MODULE_NOT_FOUND' || error.code === 'MODULE_NOT_FOUND') &&
    error.message.includes(`'${name}'`)
  )
}
