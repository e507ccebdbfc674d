import { existsSync } from 'node:fs'
import querystring from 'node:querystring'
import type { StorageInspection } from '../../../src/core/ports/storage/inspection.ts'
import type { SqliteDatabase, SqliteDriver } from './driver.ts'
import { unavailable } from './errors.ts'
import { createLockWaits, unlocked } from './lock-waits.ts'
import { migrations } from './migrations/index.ts'
import { IN_MEMORY, opened } from './open.ts'

export async function inspect(
  file: string,
  started: boolean,
  driver: SqliteDriver,
  now: () => number,
): Promise<StorageInspection> {
  const needed = migrations.length
  const ofMemory = started ? needed : 0
  const version = file === IN_MEMORY ? ofMemory : await versionOf(file, driver)
  const steps = migrations.slice(version).map((sql, at) => ({ version: version + at + 1, sql }))
  return { version, needed, steps, now: now(), missingRights: [] }
}

/** A file that does not exist is not created. */
async function versionOf(file: string, driver: SqliteDriver): Promise<number> {
  if (!existsSync(pathOf(file))) return 0
  const database = opened(driver, file)
  try {
    return await createLockWaits().run(() => unlocked(() => storedVersion(database)))
  } catch (error) {
    throw unavailable(error)
  } finally {
    database.close()
  }
}

/** The path of a `file:` URI, which may be relative for SQLite. */
function pathOf(file: string): string {
  const [, path] = /^file:(?:\/\/(?:localhost)?(?=\/))?([^?#]*)/.exec(file) ?? []
  return path === undefined ? file : querystring.unescape(path)
}

function storedVersion(database: SqliteDatabase): number {
  const [table] = database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'carillon_schema_version'").all()
  if (table === undefined) return 0
  const [found] = database
    .prepare('SELECT coalesce(max(version), 0) AS version FROM carillon_schema_version')
    .all()
  return (found as { readonly version: number }).version
}
