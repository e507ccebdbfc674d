import type { Connection } from './connection.ts'

/** As much as an accept needs, and more: a full disk may have room for a page. */
const ROOM = 'x'.repeat(32_768)

const FILL =
  "INSERT INTO carillon_kept (name, value) VALUES ('check', ?) ON CONFLICT DO UPDATE SET value = excluded.value"

const EMPTY = "DELETE FROM carillon_kept WHERE name = 'check'"

/** Tries whether a disk that has refused a write takes one again. */
export function createCheck(connection: Connection): () => Promise<void> {
  const fill = connection.statement(FILL)
  const empty = connection.statement(EMPTY)
  return async function check() {
    connection.check()
    if (!connection.refused) return
    await connection.durably(() => fill().run(ROOM))
    // Of its own: what is gone before the commit is not written.
    await connection.durably(() => empty().run())
    connection.refused = false
  }
}
