import type { DatabaseSync } from 'node:sqlite'
import { NotifierError } from '../../../src/domain/errors/notifier-error.ts'

/**
 * The runtime's own SQLite, asked for when it is needed: an import would break this module on older runtimes,
 * and bundlers that drop the `node:` prefix would look for a package of that name.
 *
 * @throws NotifierError `unsupported_runtime`
 */
export function loadSqlite(): typeof DatabaseSync {
  const sqlite = process.getBuiltinModule('node:sqlite') as { DatabaseSync: typeof DatabaseSync } | undefined
  if (sqlite !== undefined) return sqlite.DatabaseSync
  throw new NotifierError('unsupported_runtime', {
    message:
      `sqliteStorage() needs node:sqlite, which Node.js has from 22.13 on; this is ${process.version}. ` +
      'Use a newer Node.js, or another storage.',
  })
}
