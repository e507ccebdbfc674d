import { DatabaseSync } from 'node:sqlite'
import { vi } from 'vitest'
import { type SqliteOptions, sqlite } from '../../adapters/storage/sqlite/index.ts'
import type { Storage } from '../../src/core/ports/storage/storage.ts'

export interface OpenedStorage {
  readonly storage: Storage
  /** The storage's own connection, to make it fail. */
  readonly handle: DatabaseSync
  /** What it has prepared so far, and prepares. */
  readonly statements: ReadonlySet<string>
}

/** Starts a storage and gets hold of the connection that it hides. */
export async function openSqlite(options: SqliteOptions): Promise<OpenedStorage> {
  const statements = new Set<string>()
  const prepare = DatabaseSync.prototype.prepare
  const spy = vi.spyOn(DatabaseSync.prototype, 'prepare').mockImplementation(function prepared(
    this: DatabaseSync,
    sql: string,
  ) {
    statements.add(sql)
    return prepare.call(this, sql)
  })
  const storage = sqlite(options)
  await storage.start()
  const [handle] = spy.mock.contexts
  if (!(handle instanceof DatabaseSync)) throw new Error('the storage has prepared nothing')
  return { storage, handle, statements }
}
