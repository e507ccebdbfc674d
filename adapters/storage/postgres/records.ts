import type { RecordRef, Records, StoredRecord } from '../../../src/core/ports/storage/records.ts'
import type { RecordKind } from '../../../src/core/records/record-kind.ts'
import { defaultOrganization, type RecordRow, toRecord } from '../rows/record.ts'
import { bySeq, seqBounds, toPage } from '../to-page.ts'
import { type Connection, NOW } from './connection.ts'
import { createClaimDue } from './due-records.ts'
import { functionOf, tableOf } from './record-tables.ts'
import { storedOf } from './stored.ts'
import { RECORD_COLUMNS, writeSets } from './write-records.ts'

const find = (kind: RecordKind): string => `
  SELECT o_seq AS seq, o_id AS id, o_organization AS organization, o_key AS key, o_revision AS revision,
    o_version AS version, o_created_at AS created_at, o_value AS value, o_now AS now
  FROM ${functionOf(kind)}($1::bigint, $2::text[], $3::text[])`

const listOf = (kind: RecordKind, condition: string): string => `
  SELECT ${RECORD_COLUMNS}, ${NOW} AS now FROM ${tableOf(kind)}
  WHERE organization = $2 ${condition} AND seq < $3 ORDER BY seq DESC LIMIT $4 OFFSET $5`

/** There is no index by time: the first rows are the oldest. */
const removeOldOf = (table: string): string => `
  DELETE FROM ${table} WHERE seq IN (
    SELECT seq FROM ${table}
    WHERE seq = ANY (ARRAY(SELECT seq FROM ${table} WHERE organization = $2 ORDER BY seq LIMIT $4))
      AND created_at <= ${NOW} - $3::double precision
    ORDER BY seq FOR UPDATE SKIP LOCKED)
  RETURNING 1`

type TimedRow = RecordRow & { readonly now: number }
type FoundRow = TimedRow & { readonly key: string | null }

export function createRecords(connection: Connection): Records {
  async function get<Value extends object>(
    kind: RecordKind<Value>,
    refs: readonly RecordRef[],
  ): Promise<(StoredRecord<Value> | null)[]> {
    if (refs.length === 0) return []
    const ids = refs.flatMap(({ id }) => id ?? [])
    const keys = refs.flatMap(({ key }) => key ?? [])
    const rows = await connection.rows<FoundRow>(find(kind), [connection.time(), ids, keys])
    const byId = new Map(rows.map((row) => [row.id, row]))
    const byKey = new Map(rows.map((row) => [row.key, row]))
    return refs.map(({ id, key }) => {
      const row = id === undefined ? byKey.get(key) : byId.get(id)
      return row === undefined ? null : toRecord(kind, row, row.now)
    })
  }

  return {
    get,
    claimDue: createClaimDue(connection),
    write: (sets) => writeSets(connection, sets),
    async list(kind, { organizationId, list }, page) {
      const statement = listOf(kind, list === undefined ? '' : 'AND list = $6')
      const named = list === undefined ? [] : [list]
      const values = [connection.time(), organizationId ?? '', ...seqBounds(page), ...named]
      return toPage(await connection.rows<TimedRow>(statement, values), page, bySeq, (row) =>
        toRecord(kind, row, row.now),
      )
    },
    stored: (organizationId) => storedOf(connection, organizationId),
    async removeOld(kind, { organizationId, olderThanMs, most }) {
      const values = [connection.time(), organizationId ?? '', olderThanMs, most]
      return (await connection.rows(removeOldOf(tableOf(kind)), values)).length
    },
  }
}

/** Creates `org_default`, which always exists. */
export async function createDefaultOrganization(connection: Connection): Promise<void> {
  const { kind, id } = defaultOrganization
  const [found] = await connection.rows(`SELECT 1 FROM ${tableOf(kind)} WHERE id = $1`, [id])
  if (found === undefined) await writeSets(connection, [[defaultOrganization]])
}
