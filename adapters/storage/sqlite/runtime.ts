import type { DatabaseSync } from 'node:sqlite'
import { NotifierError } from '../../../src/core/errors/notifier-error.ts'

/**
 * Loads the runtime's own SQLite on demand: an import would load it for users of other storages and fail on runtimes
 * without it, and bundlers that drop the `node:` prefix would look for a package of that name.
 *
 * @throws NotifierError `invalid_configuration`: the runtime has none
 */
export function loadSqlite(): typeof DatabaseSync {
  const sqlite = withoutItsWarning(() => process.getBuiltinModule?.('node:sqlite')) as
    | { readonly DatabaseSync: typeof DatabaseSync }
    | undefined
  if (sqlite !== undefined) return sqlite.DatabaseSync
  throw new NotifierError('invalid_configuration', {
    message:
      'sqlite: this runtime has no "node:sqlite". Use Node.js 22.13 or later without --no-experimental-sqlite, ' +
      'or sqlite({ file, driver: Database }) with Database of better-sqlite3 or, in Bun, of bun:sqlite.',
    details: { option: 'driver' },
  })
}

/**
 * Node.js before 24.15 warns once, while it loads the module, that the module is experimental. Drops this one warning.
 * Loading is synchronous, so no other code runs before the function is back in place.
 */
function withoutItsWarning<Loaded>(load: () => Loaded): Loaded {
  const { emitWarning } = process
  process.emitWarning = (warning: string | Error, ...rest: unknown[]) => {
    const itsOwn =
      rest[0] === 'ExperimentalWarning' && String(warning).startsWith('SQLite is an experimental')
    if (!itsOwn) Reflect.apply(emitWarning, process, [warning, ...rest])
  }
  try {
    return load()
  } finally {
    process.emitWarning = emitWarning
  }
}

/**
 * Before Node.js 22.15 and 23.10, a URI would silently become a file name.
 *
 * @throws NotifierError `invalid_configuration`
 */
export function assertReadsUris(version: string = process.versions.node): void {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major > 23 || (major === 23 && minor >= 10) || (major === 22 && minor >= 15)) return
  throw new NotifierError('invalid_configuration', {
    message:
      `sqlite: "file" can be a URI on Node.js 22.15 or later; this is ${version}. ` +
      'Use a path, or a newer Node.js.',
    details: { option: 'file' },
  })
}
