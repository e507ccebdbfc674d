import type { DatabaseSync } from 'node:sqlite'
import { NotifierError } from '../../../src/domain/errors/notifier-error.ts'

/**
 * Loads the runtime's own SQLite on demand: an import would break this module on older runtimes, and bundlers that drop
 * the `node:` prefix would look for a package of that name.
 *
 * @throws NotifierError `unsupported_runtime`
 */
export function loadSqlite(): typeof DatabaseSync {
  const sqlite = process.getBuiltinModule('node:sqlite') as { DatabaseSync: typeof DatabaseSync } | undefined
  if (sqlite !== undefined) return sqlite.DatabaseSync
  throw new NotifierError('unsupported_runtime', {
    message:
      `sqlite() requires node:sqlite of Node.js 22.13 or later; this is ${process.version}. ` +
      'Use a newer Node.js, or another storage.',
  })
}

/**
 * Before Node.js 22.15 and 23.10, a URI would silently become a file name.
 *
 * @throws NotifierError `unsupported_runtime`
 */
export function assertReadsUris(version: string = process.versions.node): void {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major > 23 || (major === 23 && minor >= 10) || (major === 22 && minor >= 15)) return
  throw new NotifierError('unsupported_runtime', {
    message:
      `sqlite() accepts a URI on Node.js 22.15 or later; this is ${version}. ` +
      'Use a path for "file", or a newer Node.js.',
  })
}
