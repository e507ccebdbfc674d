import { uploadKind } from '../../src/core/accept/upload.ts'
import { NotifierError } from '../../src/core/errors/notifier-error.ts'
import { NO_TRACKING } from '../../src/core/links/track-html.ts'
import type {
  FollowingWrite,
  RecordBudget,
  RecordInsert,
  RecordRef,
  RecordRemoval,
  RecordReplacement,
  Records,
  RecordWrite,
  StoredRecord,
  WriteAnswer,
} from '../../src/core/ports/storage/records.ts'
import type { RecordKind } from '../../src/core/records/record-kind.ts'
import {
  beginDeletion,
  DEFAULT_NAME,
  DEFAULT_ORGANIZATION,
  OPEN,
  type OrganizationValue,
  organizationKind,
  unknownOrganization,
} from '../../src/core/tenancy/organization.ts'
import { pageOf } from './page.ts'
import { type MemoryState, nextNumber, type RecordTable, type StoredRow } from './state.ts'

const MAX_LENGTH = 250

type Refusal = Exclude<WriteAnswer['kind'], 'written' | 'failed'>
type Result = StoredRecord | Refusal | null

export function memoryRecords(state: MemoryState): Records {
  return {
    async get(kind, refs) {
      return refs.map((ref) => {
        const row = rowOf(state, kind, ref)
        return row === undefined ? null : toRecord(state, kind, row)
      })
    },
    async write(sets) {
      return sets.map((set) => applySet(state, set))
    },
    async list(kind, { organizationId, list }, page) {
      const rows = [...tableOf(state, kind).values()].filter(
        (row) => row.organizationId === organizationId && (list === undefined || row.list === list),
      )
      return pageOf(rows, page, (row) => toRecord(state, kind, row))
    },
    async stored(organizationId) {
      return storedOf(state, organizationId)
    },
    async removeOld(kind, { organizationId, olderThanMs, most }) {
      const latest = state.now() - olderThanMs
      const old = [...tableOf(state, kind).values()]
        .filter((row) => row.organizationId === organizationId && row.createdAt <= latest)
        .slice(0, most)
      for (const { id } of old) tableOf(state, kind).delete(id)
      return old.length
    },
  }
}

/** Creates `org_default`, which always exists. */
export function createDefaultOrganization(state: MemoryState): void {
  const value: OrganizationValue = {
    name: DEFAULT_NAME,
    plan: null,
    smsCountries: null,
    senders: null,
    retentionDays: null,
    tracking: NO_TRACKING,
    deleting: null,
  }
  const kind = organizationKind
  apply(state, { kind, do: 'insert', id: DEFAULT_ORGANIZATION, organizationId: null, value, ifTaken: 'keep' })
}

export function organizationOf(state: MemoryState, id: string): OrganizationValue | undefined {
  const row = rowOf(state, organizationKind, { id })
  return row === undefined ? undefined : toRecord(state, organizationKind, row).value
}

export function markDeleting(state: MemoryState, id: string, force: boolean): void {
  const row = rowOf(state, organizationKind, { id })
  if (row === undefined) return
  const { value } = toRecord(state, organizationKind, row)
  row.revision += 1
  setValue(row, organizationKind, beginDeletion(value, force))
}

/** @throws NotifierError `not_found` if the organization does not exist or is being deleted */
export function requireOrganization(state: MemoryState, id: string): void {
  if (!isOpen(state, id)) throw unknownOrganization(id)
}

/** True: it exists and is not being deleted. */
export function isOpen(state: MemoryState, id: string): boolean {
  return rowOf(state, organizationKind, { id })?.list === OPEN
}

/** Removes an organization's records of a kind. */
export function removeRecords(state: MemoryState, kind: string, organizationId: string): void {
  const table = state.records.get(kind)
  for (const row of table?.values() ?? []) if (row.organizationId === organizationId) table?.delete(row.id)
}

function tableOf(state: MemoryState, { name }: RecordKind): RecordTable {
  const table = state.records.get(name) ?? new Map()
  state.records.set(name, table)
  return table
}

function rowOf(state: MemoryState, kind: RecordKind, { id, key }: RecordRef): StoredRow | undefined {
  const table = tableOf(state, kind)
  return id === undefined ? [...table.values()].find((row) => row.key === key) : table.get(id)
}

function toRecord<Value extends object>(
  state: MemoryState,
  kind: RecordKind<Value>,
  { id, organizationId, revision, createdAt, version, value: json }: StoredRow,
): StoredRecord<Value> {
  const stored = JSON.parse(json)
  const value = version < kind.version && kind.upgrade !== undefined ? kind.upgrade(stored, version) : stored
  return { id, organizationId, revision, createdAt, readAt: state.now(), value }
}

