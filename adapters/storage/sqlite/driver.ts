/** A value that a statement binds. */
export type SqliteValue = null | number | bigint | string | Uint8Array

/**
 * A prepared statement. Parameters are anonymous: `?`. The values are of {@link SqliteValue}; `unknown`, because
 * TypeScript 5 refuses the types of better-sqlite3 for anything narrower.
 */
export interface SqliteStatement {
  /** Returns all rows, with a property per column. */
  all(...values: unknown[]): unknown[]
  /** Runs a statement that writes. */
  run(...values: unknown[]): {
    readonly changes: number | bigint
    readonly lastInsertRowid: number | bigint
  }
}

/** An open database. Its methods are synchronous. */
export interface SqliteDatabase {
  /** Runs a script of several statements. */
  exec(sql: string): unknown
  prepare(sql: string): SqliteStatement
  close(): unknown
}

/**
 * The class with which a package opens a database: `Database` of `better-sqlite3`. Its SQLite is 3.43 or later. Its
 * errors carry SQLite's result code, as the number `errcode` or `rawCode`, or as a name in `code`, such as
 * `SQLITE_FULL`.
 */
export type SqliteDriver<Database extends SqliteDatabase = SqliteDatabase> = new (file: string) => Database
