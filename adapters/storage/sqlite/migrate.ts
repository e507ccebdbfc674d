import { NotifierError } from '../../../src/core/errors/notifier-error.ts'
import type { Connection } from './connection.ts'
import { migrations } from './migrations/index.ts'

/**
 * Migrates the schema in one transaction that takes the write lock first. Of several processes that start at once, one
 * migrates.
 */
export async function migrate(connection: Connection): Promise<void> {
  const newest = connection.statement<{ version: number }>(
    'SELECT coalesce(max(version), 0) AS version FROM carillon_schema_version',
  )
  const record = connection.statement(
    'INSERT INTO carillon_schema_version (version, applied_at) VALUES (?, ?)',
  )
  await connection.write(() => {
    connection.script(
      'CREATE TABLE IF NOT EXISTS carillon_schema_version (version INTEGER PRIMARY KEY, applied_at INTEGER NOT NULL) STRICT',
    )
    const version = newest().get()?.version ?? 0
    if (version > migrations.length) {
      throw new NotifierError('invalid_configuration', {
        message:
          `The database has schema version ${version}; this version of Carillon knows ${migrations.length}. ` +
          'Update Carillon, or use another file.',
        details: { found: version, known: migrations.length },
      })
    }
    for (const [index, sql] of migrations.entries()) {
      if (index < version) continue
      connection.script(sql)
      record().run(index + 1, connection.now())
    }
    // On a read-only database the transaction still begins, and only a writing statement fails.
    connection.script('DELETE FROM carillon_write_check')
  })
}
