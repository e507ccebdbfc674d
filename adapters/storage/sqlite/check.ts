import type { Connection } from './connection.ts'

/** More than an accept needs: a full disk may still have room for a page. */
const ROOM = 'x'.repeat(32_768)

const FILL = 'INSERT INTO carillon_write_check (room) VALUES (?)'

const EMPTY = 'DELETE FROM carillon_write_check'

/** After a refused write, tries a real one. */
export function createCheck(connection: Connection): () => Promise<void> {
  const fill = connection.statement(FILL)
  const empty = connection.statement(EMPTY)
  return async function check() {
    connection.check()
    if (!connection.refused) return
    await connection.durably(() => fill().run(ROOM))
    // A commit of its own: rows deleted before the commit would not be written.
    await connection.durably(() => empty().run())
    connection.refused = false
  }
}
