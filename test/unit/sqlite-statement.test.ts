import { DatabaseSync, StatementSync } from 'node:sqlite'
import { afterEach, describe, expect, it } from 'vitest'
import { prepareStatement } from '../../adapters/storage/sqlite/statement.ts'

const { setReturnArrays } = StatementSync.prototype

describe.each(['of this runtime', 'of Node.js before 22.16'])('a statement of SQLite, %s', (runtime) => {
  function open(): DatabaseSync {
    const old = runtime !== 'of this runtime'
    Object.assign(StatementSync.prototype, { setReturnArrays: old ? undefined : setReturnArrays })
    const database = new DatabaseSync(':memory:')
    database.exec('CREATE TABLE mails (id INTEGER PRIMARY KEY, "to" TEXT, opened INTEGER)')
    return database
  }
  afterEach(() => Object.assign(StatementSync.prototype, { setReturnArrays }))

  it('answers rows by the names of their columns', () => {
    const database = open()
    const insert = prepareStatement(database, 'INSERT INTO mails ("to", opened) VALUES (?, ?)')
    expect(insert.insert('a@example.com', 1)).toBe(1)
    expect(insert.insert('b@example.com', null)).toBe(2)
    const all = prepareStatement<object>(database, 'SELECT "to", opened AS times, id FROM mails ORDER BY id')
    expect(all.all().map((row) => ({ ...row }))).toEqual([
      { to: 'a@example.com', times: 1, id: 1 },
      { to: 'b@example.com', times: null, id: 2 },
    ])
    const one = prepareStatement<object>(database, 'SELECT * FROM mails WHERE id = ?')
    expect({ ...one.get(2) }).toEqual({ id: 2, to: 'b@example.com', opened: null })
    expect(one.get(3)).toBeUndefined()
    expect(one.all(3)).toEqual([])
  })

  it('keeps the columns that it was prepared for when another process adds one', () => {
    const database = open()
    prepareStatement(database, 'INSERT INTO mails ("to") VALUES (\'a@example.com\')').run()
    const one = prepareStatement<{ id: number; to: string }>(database, 'SELECT * FROM mails')
    expect(one.get()).toMatchObject({ id: 1, to: 'a@example.com' })
    database.exec('ALTER TABLE mails ADD COLUMN clicked INTEGER')
    expect(one.get()).toMatchObject({ id: 1, to: 'a@example.com', opened: null })
  })

  it('runs to its end, says how many rows it changed, and throws what SQLite says', () => {
    const database = open()
    const insert = prepareStatement(database, 'INSERT INTO mails (id, "to") VALUES (?, ?)')
    expect(insert.run(7, 'a@example.com')).toBeUndefined()
    insert.run(8, 'b@example.com')
    expect(() => insert.run(7, 'c@example.com')).toThrow('UNIQUE constraint failed')
    const update = prepareStatement(database, 'UPDATE mails SET opened = 1 WHERE id >= ?')
    expect(update.changes(1)).toBe(2)
    expect(update.changes(9)).toBe(0)
    expect(database.prepare('SELECT count(*) AS opened FROM mails WHERE opened = 1').get()).toMatchObject({
      opened: 2,
    })
  })
})