/** Applies a set completely or not at all. */
function applySet(state: MemoryState, writes: readonly RecordWrite[]): WriteAnswer {
  const before = new Map(
    [...state.records].map(([name, table]) => [
      name,
      new Map([...table].map(([id, row]) => [id, { ...row }])),
    ]),
  )
  function undo(): void {
    state.records.clear()
    for (const [name, table] of before) state.records.set(name, table)
  }
  const records: (StoredRecord | null)[] = []
  try {
    for (const [at, write] of writes.entries()) {
      const result = apply(state, write)
      if (typeof result === 'string') {
        undo()
        return { kind: result, at }
      }
      records.push(result)
    }
    return { kind: 'written', records }
  } catch (cause) {
    undo()
    return { kind: 'failed', error: dataError(cause) }
  }
}

/**
 * Writes what follows from facts or a consent.
 *
 * @throws RangeError for an id or key that does not fit; then it has written nothing
 */
export function followWrites(state: MemoryState, writes: readonly FollowingWrite[]): void {
  for (const write of writes) if (write.do === 'insert') newRow(state, write)
  for (const write of writes) apply(state, write)
}

/** The error of a set, a receipt or a settlement that cannot be stored. */
export function dataError(cause: unknown): NotifierError {
  return new NotifierError('internal_server_error', { message: 'The data could not be stored.', cause })
}

/** @returns the written record, null if there was none to remove, or the reason of the refusal */
function apply(state: MemoryState, write: RecordWrite): Result {
  if (write.do === 'insert') return insert(state, write)
  return write.do === 'replace' ? replace(state, write) : remove(state, write)
}

function insert(state: MemoryState, write: RecordInsert): Result {
  const { kind, id, organizationId, ifTaken, budget } = write
  if (organizationId !== null && !isOpen(state, organizationId)) return 'no_organization'
  const row = newRow(state, write)
  const taken =
    rowOf(state, kind, { id }) ?? (row.key === null ? undefined : rowOf(state, kind, { key: row.key }))
  if (taken !== undefined) return ifTaken === 'keep' ? toRecord(state, kind, taken) : 'taken'
  tableOf(state, kind).set(id, row)
  return isOver(state, budget) ? 'full' : toRecord(state, kind, row)
}

function storedOf(state: MemoryState, organizationId: string): number {
  const rows = [...state.records.values()].flatMap((table) => [...table.values()])
  return rows.reduce((sum, row) => (row.organizationId === organizationId ? sum + bytesOf(row) : sum), 0)
}

function bytesOf({ value }: StoredRow): number {
  return Buffer.byteLength(value) + 200
}

function isOver(state: MemoryState, budget: RecordBudget | undefined): boolean {
  return budget !== undefined && storedOf(state, budget.organizationId) > budget.bytes
}

function newRow(state: MemoryState, { kind, id, organizationId, value }: RecordInsert): StoredRow {
  const row: StoredRow = {
    number: nextNumber(state),
    id,
    organizationId,
    key: null,
    list: null,
    revision: 1,
    version: kind.version,
    createdAt: state.now(),
    value: '',
  }
  setValue(row, kind, value)
  return row
}

function replace(state: MemoryState, { kind, id, revision, value, budget }: RecordReplacement): Result {
  const row = rowOf(state, kind, { id })
  if (row === undefined) return 'unknown'
  if (row.revision !== revision) return 'stale'
  if (row.organizationId !== null && !isOpen(state, row.organizationId)) return 'no_organization'
  const key = kind.key?.(value, row.organizationId) ?? null
  const holder = key === null ? undefined : rowOf(state, kind, { key })
  if (holder !== undefined && holder !== row) return 'taken'
  row.revision += 1
  row.version = Math.max(row.version, kind.version)
  const before = bytesOf(row)
  setValue(row, kind, value)
  return bytesOf(row) > before && isOver(state, budget) ? 'full' : toRecord(state, kind, row)
}

function remove(state: MemoryState, { kind, id, only = {}, unlessNamed }: RecordRemoval): Result {
  const row = rowOf(state, kind, { id })
  if (row === undefined) return null
  const record = toRecord<Record<string, unknown>>(state, kind as RecordKind<Record<string, unknown>>, row)
  const hasAll = Object.entries(only).every(
    ([name, wanted]) => JSON.stringify(record.value[name]) === JSON.stringify(wanted),
  )
  if (!hasAll) return null
  if (unlessNamed && isNamed(state, id)) return 'named'
  tableOf(state, kind).delete(id)
  return record
}

function isNamed(state: MemoryState, upload: string): boolean {
  return [...state.notifications.values()].some(({ uploads }) => uploads?.includes(upload))
}

/** True: the upload exists and belongs to the organization. */
export function hasUpload(state: MemoryState, id: string, organizationId: string): boolean {
  return rowOf(state, uploadKind, { id })?.organizationId === organizationId
}

function setValue(row: StoredRow, kind: RecordKind, value: object): void {
  row.key = kind.key?.(value, row.organizationId) ?? null
  row.list = kind.list?.(value) ?? null
  row.value = JSON.stringify(value)
  for (const text of [row.id, row.key ?? row.id]) {
    if (text === '' || text.length > MAX_LENGTH)
      throw new RangeError('Ids and keys have 1 to 250 characters.')
  }
}
