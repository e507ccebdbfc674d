import type { AcceptReads } from '../../../src/core/ports/storage/accept.ts'
import type { Connection } from './connection.ts'
import { createFindIdempotent } from './idempotency.ts'
import { withValues } from './literals.ts'
import { createNotifications } from './notifications.ts'
import { createRecords } from './records.ts'
import { fromStored } from './text.ts'
import type { RunText } from './transaction-handles.ts'
import type { Value } from './values.ts'

/**
 * Lookups of an accept inside the caller's transaction. Each row is read as one JSON text, so that the application's
 * type parsers and column mappings have no effect.
 */
export function readsIn(connection: Connection, runText: RunText): AcceptReads {
  async function rows<Row>(statement: string, values: readonly Value[] = []): Promise<Row[]> {
    const asked = withValues(connection.textOf(statement), values)
    const found = await runText(`SELECT pg_catalog.row_to_json(r)::text AS row FROM (${asked}) AS r`)
    return (found as readonly { readonly row: string }[]).map(({ row }) => JSON.parse(row, asRead) as Row)
  }

  const inside: Connection = { ...connection, rows }
  return {
    findIdempotent: createFindIdempotent(inside),
    notifications: createNotifications(inside),
    records: createRecords(inside),
  }
}

function asRead(_: string, value: unknown): unknown {
  return typeof value === 'string' ? fromStored(value) : value
}
