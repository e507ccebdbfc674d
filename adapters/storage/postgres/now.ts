import { type Connection, NOW } from './connection.ts'

const SELECT = `SELECT ${NOW} AS now`

/** The storage's time in epoch milliseconds. */
export async function nowOf(connection: Connection): Promise<number> {
  const [row] = await connection.rows<{ now: number }>(SELECT, [connection.time()])
  return row?.now ?? 0
}
