import { setImmediate as nextTurn } from 'node:timers/promises'
import type {
  FollowingWrite,
  RecordBudget,
  RecordInsert,
  RecordRef,
  RecordRemoval,
  RecordReplacement,
  Records,
  RecordWrite,
  RefusedWrite,
  StoredRecord,
  WriteAnswer,
} from '../../../src/core/ports/storage/records.ts'
import type { RecordKind } from '../../../src/core/records/record-kind.ts'
import { organizationKind, unknownOrganization } from '../../../src/core/tenancy/organization.ts'
import type { PendingCalls } from '../pending-calls.ts'
import {
  bytesOf,
  defaultOrganization,
  hasFields,
  type RecordRow,
  recordColumns,
  toRecord,
} from '../rows/record.ts'
import { bySeq, seqBounds, toPage } from '../to-page.ts'
import type { Connection } from './connection.ts'
import { createClaimDue } from './due-records.ts'
import { dataError } from './errors.ts'
import {
  createRecordTables,
  createTable,
  type RecordStatements,
  type RecordTables,
  tableOf,
} from './record-tables.ts'

/** Look-ups per turn of the event loop, a few milliseconds. Larger sets continue in the next turn. */
const READ_IN_A_TURN = 1_000

const IS_OPEN = `SELECT 1 AS found FROM ${tableOf(organizationKind)} WHERE id = ? AND list = 'open'`

const SELECT_STORED = 'SELECT bytes FROM carillon_stored WHERE organization = ?'

const IS_NAMED = 'SELECT 1 AS found FROM carillon_named_uploads WHERE upload = ? LIMIT 1'

type Refusal = RefusedWrite['kind']
type Result = StoredRecord | Refusal | null

/** The records of all kinds. Everything besides {@link Records} runs inside a transaction. */
export interface SqliteRecords extends Records {
  readonly tables: RecordTables
  /** Creates the missing tables and `org_default`. */
  prepare(kinds: readonly RecordKind[]): Promise<void>
  find<Value extends object>(kind: RecordKind<Value>, id: string): StoredRecord<Value> | null
  /** @returns the written record, null if there was none to remove, or the reason of the refusal */
  apply(write: RecordWrite): Result
  /** A refused set may have written some: the caller undoes them. */
  applySet(writes: readonly RecordWrite[]): WriteAnswer
  follow(writes: readonly FollowingWrite[]): void
  /** @throws NotifierError `not_found` unless the organization exists and is not being deleted */
  requireOpen(organizationId: string): void
}

