import { NotifierError } from '../../../src/core/errors/notifier-error.ts'
import type {
  KeepingInsert,
  RecordInsert,
  RecordRemoval,
  RecordReplacement,
  RecordWrite,
  RefusedWrite,
  StoredRecord,
  WriteAnswer,
} from '../../../src/core/ports/storage/records.ts'
import type { RecordKind } from '../../../src/core/records/record-kind.ts'
import { organizationKind } from '../../../src/core/tenancy/organization.ts'
import {
  bytesOf,
  hasFields,
  type RecordColumns,
  type RecordRow,
  recordColumns,
  toRecord,
} from '../rows/record.ts'
import type { Connection, Transaction } from './connection.ts'
import { dataError, isDataError, isHeld, isTaken } from './errors.ts'
import { tableOf } from './record-tables.ts'
import { isOver, lockBudgets } from './stored.ts'
import type { Value } from './values.ts'

export const RECORD_COLUMNS = 'seq, id, organization, revision, version, created_at, value'

/** No deletion can begin before the transaction ends. */
const LOCK_OPEN = `
  SELECT 1 FROM ${tableOf(organizationKind)} WHERE id = $1 AND list = 'open' FOR KEY SHARE`

/** A taken id or key returns no row. */
const insertInto = (table: string): string => `
  INSERT INTO ${table} (created_at, id, organization, key, list, version, value, due_at, due_revision)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
  ON CONFLICT DO NOTHING RETURNING seq, revision, created_at`

/** Those whose id or key is taken return no row. */
const insertSome = (table: string): string => `
  INSERT INTO ${table} (created_at, id, organization, key, list, version, value, due_at, due_revision)
  SELECT $1::bigint, g.*, $9::integer
  FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::integer[], $7::text[], $8::bigint[]) AS g
  ON CONFLICT DO NOTHING RETURNING id, seq, revision, created_at`

/** Locked, so that a record that is being removed is not kept. */
const selectTaken = (table: string): string => `
  SELECT ${RECORD_COLUMNS} FROM ${table} WHERE id = $1 OR key = $2 ORDER BY id <> $1 LIMIT 1 FOR KEY SHARE`

const selectFrom = (table: string): string => `SELECT ${RECORD_COLUMNS}, token FROM ${table} WHERE id = $1`

/** Does not return the value, which may be large. Ends a claim. */
const update = (table: string): string => `
  UPDATE ${table} SET key = $3, list = $4, version = greatest(version, $5), value = $6, revision = revision + 1,
    due_at = $7, due_revision = $8 * (revision + 1), ready = false, token = NULL, claims = 0
  WHERE id = $1 AND revision = $2 AND ($9::bigint IS NULL OR token = $9) RETURNING seq, revision, version, created_at`

/** One that is locked is about to be named: an open transaction of a caller must not be waited for. */
const lockUnnamed = (table: string): string => `
  SELECT 1 FROM ${table} WHERE id = $1 FOR UPDATE SKIP LOCKED`

const IS_NAMED = 'SELECT 1 FROM carillon.named_uploads WHERE upload = $1 LIMIT 1'

const lockIn = (table: string): string => `
  SELECT 1 FROM ${table} WHERE id = ANY ($1::text[]) ORDER BY id FOR NO KEY UPDATE`

const deleteFrom = (table: string): string => `DELETE FROM ${table} WHERE id = $1`

/** If another change followed, the outcome of this one is reported as unknown. */
const proveStored = (table: string): string => `
  SELECT 1 FROM ${table} WHERE id = $1 AND revision = $2 AND value = $3`

const proveRemoved = (table: string): string => `
  SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM ${table} WHERE id = $1)`

type Refusal = RefusedWrite['kind']

/** What a write did. The proof is that of {@link Transaction.prove}; absent: nothing changed. */
interface Applied {
  readonly record: StoredRecord | null
  readonly proof?: readonly [statement: string, values: readonly Value[]]
}

