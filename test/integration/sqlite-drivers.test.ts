import { rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import BetterSqlite from 'better-sqlite3'
import LibSql from 'libsql'
import { describe, expect, onTestFinished, test } from 'vitest'
import { codeOf } from '../../adapters/storage/sqlite/errors.ts'
import { type SqliteDriver, sqlite } from '../../adapters/storage/sqlite/index.ts'
import { temporaryFile } from '../support/sqlite-harness.ts'

const DRIVERS: readonly (readonly [name: string, driver: SqliteDriver])[] = [
  ['node:sqlite', DatabaseSync],
  ['better-sqlite3', BetterSqlite],
  ['libsql', LibSql],
]

function newFile(): string {
  const { file, remove } = temporaryFile()
  onTestFinished(remove)
  return file
}

function thrown(work: () => unknown): unknown {
  try {
    return work()
  } catch (error) {
    return error
  }
}

describe.each(DRIVERS)('%s', (_, driver) => {
  test('a file that cannot be opened is a wrong option, with the reason', async () => {
    const wrong = { code: 'invalid_configuration', details: { option: 'file' } }
    const file = newFile()
    await expect(sqlite({ file: dirname(file), driver }).start()).rejects.toMatchObject({
      ...wrong,
      message: expect.stringContaining('is a directory'),
    })
    writeFileSync(file, 'no database at all'.repeat(100))
    await expect(sqlite({ file, driver }).start()).rejects.toMatchObject({
      ...wrong,
      message: expect.stringContaining('is not a SQLite database'),
    })
    rmSync(dirname(file), { recursive: true })
    await expect(sqlite({ file, driver }).start()).rejects.toMatchObject({
      ...wrong,
      message: expect.stringContaining('ENOENT'),
    })
  })

  test('errors have the codes of SQLite', () => {
    const file = newFile()
    const database = new driver(file)
    database.exec(
      'PRAGMA page_size = 512; CREATE TABLE t (a TEXT UNIQUE, b INTEGER) STRICT; PRAGMA max_page_count = 4',
    )
    const insert = (...values: string[]): unknown =>
      thrown(() => database.prepare('INSERT INTO t VALUES (?, ?)').run(...values))
    insert('a', '1')
    expect(codeOf(insert('a', '1'))).toBe('CONSTRAINT')
    expect(codeOf(insert('b', 'no number'))).toBe('CONSTRAINT')
    expect(codeOf(insert('c'.repeat(10_000), '1'))).toBe('FULL')
    expect(codeOf(thrown(() => database.prepare('SELECT')))).toBe('ERROR')

    const other = new driver(file)
    other.exec('PRAGMA busy_timeout = 0; BEGIN IMMEDIATE')
    database.exec('PRAGMA busy_timeout = 0')
    expect(codeOf(thrown(() => database.exec('BEGIN IMMEDIATE')))).toBe('BUSY')
    other.close()
    database.close()
  })
})

test('an error of something else has no code', () => {
  for (const error of [
    undefined,
    null,
    new Error('x'),
    { code: 'ENOENT' },
    { code: 'SQLITE' },
    { errcode: 'x' },
  ])
    expect(codeOf(error)).toBeNull()
  expect(codeOf({ code: 'SQLITE_IOERR_WRITE' })).toBe('IOERR')
  expect(codeOf({ errcode: 778 })).toBe('IOERR')
})

test('wrong drivers are told apart at creation', () => {
  const open = new BetterSqlite(':memory:')
  for (const driver of [open, 'better-sqlite3', () => open]) {
    expect(thrown(() => sqlite({ file: 'x', driver: driver as never }))).toMatchObject({
      code: 'invalid_configuration',
      details: { option: 'driver' },
    })
  }
  open.close()
  expect(thrown(() => sqlite({ file: 'file:x.db', driver: BetterSqlite }))).toMatchObject({
    code: 'invalid_configuration',
    details: { option: 'file' },
    message: expect.stringContaining('URI'),
  })
})
