import type { Connection } from './connection.ts'

const INSERT = 'INSERT INTO carillon_kept (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING'

const SELECT = 'SELECT value FROM carillon_kept WHERE name = ?'

/** Reads a stored value. Null: none. */
export function createKeptValue(connection: Connection): (name: string) => string | null {
  const select = connection.statement<{ value: string }>(SELECT)
  return (name) => select().get(name)?.value ?? null
}

/** Inserts or reads, in one transaction. */
export function createPutIfAbsent(
  connection: Connection,
): (name: string, initial: string) => Promise<string> {
  const insert = connection.statement(INSERT)
  const select = connection.statement<{ value: string }>(SELECT)
  return function putIfAbsent(name, initial) {
    return connection.durably(() => {
      insert().run(name, initial)
      return select().get(name)?.value ?? initial
    })
  }
}