/**
 * Longest wait for a record that another transaction writes. Commits take a moment, but a transaction of a caller may stay
 * open, and the other sets of the commit must not wait for it.
 */
const PATIENCE_MS = 500
/** The same for a set by itself. */
const LONG_PATIENCE_MS = 2_000

/** Writes sets of records in one transaction, or in one for each if another transaction holds a record of them. */
export async function writeSets(
  connection: Connection,
  sets: readonly (readonly RecordWrite[])[],
): Promise<WriteAnswer[]> {
  if (sets.length === 0) return []
  try {
    return await commitSets(connection, sets, sets.length === 1 ? LONG_PATIENCE_MS : PATIENCE_MS)
  } catch (error) {
    if (!isHeld(error)) throw error
    if (sets.length === 1) return [{ kind: 'failed', error: held(error) }]
  }
  const answers: WriteAnswer[] = []
  for (const set of sets) answers.push(...(await writeSets(connection, [set])))
  return answers
}

function held(cause: unknown): NotifierError {
  return new NotifierError('service_unavailable', {
    message:
      'A transaction of the application holds a record that this changes. Try again when it has ended.',
    cause,
  })
}

function commitSets(
  connection: Connection,
  sets: readonly (readonly RecordWrite[])[],
  patienceMs: number,
): Promise<WriteAnswer[]> {
  // New ids in a fixed order, so that two calls cannot deadlock.
  const ordered = sets
    .map((writes, place) => ({ writes, place }))
    .sort((a, b) => compare(a.writes[0], b.writes[0]))
  return connection.transaction(
    async (tx) => {
      await lockRecords(tx, sets.flat())
      const answers: WriteAnswer[] = []
      for (const { writes, place } of ordered) answers[place] = await writeSet(tx, writes)
      return answers
    },
    [`SET LOCAL lock_timeout = ${patienceMs}`],
  )
}

/** Takes the locks of all writes of a commit, in a fixed order, so that two commits cannot deadlock. */
export async function lockRecords(tx: Transaction, writes: readonly RecordWrite[]): Promise<void> {
  if (writes.length === 0) return
  await lockBudgets(tx, writes)
  await lockStored(tx, writes)
}

/** Locks the records that several writes may meet, in the order of ids: a set has its own order. */
async function lockStored(tx: Transaction, writes: readonly RecordWrite[]): Promise<void> {
  const meeting = writes.filter((write) => write.do !== 'insert' || write.ifTaken === 'keep')
  if (meeting.length < 2) return
  const tables = new Set(meeting.map(({ kind }) => tableOf(kind)))
  for (const table of [...tables].sort()) {
    const ids = meeting.filter(({ kind }) => tableOf(kind) === table).map(({ id }) => id)
    await tx.rows(lockIn(table), [ids])
  }
}

/** The order in which locks are taken: by kind and id. */
export function compare(a: RecordWrite | undefined, b: RecordWrite | undefined): number {
  const [first, second] = [orderKey(a), orderKey(b)]
  return first < second ? -1 : Number(first > second)
}

const orderKey = (write: RecordWrite | undefined): string => `${write?.kind.name} ${write?.id}`

/** Writes a set, or nothing of it. */
export async function writeSet(tx: Transaction, writes: readonly RecordWrite[]): Promise<WriteAnswer> {
  await tx.script('SAVEPOINT records')
  const answer = await applyAll(tx, writes)
  await tx.script(`${answer.kind === 'written' ? '' : 'ROLLBACK TO records; '}RELEASE records`)
  return answer
}

