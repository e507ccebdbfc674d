import { NotifierError } from 'carillon'
import * as kit from 'carillon/storage-kit'
import { pageOf, type RecordRow, type State, where } from './state.ts'

type Result = kit.StoredRecord | 'taken' | 'stale' | 'unknown' | 'no_organization' | 'named' | 'full' | null

export function createRecords(state: State): Omit<kit.Records, 'claimDue'> {
  const read = <Value extends object>(kind: kit.RecordKind<Value>, row: kit.RecordRow) =>
    kit.toRecord(kind, row, state.now())
  return {
    get: async (kind, refs) => {
      const rows = refs.map((ref) => find(state, kind, ref))
      return rows.map((row) => (row === undefined ? null : read(kind, row)))
    },
    write: async (sets) => each(sets, (set) => writeSet(state, set)),
    list: async (kind, { organizationId, list }, page) => {
      const rows = where(state.records, { kind: kind.name, organization: organizationId ?? '', list })
      return pageOf(rows, page, (row) => read(kind, row))
    },
    stored: async (organizationId) => storedOf(state, organizationId),
    removeOld: async (kind, { organizationId, olderThanMs, most }) => {
      const rows = where(state.records, { kind: kind.name, organization: organizationId ?? '' })
      const old = rows.filter(({ created_at }) => created_at <= state.now() - olderThanMs).slice(0, most)
      removeRecords(state, old)
      return old.length
    },
  }
}

export function removeRecords(state: State, rows: readonly RecordRow[]): void {
  state.records = state.records.filter((row) => !rows.includes(row))
}

/** @throws NotifierError `not_found` if the organization does not exist or is being deleted */
export function requireOpen(state: State, id: string): void {
  if (!isOpen(state, id)) throw kit.unknownOrganization(id)
}

export function isOpen(state: State, id: string | null): boolean {
  return id === null || find(state, kit.organizationKind, { id })?.list === kit.OPEN
}

export function find(state: State, kind: kit.RecordKind, ref: kit.RecordRef): RecordRow | undefined {
  return where(state.records, { kind: kind.name, id: ref.id, key: ref.key })[0]
}

/** Stores each item of a set; one that cannot be stored fails alone. */
export function each<Item, Answer>(items: readonly Item[], store: (item: Item) => Answer) {
  return items.map((item) => {
    try {
      return store(item)
    } catch (cause) {
      const known = cause instanceof NotifierError
      const error = known ? cause : new NotifierError('internal_server_error', { cause })
      return { kind: 'failed', error } as const
    }
  })
}

export function writeSet(state: State, writes: readonly kit.RecordWrite[]): kit.WriteAnswer {
  const before = state.records
  const records: (kit.StoredRecord | null)[] = []
  let isWhole = false
  try {
    for (const [at, write] of writes.entries()) {
      const result = apply(state, write)
      if (typeof result === 'string') return { kind: result, at }
      records.push(result)
    }
    isWhole = true
    return { kind: 'written', records }
  } finally {
    if (!isWhole) state.records = before
  }
}

/** Writes what follows from facts or a consent, without what is refused. @throws RangeError if it cannot be stored */
export function follow(state: State, writes: readonly kit.FollowingWrite[]): void {
  const inserts = writes.filter((write) => write.do === 'insert')
  for (const { kind, id, organizationId, value } of inserts)
    kit.recordColumns(kind, id, organizationId, value)
  for (const write of writes) apply(state, write)
}

/** Makes one write. Rows are replaced, never changed. */
export function apply(state: State, write: kit.RecordWrite): Result {
  const { kind, id } = write
  const row = find(state, kind, { id })
  if (write.do === 'insert') return insert(state, write, row)
  if (write.do === 'replace') return row === undefined ? 'unknown' : replace(state, write, row)
  if (write.token !== undefined && row?.token !== write.token) return 'stale'
  const record = row === undefined ? null : kit.toRecord(kind, row, state.now())
  if (row === undefined || record === null || !kit.hasFields(record.value, write.only)) return null
  const isNamed = [...state.notifications.values()].some(({ uploads }) => uploads?.includes(id))
  if (write.unlessNamed && isNamed) return 'named'
  removeRecords(state, [row])
  return record
}

function storedOf(state: State, organization: string): number {
  return where(state.records, { organization }).reduce((sum, { value }) => sum + kit.bytesOf(value), 0)
}

function isOver(state: State, budget: kit.RecordBudget | undefined): boolean {
  return budget !== undefined && storedOf(state, budget.organizationId) > budget.bytes
}

function insert(state: State, write: kit.RecordInsert, before: RecordRow | undefined): Result {
  const { kind, id, organizationId, value, ifTaken } = write
  const columns = kit.recordColumns(kind, id, organizationId, value)
  if (!isOpen(state, organizationId)) return 'no_organization'
  const old = before ?? (columns.key === null ? undefined : find(state, kind, { key: columns.key }))
  if (old !== undefined && ifTaken !== 'keep') return 'taken'
  const row = old ?? {
    ...columns,
    kind: kind.name,
    seq: state.next(),
    ...unclaimed(kind, 1),
    created_at: state.now(),
  }
  if (row !== old) state.records = [...state.records, row]
  if (row !== old && isOver(state, write.budget)) return 'full'
  return kit.toRecord(kind, row, state.now())
}

function replace(state: State, write: kit.RecordReplacement, row: RecordRow): Result {
  const { kind, id, revision, token, value, budget } = write
  const organizationId = row.organization === '' ? null : row.organization
  if (row.revision !== revision || (token !== undefined && row.token !== token)) return 'stale'
  if (!isOpen(state, organizationId)) return 'no_organization'
  const columns = kit.recordColumns(kind, id, organizationId, value)
  const holder = columns.key === null ? undefined : find(state, kind, { key: columns.key })
  if (holder !== undefined && holder !== row) return 'taken'
  const version = Math.max(row.version, kind.version)
  const after = { ...row, ...columns, version, ...unclaimed(kind, revision + 1) }
  state.records = state.records.with(state.records.indexOf(row), after)
  if (kit.bytesOf(after.value) > kit.bytesOf(row.value) && isOver(state, budget)) return 'full'
  return kit.toRecord(kind, after, state.now())
}

function unclaimed(kind: kit.RecordKind, revision: number) {
  return { revision, due_revision: kind.due === undefined ? 0 : revision, token: null, claims: 0 }
}
