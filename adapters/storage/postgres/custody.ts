import type { CustodyRepository } from '../../../src/core/ports/storage/custody.ts'
import type { Connection } from './connection.ts'
import { erase, eraseCopies } from './erase.ts'
import { readReports, removeReports } from './reports.ts'

/** Takes a number: every transaction that has stored something by now has a lower one. */
const MARK = 'SELECT pg_current_xact_id()::text AS mark'

/** All with a lower number have ended. */
const PASSED = `
  SELECT $1::bigint <= pg_snapshot_xmin(pg_current_snapshot())::text::bigint
    -- Issued by another server: the data was restored from a dump.
    OR $1::bigint > pg_snapshot_xmax(pg_current_snapshot())::text::bigint AS passed`

export function createCustody(connection: Connection): CustodyRepository {
  return {
    erase: (request) => connection.transaction((tx) => erase(tx, request)),
    eraseCopies: (request) => connection.transaction((tx) => eraseCopies(tx, request)),
    reports: (request) => readReports(connection, request),
    removeReports: (organizationId, ids) =>
      connection.transaction((tx) => removeReports(tx, organizationId, ids)),
    async mark() {
      const [row] = await connection.rows<{ mark: string }>(MARK)
      return row?.mark ?? ''
    },
    async passed(mark) {
      const [row] = await connection.rows<{ passed: boolean }>(PASSED, [mark])
      return row?.passed === true
    },
  }
}