/** @param counted a stop waits for these calls, which continue in later turns */
export function createRecords(
  connection: Connection,
  { counted }: Pick<PendingCalls, 'counted'>,
): SqliteRecords {
  const tables = createRecordTables(connection)
  const isOpen = connection.statement<{ readonly found: 1 }>(IS_OPEN)
  const selectStored = connection.statement<{ readonly bytes: number }>(SELECT_STORED)
  const isNamed = connection.statement<{ readonly found: 1 }>(IS_NAMED)

  const of = (kind: RecordKind): RecordStatements => tables.statements(tableOf(kind))

  const mayStore = (organizationId: string | null): boolean =>
    organizationId === null || isOpen().get(organizationId) !== undefined

  function rowOf(kind: RecordKind, ref: RecordRef): RecordRow | undefined {
    return ref.id === undefined ? of(kind).byKey().get(ref.key) : of(kind).byId().get(ref.id)
  }

  function find<Value extends object>(kind: RecordKind<Value>, id: string): StoredRecord<Value> | null {
    const row = rowOf(kind, { id })
    return row === undefined ? null : toRecord(kind, row, connection.now())
  }

  const stored = (organizationId: string): number => selectStored().get(organizationId)?.bytes ?? 0

  const isOver = (budget: RecordBudget | undefined): boolean =>
    budget !== undefined && stored(budget.organizationId) > budget.bytes

  const outgrows = (before: RecordRow, json: string, budget: RecordBudget | undefined): boolean =>
    bytesOf(json) > bytesOf(before.value) && isOver(budget)

  function insert({ kind, id, organizationId, value, ifTaken, budget }: RecordInsert): Result {
    if (!mayStore(organizationId)) return 'no_organization'
    const columns = recordColumns(kind, id, organizationId, value)
    const { organization, key, list, version, value: json, due, timed } = columns
    const taken = rowOf(kind, { id }) ?? (key === null ? undefined : rowOf(kind, { key }))
    if (taken !== undefined) return ifTaken === 'keep' ? toRecord(kind, taken, connection.now()) : 'taken'
    of(kind).insert().run(id, organization, key, list, version, json, due, timed, connection.now())
    return isOver(budget) ? 'full' : find(kind, id)
  }

  /** A write under a claim that has ended. */
  const isStale = (kind: RecordKind, row: RecordRow, token: number | undefined): boolean =>
    token !== undefined && of(kind).tokenOf().get(row.seq)?.token !== token

  function replace(write: RecordReplacement): Result {
    const row = rowOf(write.kind, { id: write.id })
    if (row === undefined) return 'unknown'
    const isOther = row.revision !== write.revision || isStale(write.kind, row, write.token)
    return isOther ? 'stale' : replaceRow(row, write)
  }

  function replaceRow(row: RecordRow, { kind, id, value, budget }: RecordReplacement): Result {
    const organizationId = row.organization === '' ? null : row.organization
    if (!mayStore(organizationId)) return 'no_organization'
    const { key, list, version, value: json, due, timed } = recordColumns(kind, id, organizationId, value)
    const holder = key === null ? undefined : rowOf(kind, { key })
    if (holder !== undefined && holder.seq !== row.seq) return 'taken'
    of(kind).replace().run(key, list, version, json, due, timed, row.seq)
    return outgrows(row, json, budget) ? 'full' : find(kind, id)
  }

  function remove({ kind, id, only, token, unlessNamed }: RecordRemoval): Result {
    const row = rowOf(kind, { id })
    if (row === undefined) return token === undefined ? null : 'stale'
    if (isStale(kind, row, token)) return 'stale'
    const record = toRecord(kind, row, connection.now())
    if (!hasFields(record.value, only)) return null
    if (unlessNamed && isNamed().get(id) !== undefined) return 'named'
    of(kind).remove().run(row.seq)
    return record
  }

  function apply(write: RecordWrite): Result {
    if (write.do === 'insert') return insert(write)
    return write.do === 'replace' ? replace(write) : remove(write)
  }

  function applySet(writes: readonly RecordWrite[]): WriteAnswer {
    const records: (StoredRecord | null)[] = []
    for (const [at, write] of writes.entries()) {
      const result = apply(write)
      if (typeof result === 'string') return { kind: result, at }
      records.push(result)
    }
    return { kind: 'written', records }
  }

  function readSome<Value extends object>(
    kind: RecordKind<Value>,
    refs: readonly RecordRef[],
  ): Promise<(StoredRecord<Value> | null)[]> {
    return connection.read(() => {
      const statements = of(kind)
      const [byId, byKey] = [statements.byId(), statements.byKey()]
      const now = connection.now()
      return refs.map(({ id, key }) => {
        const row = id === undefined ? byKey.get(key) : byId.get(id)
        return row === undefined ? null : toRecord(kind, row, now)
      })
    })
  }

  async function readEachTurn<Value extends object>(
    kind: RecordKind<Value>,
    refs: readonly RecordRef[],
  ): Promise<(StoredRecord<Value> | null)[]> {
    const records = await readSome(kind, refs.slice(0, READ_IN_A_TURN))
    while (records.length < refs.length) {
      await nextTurn()
      records.push(...(await readSome(kind, refs.slice(records.length, records.length + READ_IN_A_TURN))))
    }
    return records
  }
  const readInTurns = counted(readEachTurn) as typeof readEachTurn

  /** Most suppression lists are empty and every send asks, so one look at the table answers the whole set. */
  function isEmpty(kind: RecordKind): Promise<boolean> {
    return connection.read(() => of(kind).any().get() === undefined)
  }

  const claimDue = createClaimDue(connection, mayStore)

  return {
    tables,
    find,
    apply,
    applySet,
    claimDue,
    prepare(kinds) {
      return connection.write(() => {
        for (const kind of kinds) createTable(connection, kind)
        insert(defaultOrganization)
      })
    },
    follow(writes) {
      for (const write of writes) apply(write)
    },
    requireOpen(organizationId) {
      if (!mayStore(organizationId)) throw unknownOrganization(organizationId)
    },
    async get(kind, refs) {
      if (refs.length > 1 && (await isEmpty(kind))) return refs.map(() => null)
      return refs.length <= READ_IN_A_TURN ? readSome(kind, refs) : readInTurns(kind, refs)
    },
    async write(sets) {
      connection.check()
      const isRefused = ({ kind }: WriteAnswer): boolean => kind !== 'written'
      return connection.writeSet(
        sets,
        (cause): WriteAnswer => ({ kind: 'failed', error: dataError(cause) }),
        () => (set) => connection.unless(isRefused, () => applySet(set)),
      )
    },
    async list(kind, { organizationId, list }, page) {
      const organization = organizationId ?? ''
      const { list: all, listNamed } = of(kind)
      return connection.read(() => {
        const now = connection.now()
        const bounds = seqBounds(page)
        const rows =
          list === undefined
            ? all().all(organization, ...bounds)
            : listNamed().all(organization, list, ...bounds)
        return toPage(rows, page, bySeq, (row) => toRecord(kind, row, now))
      })
    },
    async stored(organizationId) {
      return connection.read(() => stored(organizationId))
    },
    async removeOld(kind, { organizationId, olderThanMs, most }) {
      const latest = connection.now() - olderThanMs
      // After a power failure the next call removes them again.
      return connection.write(() =>
        of(kind)
          .removeOld()
          .changes(organizationId ?? '', latest, most),
      )
    },
  }
}