async function applyAll(tx: Transaction, writes: readonly RecordWrite[]): Promise<WriteAnswer> {
  const records: (StoredRecord | null)[] = []
  let proof: Applied['proof']
  for (let at = 0; at < writes.length; at = records.length) {
    try {
      const applied = await applyFrom(tx, writes, at)
      if (typeof applied === 'string') return { kind: applied, at }
      for (const each of applied) {
        records.push(each.record)
        proof = each.proof ?? proof
      }
    } catch (error) {
      if (isTaken(error)) return { kind: 'taken', at }
      if (isDataError(error)) return { kind: 'failed', error: dataError(error) }
      throw error
    }
  }
  if (proof !== undefined) tx.prove(...proof)
  return { kind: 'written', records }
}

/** Applies the next write, or the next few that keep what is stored: records may come with many such others. */
async function applyFrom(
  tx: Transaction,
  writes: readonly RecordWrite[],
  at: number,
): Promise<readonly Applied[] | Refusal> {
  const [first, ...others] = writes.slice(at)
  if (first === undefined) return []
  if (isKeeping(first) && others[0] !== undefined && isKeeping(others[0], first)) {
    const end = others.findIndex((other) => !isKeeping(other, first))
    return keepAll(tx, [first, ...(end === -1 ? others : others.slice(0, end))] as KeepingInsert[])
  }
  const applied = await apply(tx, first)
  return typeof applied === 'string' ? applied : [applied]
}

/** @param like another one that the same statement inserts */
function isKeeping(write: RecordWrite, like: RecordWrite = write): write is KeepingInsert {
  return (
    write.do === 'insert' &&
    write.ifTaken === 'keep' &&
    like.do === 'insert' &&
    write.kind.name === like.kind.name &&
    write.organizationId === like.organizationId &&
    write.budget?.bytes === like.budget?.bytes
  )
}

/** Inserts of one kind and organization, in one statement, and one more for each that is stored already. */
async function keepAll(
  tx: Transaction,
  inserts: readonly KeepingInsert[],
): Promise<readonly Applied[] | Refusal> {
  const [{ kind, organizationId, budget }] = inserts as readonly [KeepingInsert]
  const rows = inserts.map((each) => recordColumns(each.kind, each.id, organizationId, each.value))
  if (!(await isOpen(tx, organizationId))) return 'no_organization'
  const table = tableOf(kind)
  // In the order of ids, so that two calls cannot deadlock.
  const ordered = rows.toSorted((one, other) => (one.id < other.id ? -1 : 1))
  const column = <Name extends keyof RecordColumns>(name: Name) => ordered.map((row) => row[name])
  const stored = await tx.rows<Pick<RecordRow, 'id' | 'seq' | 'revision' | 'created_at'>>(insertSome(table), [
    tx.now,
    column('id'),
    column('organization'),
    column('key'),
    column('list'),
    column('version'),
    column('value'),
    column('due'),
    rows[0]?.timed ?? 0,
  ])
  if (stored.length > 0 && (await isOver(tx, budget))) return 'full'
  const byId = new Map(stored.map((row) => [row.id, row]))
  const applied: Applied[] = []
  for (const [at, write] of inserts.entries()) {
    const [row, columns] = [byId.get(write.id), rows[at]]
    byId.delete(write.id)
    if (row === undefined || columns === undefined) {
      const kept = await insert(tx, write)
      if (typeof kept === 'string') return kept
      applied.push(kept)
    } else applied.push(inserted(write, columns, row, tx.now))
  }
  return applied
}

function apply(tx: Transaction, write: RecordWrite): Promise<Applied | Refusal> {
  if (write.do === 'insert') return insert(tx, write)
  if (write.do === 'replace') return replace(tx, write)
  return write.unlessNamed ? removeUnnamed(tx, write) : remove(tx, write)
}

async function isOpen(tx: Transaction, organizationId: string | null): Promise<boolean> {
  return organizationId === null || (await tx.rows(LOCK_OPEN, [organizationId])).length > 0
}

