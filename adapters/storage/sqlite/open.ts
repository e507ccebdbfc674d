import { NotifierError } from '../../../src/core/errors/notifier-error.ts'
import type { DatabaseFiles } from './disk.ts'
import type { SqliteDatabase, SqliteDriver } from './driver.ts'
import { unavailable } from './errors.ts'
import { BLOCKING_MS, createLockWaits, unlocked } from './lock-waits.ts'
import { openingFailure } from './start-failure.ts'

/** 16 MiB: the commit of a batch of 10,000 fits and is not written twice. */
const CACHE = 'PRAGMA cache_size = -16384'
/**
 * Pages; 16 MiB of log. A checkpoint writes a frequently changed page once. It takes 10 ms instead of 7 ms with
 * SQLite's default of 1,000 pages, and there are four times fewer.
 */
const CHECKPOINT = 'PRAGMA wal_autocheckpoint = 4000'
/** 64 MiB: a log that grew beyond it behind a long read, such as a backup, is truncated. */
const LOG_LIMIT = 'PRAGMA journal_size_limit = 67108864'

/** The name by which SQLite keeps a database in memory. */
export const IN_MEMORY = ':memory:'

/** Opens the file for one writer and many readers, or a database in memory. */
export async function openDatabase(file: string, Database: SqliteDriver): Promise<SqliteDatabase> {
  let database: SqliteDatabase | undefined
  try {
    const open = opened(Database, file)
    database = open
    const mode = await createLockWaits().run(() => unlocked(() => setUp(open)))
    if (mode !== (file === IN_MEMORY ? 'memory' : 'wal')) {
      throw new NotifierError('invalid_configuration', {
        message: `"${file}" cannot have a write-ahead log (its journal mode is "${mode}"). Use a file on a local disk.`,
        details: { option: 'file' },
      })
    }
    return database
  } catch (error) {
    database?.close()
    throw error instanceof NotifierError ? error : unavailable(error)
  }
}

/** @throws NotifierError `invalid_configuration`, `service_unavailable` */
export function opened(Database: SqliteDriver, file: string): SqliteDatabase {
  let database: SqliteDatabase
  try {
    database = new Database(file)
  } catch (error) {
    throw openingFailure(file, error)
  }
  for (const method of ['exec', 'prepare', 'close'] as const) {
    if (typeof database[method] !== 'function') {
      throw new NotifierError('invalid_configuration', {
        message: `sqlite: "driver" opens a database that has no method "${method}". Use the class "Database" of better-sqlite3 or libsql, or omit the option.`,
        details: { option: 'driver' },
      })
    }
  }
  return database
}

/** SQLite follows links and puts its log next to the target. */
export function filesOf(database: SqliteDatabase): DatabaseFiles {
  const file = String(pragma(database, 'database_list').file)
  return { database: file, log: `${file}-wal` }
}

/** @returns the journal mode. If two processes switch a new file at once, SQLite reports it as locked at once */
function setUp(database: SqliteDatabase): unknown {
  database.exec(
    `PRAGMA busy_timeout = ${BLOCKING_MS}; PRAGMA foreign_keys = ON; ${CACHE}; ${CHECKPOINT}; ${LOG_LIMIT}`,
  )
  const mode = pragma(database, 'journal_mode = WAL').journal_mode
  database.exec('PRAGMA synchronous = NORMAL')
  return mode
}

/** The first row. */
function pragma(database: SqliteDatabase, text: string): Readonly<Record<string, unknown>> {
  const [row] = database.prepare(`PRAGMA ${text}`).all()
  return row as Readonly<Record<string, unknown>>
}
