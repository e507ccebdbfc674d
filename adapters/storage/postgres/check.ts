import { randomBytes } from 'node:crypto'
import { NotifierError } from '../../../src/core/errors/notifier-error.ts'
import type { Connection } from './connection.ts'

/** A standby is read-only regardless of its settings. */
const SELECT_READ_ONLY = "SELECT current_setting('transaction_read_only') = 'on' AS read_only"

/** More than an accept needs: on a full disk, existing pages may still have room for a row. */
const ROOM_BYTES = 32_768

const FILL = `
  INSERT INTO carillon.kept (name, value) VALUES ('check', $1)
  ON CONFLICT (name) DO UPDATE SET value = excluded.value`

const EMPTY = "DELETE FROM carillon.kept WHERE name = 'check'"

/** Checks that the server accepts writes. After a refused write it tries a real one. */
export function createCheck(connection: Connection): () => Promise<void> {
  return async function check() {
    const [found] = await connection.rows<{ read_only: boolean }>(SELECT_READ_ONLY)
    if (found?.read_only === true) throw readOnly()
    if (!connection.refused) return
    // Random, so that compression does not shrink it.
    await connection.rows(FILL, [randomBytes((ROOM_BYTES * 3) / 4).toString('base64')])
    await connection.rows(EMPTY)
    connection.refused = false
  }
}

function readOnly(): NotifierError {
  return new NotifierError('service_unavailable', {
    message:
      'PostgreSQL is read-only: the server is a standby, or "default_transaction_read_only" is on. ' +
      'Nothing is accepted until the connections lead to a writable server.',
  })
}