async function insert(
  tx: Transaction,
  { kind, id, organizationId, value, ifTaken, budget }: RecordInsert,
): Promise<Applied | Refusal> {
  const columns = recordColumns(kind, id, organizationId, value)
  if (!(await isOpen(tx, organizationId))) return 'no_organization'
  const { organization, key, list, version, value: json, due, timed } = columns
  const table = tableOf(kind)
  for (;;) {
    const values = [tx.now, id, organization, key, list, version, json, due, timed]
    const [row] = await tx.rows<Pick<RecordRow, 'seq' | 'revision' | 'created_at'>>(insertInto(table), values)
    if (row !== undefined)
      return (await isOver(tx, budget)) ? 'full' : inserted({ kind }, columns, row, tx.now)
    if (ifTaken !== 'keep') return 'taken'
    const [kept] = await tx.rows<RecordRow>(selectTaken(table), [id, key])
    if (kept !== undefined) return { record: toRecord(kind, kept, tx.now) }
  }
}

function inserted(
  { kind }: Pick<RecordInsert, 'kind'>,
  columns: RecordColumns,
  row: Pick<RecordRow, 'seq' | 'revision' | 'created_at'>,
  now: number,
): Applied {
  const proof = [proveStored(tableOf(kind)), [columns.id, row.revision, columns.value]] as const
  return { record: toRecord(kind, { ...columns, ...row }, now), proof }
}

async function replace(
  tx: Transaction,
  { kind, id, revision, token, value, budget }: RecordReplacement,
): Promise<Applied | Refusal> {
  const [before] = await tx.rows<RecordRow>(selectFrom(tableOf(kind)), [id])
  if (before === undefined) return 'unknown'
  if (before.revision !== revision) return 'stale'
  if (!(await isOpen(tx, before.organization === '' ? null : before.organization))) return 'no_organization'
  const replaced = await replaceRow(tx, kind, before, value, token)
  if (replaced === null) return 'stale'
  const grows = bytesOf(JSON.stringify(value)) > bytesOf(before.value)
  return grows && (await isOver(tx, budget)) ? 'full' : replaced
}

/** Null: the record has changed since, or the claim has ended. */
export async function replaceRow<Value extends object>(
  tx: Transaction,
  kind: RecordKind<Value>,
  { id, organization, revision }: RecordRow,
  value: Value,
  token: number | null = null,
): Promise<Applied | null> {
  const columns = recordColumns(kind, id, organization === '' ? null : organization, value)
  const { key, list, version, value: json, due, timed } = columns
  const table = tableOf(kind)
  const values = [id, revision, key, list, version, json, due, timed, token]
  const [row] = await tx.rows<Omit<RecordRow, 'id' | 'organization' | 'value'>>(update(table), values)
  if (row === undefined) return null
  const record = toRecord(kind, { ...columns, ...row }, tx.now)
  return { record, proof: [proveStored(table), [id, row.revision, json]] }
}

async function removeUnnamed(tx: Transaction, write: RecordRemoval): Promise<Applied | Refusal> {
  const { kind, id } = write
  const locked = await tx.rows(lockUnnamed(tableOf(kind)), [id])
  // A separate statement: it sees what accepts stored until the lock.
  if (locked.length > 0) return (await tx.rows(IS_NAMED, [id])).length > 0 ? 'named' : remove(tx, write)
  return (await tx.rows(selectFrom(tableOf(kind)), [id])).length > 0 ? 'named' : { record: null }
}

export async function remove(
  tx: Transaction,
  { kind, id, only, token }: RecordRemoval,
): Promise<Applied | 'stale'> {
  const table = tableOf(kind)
  const [row] = await tx.rows<RecordRow & { token: number | null }>(`${selectFrom(table)} FOR UPDATE`, [id])
  if (token !== undefined && row?.token !== token) return 'stale'
  if (row === undefined) return { record: null }
  const record = toRecord(kind, row, tx.now)
  if (!hasFields(record.value, only)) return { record: null }
  await tx.rows(deleteFrom(table), [id])
  return { record, proof: [proveRemoved(table), [id]] }
}
