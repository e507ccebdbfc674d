import type { Connection } from './connection.ts'

const INSERT = 'INSERT INTO carillon.kept (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING'

const SELECT = 'SELECT value FROM carillon.kept WHERE name = $1'

/** Reads a stored value. Null: none. */
export function createKeptValue(connection: Connection): (name: string) => Promise<string | null> {
  return async function keptValue(name) {
    const [found] = await connection.rows<{ value: string }>(SELECT, [name])
    return found?.value ?? null
  }
}

/** Inserts or reads. Values are immutable, so no transaction is needed. */
export function createPutIfAbsent(
  connection: Connection,
): (name: string, initial: string) => Promise<string> {
  return async function putIfAbsent(name, initial) {
    await connection.rows(INSERT, [name, initial])
    const [found] = await connection.rows<{ value: string }>(SELECT, [name])
    return found?.value ?? initial
  }
}
