import { LONGEST_LEASE_MS } from '../../../src/core/delivery/lease.ts'
import type { DueRecord, DueRequest, Records } from '../../../src/core/ports/storage/records.ts'
import type { RecordKind } from '../../../src/core/records/record-kind.ts'
import { type LaneTurns, pickFairly } from '../pick-fairly.ts'
import { dueLeaseMs, dueOf, type RecordRow, toRecord } from '../rows/record.ts'
import type { Connection } from './connection.ts'
import { tableOf } from './record-tables.ts'
import type { Statement } from './statement.ts'
import { createTokens } from './tokens.ts'

/** Records that one call marks as due. */
const STEP = 1_000

/** Records that one call gives the due time of their kind: their values are read. */
const READ_STEP = 100

type DueRow = RecordRow & { readonly due_at: number; readonly claims: number }

type Prepared<Row = never> = () => Statement<Row>

interface Statements {
  readonly behind: Prepared<RecordRow>
  readonly time: Prepared
  readonly takeBack: Prepared
  readonly mark: Prepared
  readonly nextOrganization: Prepared<{ readonly organization: string }>
  readonly oldest: Prepared<DueRow>
  readonly lease: Prepared
  readonly neverDue: Prepared
  readonly anyReady: Prepared<{ readonly found: 1 }>
  readonly nextDue: Prepared<{ readonly at: number | null }>
}

/** @param isOpen false: the organization is being deleted */
export function createClaimDue(
  connection: Connection,
  isOpen: (organizationId: string) => boolean,
): Records['claimDue'] {
  const tokens = createTokens(connection)
  const prepared = new Map<string, Statements>()
  const turns = new Map<string, LaneTurns>()

  function statementsFor(table: string): Statements {
    const known = prepared.get(table) ?? statementsOf(connection, table)
    prepared.set(table, known)
    return known
  }

  /** Gives the due time to records that were written without one. */
  function catchUp(kind: RecordKind, { behind, time }: Statements): void {
    for (const row of behind().all(READ_STEP)) {
      const { value } = toRecord(kind, row, connection.now())
      time().run(dueOf(kind, value), row.seq)
    }
  }

  function claimKind(kind: RecordKind, request: DueRequest, now: number, token: number): DueRecord[] {
    const table = tableOf(kind)
    const statements = statementsFor(table)
    catchUp(kind, statements)
    statements.takeBack().run(now, now + LONGEST_LEASE_MS)
    statements.mark().run(now)

    function claimed(row: DueRow): DueRecord {
      const claims = row.claims + 1
      const leaseMs = dueLeaseMs(request.leaseMs, claims)
      statements.lease().run(token, claims, now + leaseMs, row.seq)
      return { kind, record: toRecord(kind, row, now), token, claims, leaseMs }
    }

    return pickFairly(
      { lane: table, free: request.most },
      {
        high: 0,
        normal: request.most,
        // With a hyphen before it: records of no organization have an empty name, and an empty one begins a round.
        nextOrganization(_high, after) {
          const found = statements.nextOrganization().get(after === '' ? '' : `${after.slice(1)}\u0001`)
          return found && `-${found.organization}`
        },
        take(_high, named, most) {
          const organization = named.slice(1)
          if (organization === '' || isOpen(organization))
            return statements.oldest().all(organization, most).map(claimed)
          statements.neverDue().run(organization)
          return []
        },
      },
      turns,
    )
  }

  function nextOf({ anyReady, behind, nextDue }: Statements): number {
    if (anyReady().get() !== undefined || behind().get(1) !== undefined) return 0
    return nextDue().get()?.at ?? Number.POSITIVE_INFINITY
  }

  return function claimDue(request) {
    return connection.write(() => {
      const now = connection.now()
      const token = tokens.last() + 1
      const due = request.kinds.flatMap((kind) => claimKind(kind, request, now, token))
      if (due.length > 0) tokens.use(token)
      const next = Math.min(...request.kinds.map((kind) => nextOf(statementsFor(tableOf(kind)))))
      return { due, nextDueInMs: Number.isFinite(next) ? Math.max(0, next - now) : null }
    })
  }
}

/** Each reads in the order of an index, and so only what it returns. */
function statementsOf({ statement }: Connection, table: string): Statements {
  const columns = 'seq, id, organization, revision, version, created_at, value'
  return {
    behind: statement(
      `SELECT ${columns} FROM ${table} WHERE due_revision <> revision ORDER BY seq LIMIT ? + 0`,
    ),
    time: statement(
      `UPDATE ${table} SET due_at = ?, ready = 0, token = NULL, claims = 0, due_revision = revision WHERE seq = ?`,
    ),
    takeBack: statement(`
      UPDATE ${table} SET due_at = ? WHERE seq IN (
        SELECT seq FROM ${table} WHERE token IS NOT NULL AND due_at > ? ORDER BY due_at DESC LIMIT ${STEP})`),
    mark: statement(`
      UPDATE ${table} SET ready = 1 WHERE seq IN (
        SELECT seq FROM ${table} WHERE due_at IS NOT NULL AND ready = 0 AND due_at <= ? ORDER BY due_at LIMIT ${STEP})`),
    nextOrganization: statement(
      `SELECT organization FROM ${table} WHERE ready = 1 AND organization >= ? ORDER BY organization LIMIT 1`,
    ),
    oldest: statement(`
      SELECT ${columns}, due_at, claims FROM ${table} WHERE ready = 1 AND organization = ? AND due_revision = revision
      ORDER BY due_at, seq LIMIT ? + 0`),
    lease: statement(`UPDATE ${table} SET ready = 0, token = ?, claims = ?, due_at = ? WHERE seq = ?`),
    neverDue: statement(`
      UPDATE ${table} SET ready = 0, due_at = NULL, token = NULL WHERE seq IN (
        SELECT seq FROM ${table} WHERE ready = 1 AND organization = ? LIMIT ${STEP})`),
    anyReady: statement(`SELECT 1 AS found FROM ${table} WHERE ready = 1 LIMIT 1`),
    nextDue: statement(`SELECT min(due_at) AS at FROM ${table} WHERE due_at IS NOT NULL AND ready = 0`),
  }
}
