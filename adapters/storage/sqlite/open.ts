import { NotifierError } from '../../../src/domain/errors/notifier-error.ts'
import type { DatabaseFiles } from './disk.ts'
import type { SqliteDatabase, SqliteDriver } from './driver.ts'
import { codeOf, unavailable } from './errors.ts'
import { openingFailure } from './start-failure.ts'

/** Longest wait for another process's transaction. It blocks this process meanwhile. */
const BUSY_TIMEOUT_MS = 5_000
const RETRY_MS = 20
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
export function openDatabase(file: string, Database: SqliteDriver): SqliteDatabase {
  let database: SqliteDatabase | undefined
  try {
    database = opened(Database, file)
    database.exec(
      `PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}; PRAGMA foreign_keys = ON; ${CACHE}; ${CHECKPOINT}; ${LOG_LIMIT}`,
    )
    const mode = writeAheadLog(database)
    if (mode !== (file === IN_MEMORY ? 'memory' : 'wal')) {
      throw new NotifierError('invalid_configuration', {
        message: `"${file}" cannot have a write-ahead log (its journal mode is "${mode}"). Use a file on a local disk.`,
        details: { option: 'file' },
      })
    }
    database.exec('PRAGMA synchronous = NORMAL')
    return database
  } catch (error) {
    database?.close()
    throw error instanceof NotifierError ? error : unavailable(error)
  }
}

function opened(Database: SqliteDriver, file: string): SqliteDatabase {
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

/** SQLite follows links and puts its log beside the target. */
export function filesOf(database: SqliteDatabase): DatabaseFiles {
  const file = String(pragma(database, 'database_list').file)
  return { database: file, log: `${file}-wal` }
}

/** If two processes switch a new file at once, SQLite reports it as locked without waiting. So this waits. */
function writeAheadLog(database: SqliteDatabase): unknown {
  for (let left = BUSY_TIMEOUT_MS; ; left -= RETRY_MS) {
    try {
      return pragma(database, 'journal_mode = WAL').journal_mode
    } catch (error) {
      if (codeOf(error) !== 'BUSY' || left <= 0) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS)
    }
  }
}

/** The first row. */
function pragma(database: SqliteDatabase, text: string): Readonly<Record<string, unknown>> {
  const [row] = database.prepare(`PRAGMA ${text}`).all()
  return row as Readonly<Record<string, unknown>>
}
