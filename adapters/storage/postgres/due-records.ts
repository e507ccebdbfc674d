import type { DueRecord, DueRequest, Records } from '../../../src/core/ports/storage/records.ts'
import type { RecordKind } from '../../../src/core/records/record-kind.ts'
import { dueOf, type RecordRow, toRecord } from '../rows/record.ts'
import type { Connection } from './connection.ts'
import { claimFunctionOf, tableOf } from './record-tables.ts'
import { RECORD_COLUMNS } from './write-records.ts'

/** Records without the due time of their kind that get it in one step. */
const STEP = 100

const selectBehind = (table: string): string => `
  SELECT ${RECORD_COLUMNS} FROM ${table} WHERE due_revision <> revision
  ORDER BY seq LIMIT ${STEP} FOR UPDATE SKIP LOCKED`

const setDue = (table: string): string => `
  UPDATE ${table} AS r SET due_at = g.due, due_revision = revision, ready = false, token = NULL, claims = 0
  FROM unnest($1::bigint[], $2::bigint[]) AS g (seq, due) WHERE r.seq = g.seq`

const claimOf = (kind: RecordKind, place: number): string => `
  SELECT ${place} AS place, o_seq AS seq, o_id AS id, o_organization AS organization, o_revision AS revision,
    o_version AS version, o_created_at AS created_at, o_value AS value, o_token AS token, o_claims AS claims,
    o_due_at AS due_at, o_now AS now, o_next AS next, o_behind AS behind
  FROM ${claimFunctionOf(kind)}($1::bigint, $2::bigint, $3::integer, ($4::text[])[${place + 1}], $5::boolean)`

type ClaimedRow = Omit<RecordRow, 'id'> & {
  readonly place: number
  /** Null: the summary of a kind. */
  readonly id: string | null
  readonly token: number
  readonly claims: number
  readonly due_at: number
  readonly now: number
  readonly next: number | null
  readonly behind: boolean
}

/** The turns of organizations live in this process; processes that share a database each have their own. */
export function createClaimDue(connection: Connection): Records['claimDue'] {
  /** Where the next claim of a kind begins. */
  const turns = new Map<string, string>()

  async function ask(
    kinds: readonly RecordKind[],
    { most, leaseMs }: DueRequest,
    behind: boolean,
  ): Promise<readonly ClaimedRow[]> {
    if (kinds.length === 0) return []
    const from = kinds.map(({ name }) => turns.get(name) ?? '')
    const values = [connection.time(), Math.ceil(leaseMs), most, from, behind]
    return connection.rows<ClaimedRow>(kinds.map(claimOf).join('UNION ALL'), values)
  }

  /** Gives the due time to records that were written without one. */
  async function catchUp(kind: RecordKind): Promise<void> {
    const table = tableOf(kind)
    await connection.transaction(async (tx) => {
      const rows = await tx.rows<RecordRow>(selectBehind(table), [])
      const due = rows.map((row) => dueOf(kind, toRecord(kind, row, tx.now).value))
      await tx.rows(setDue(table), [rows.map(({ seq }) => seq), due])
    })
  }

  function claimed(kind: RecordKind, row: ClaimedRow, id: string): DueRecord {
    turns.set(kind.name, `${row.organization}\u0001`)
    const { token, claims, now } = row
    return { kind, record: toRecord(kind, { ...row, id }, now), token, claims, leaseMs: row.due_at - now }
  }

  return async function claimDue(request) {
    const due: DueRecord[] = []
    let nextDueInMs: number | null = null
    const take = (kinds: readonly RecordKind[], rows: readonly ClaimedRow[]): void => {
      for (const row of rows) {
        const kind = kinds[row.place] as RecordKind
        if (row.id !== null) due.push(claimed(kind, row, row.id))
        else if (row.next !== null) {
          nextDueInMs = Math.min(nextDueInMs ?? Number.POSITIVE_INFINITY, Math.max(0, row.next - row.now))
        }
      }
    }
    const rows = await ask(request.kinds, request, true)
    take(request.kinds, rows)
    const behind = rows.flatMap((row) => (row.behind ? [request.kinds[row.place] as RecordKind] : []))
    for (const kind of behind) await catchUp(kind)
    take(behind, await ask(behind, request, false))
    return { due, nextDueInMs }
  }
}
