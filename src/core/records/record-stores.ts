import { NotifierError } from '../errors/notifier-error.ts'
import { coalesce } from '../loop/coalesce.ts'
import type { Page, PageRequest } from '../ports/storage/page.ts'
import type {
  KeepingInsert,
  RecordInsert,
  RecordRef,
  RecordReplacement,
  Records,
  RecordWrite,
  StoredRecord,
  WriteAnswer,
} from '../ports/storage/records.ts'
import { unknownOrganization } from '../tenancy/organization.ts'
import type { RecordKind } from './record-kind.ts'

/** Records to read: the storage's, or those inside a transaction. */
export type RecordReads = Pick<Records, 'get'>

export interface NewRecord<Value> {
  readonly id: string
  /** Null: it belongs to no organization. */
  readonly organizationId: string | null
  readonly value: Value
}

/** The records of one kind. */
export interface RecordStore<Value extends object> {
  readonly kind: RecordKind<Value>
  /** Null: none. @param from default: the storage */
  find(ref: RecordRef, from?: RecordReads): Promise<StoredRecord<Value> | null>
  /** In order, in one query. */
  findAll(refs: readonly RecordRef[], from?: RecordReads): Promise<(StoredRecord<Value> | null)[]>
  list(
    of: { readonly organizationId: string | null; readonly list?: string | undefined },
    page: PageRequest,
  ): Promise<Page<StoredRecord<Value>>>
  /**
   * Stores a record, and others in the same commit. `taken`: another record has its id or key.
   *
   * @throws NotifierError `not_found` if the organization does not exist
   */
  insert(record: NewRecord<Value>, also?: readonly RecordWrite[]): Promise<StoredRecord<Value> | 'taken'>
  /** Stores a record unless its id or key is taken. Returns the stored one. */
  keep(record: NewRecord<Value>): Promise<StoredRecord<Value>>
  /** Replaces the value of a record as it was read. `changed`: it has been changed or removed since. */
  replace(before: StoredRecord<Value>, value: Value): Promise<StoredRecord<Value> | 'taken' | 'changed'>
  /**
   * Replaces a value, and writes others in the same commit. Repeats if the record is changed concurrently.
   *
   * @param decide returns the new value; or the same one, and then nothing is written unless there are others; or a refusal,
   *   which is the answer
   * @returns `unknown`: no record has the id; `taken`: another record has its new key
   */
  change<Refusal extends string = never>(
    id: string,
    decide: (record: StoredRecord<Value>) => Value | Refusal | Promise<Value | Refusal>,
    also?: (value: Value, before: StoredRecord<Value>) => readonly RecordWrite[],
  ): Promise<StoredRecord<Value> | Refusal | 'unknown' | 'taken'>
  /** Removes a record, and writes others in the same commit. False: there was none, and nothing is written. */
  remove(id: string, also?: (before: StoredRecord<Value>) => readonly RecordWrite[]): Promise<boolean>
}

/** Gives each kind its store. Concurrent writes share a commit. */
export interface RecordStores {
  /** The kinds so far, for the storage's start. */
  readonly kinds: readonly RecordKind[]
  /** Inserts, and replacements by longer values, throw `storage_quota_exceeded` beyond the budget of the organization. */
  of<Value extends object>(kind: RecordKind<Value>): RecordStore<Value>
  /** The same without the budget: for what must always be stored, such as an opt-out. It still counts. */
  always<Value extends object>(kind: RecordKind<Value>): RecordStore<Value>
}

/** The bytes that an organization may store. Null: no limit. */
export type BudgetOf = (organizationId: string) => number | null | Promise<number | null>

/** @param fallsDue called with the time at which a written record falls due, in epoch milliseconds */
export function createRecordStores(
  records: Records,
  budgetOf: BudgetOf,
  fallsDue: (at: number) => void = () => {},
): RecordStores {
  const kinds = new Set<RecordKind>()
  const commit = coalesce((sets: readonly (readonly RecordWrite[])[]) => records.write(sets))

  async function write(set: readonly RecordWrite[], organizationId: string | null): Promise<Written> {
    const answer = await commit(set)
    if (answer.kind === 'failed') throw answer.error
    if (answer.kind === 'no_organization') throw unknownOrganization(organizationId ?? '')
    if (answer.kind === 'full') throw await quotaExceeded(organizationId ?? '')
    for (const at of dueTimesOf(set)) fallsDue(at)
    return answer
  }

  async function quotaExceeded(organizationId: string): Promise<NotifierError> {
    const [used, limit] = await Promise.all([records.stored(organizationId), budgetOf(organizationId)])
    return storageQuotaExceeded(used, limit ?? used)
  }

  const within: Write = async (set, organizationId) => {
    const bytes = organizationId === null ? null : await budgetOf(organizationId)
    if (organizationId === null || bytes === null) return write(set, organizationId)
    const budget = { organizationId, bytes }
    return write(
      set.map((one) => (counts(one) && !('budget' in one) ? { ...one, budget } : one)),
      organizationId,
    )
  }

  return {
    get kinds() {
      return [...kinds]
    },
    of(kind) {
      kinds.add(kind)
      return createStore(kind, records, within)
    },
    always(kind) {
      kinds.add(kind)
      return createStore(kind, records, write)
    },
  }
}

/**
 * Whether a write may use up a budget. Those of a set belong to one organization, or to none. One that says so itself
 * (`budget: undefined`) uses up none.
 */
function counts(one: RecordWrite): one is RecordInsert | RecordReplacement {
  return one.do === 'replace' || (one.do === 'insert' && one.organizationId !== null)
}

/** When the records that a set writes fall due, in epoch milliseconds. */
export function dueTimesOf(set: readonly RecordWrite[]): number[] {
  return set.flatMap((one) => (one.do === 'remove' ? [] : (one.kind.due?.(one.value) ?? [])))
}

function storageQuotaExceeded(used: number, limit: number): NotifierError {
  return new NotifierError('storage_quota_exceeded', {
    message:
      `With this the organization would store more than the ${limit} bytes of its plan; it stores ${used}. Delete drafts, ` +
      'uploads, keys or categories that are not needed, or upgrade the plan. Templates, layouts, partials and messages give ' +
      'little back: their versions stay. An upload stays as long as a stored mail names it.',
    details: { resource: 'stored_bytes', limit, used },
  })
}

type Written = Exclude<WriteAnswer, { kind: 'failed' | 'no_organization' | 'full' }>

type Write = (set: readonly RecordWrite[], organizationId: string | null) => Promise<Written>

function createStore<Value extends object>(
  kind: RecordKind<Value>,
  records: Records,
  write: Write,
): RecordStore<Value> {
  async function find(ref: RecordRef, from: RecordReads = records): Promise<StoredRecord<Value> | null> {
    const [record = null] = await from.get(kind, [ref])
    return record
  }

  async function replace(
    before: StoredRecord<Value>,
    value: Value,
    also: readonly RecordWrite[] = [],
  ): Promise<StoredRecord<Value> | 'taken' | 'changed'> {
    const { id, revision, organizationId } = before
    const answer = await write([{ kind, do: 'replace', id, revision, value }, ...also], organizationId)
    if (answer.kind === 'written') return first<Value>(answer)
    if (answer.at > 0) throw unexpected(kind, answer)
    return answer.kind === 'taken' ? 'taken' : 'changed'
  }

  return {
    kind,
    find,
    replace,
    findAll: (refs, from = records) => from.get(kind, refs),
    list: (of, page) => records.list(kind, of, page),
    async insert(record, also = []) {
      const insert: RecordInsert<Value> = { kind, do: 'insert', ...record }
      const answer = await write([insert, ...also], record.organizationId)
      if (answer.kind === 'written') return first<Value>(answer)
      if (answer.kind === 'taken' && answer.at === 0) return 'taken'
      throw unexpected(kind, answer)
    },
    async keep(record) {
      const insert: KeepingInsert<Value> = { kind, do: 'insert', ...record, ifTaken: 'keep' }
      const answer = await write([insert], record.organizationId)
      if (answer.kind === 'written') return first<Value>(answer)
      throw unexpected(kind, answer)
    },
    async change(id, decide, also = () => []) {
      for (;;) {
        const before = await find({ id })
        if (before === null) return 'unknown'
        const value = await decide(before)
        if (typeof value === 'string') return value
        const others = also(value, before)
        if (value === before.value && others.length === 0) return before
        const changed = await replace(before, value, others)
        if (changed !== 'changed') return changed
      }
    },
    async remove(id, also) {
      const removal = { kind, do: 'remove', id } as const
      if (also === undefined) {
        const answer = await write([removal], null)
        return answer.kind === 'written' && answer.records[0] !== null
      }
      for (;;) {
        const before = await find({ id })
        if (before === null) return false
        const { revision, value, organizationId } = before
        // A removal is never refused: the replacement by the same value is, unless the record is the one that was read.
        const isSame: RecordWrite = { kind, do: 'replace', id, revision, value, budget: undefined }
        const answer = await write([isSame, removal, ...also(before)], organizationId)
        if (answer.kind === 'written') return true
        if (answer.at > 0) throw unexpected(kind, answer)
      }
    },
  }
}

const AT_ONCE = 100

/** All records of an organization, newest first; for kinds of which it has few. */
export async function allOf<Value extends object>(
  store: Pick<RecordStore<Value>, 'list'>,
  organizationId: string,
): Promise<readonly StoredRecord<Value>[]> {
  const all: StoredRecord<Value>[] = []
  let cursor: string | undefined
  do {
    const page = await store.list({ organizationId }, { limit: AT_ONCE, offset: 0, cursor })
    all.push(...page.items)
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
  return all
}

/**
 * Stores a record of an organization that may have `most` of the kind. Concurrent inserts all find room: of those beyond it
 * the newest are removed again.
 *
 * @param also inserted in the same commit, and removed with it
 */
export async function insertWithin<Value extends object>(
  store: Pick<RecordStore<Value>, 'insert' | 'list' | 'remove'>,
  record: NewRecord<Value> & { readonly organizationId: string },
  most: number,
  also: readonly RecordInsert[] = [],
): Promise<StoredRecord<Value> | 'taken' | 'full'> {
  const { organizationId } = record
  const stored = await store.insert(record, also)
  if (stored === 'taken' || !(await hasMore(store, organizationId, most))) return stored
  const all = await allOf(store, organizationId)
  if (all.length - 1 - all.findIndex(({ id }) => id === stored.id) < most) return stored
  await store.remove(stored.id, () => also.map(({ kind, id }) => ({ kind, do: 'remove', id })))
  return 'full'
}

/** Whether an organization has more than `count` records of a kind. */
export async function hasMore<Value extends object>(
  store: Pick<RecordStore<Value>, 'list'>,
  organizationId: string,
  count: number,
): Promise<boolean> {
  return (await store.list({ organizationId }, { limit: 1, offset: count })).items.length > 0
}

function first<Value extends object>(answer: Extract<Written, { kind: 'written' }>): StoredRecord<Value> {
  return answer.records[0] as StoredRecord<Value>
}

function unexpected({ name }: RecordKind, { kind }: Written): Error {
  return new Error(`The storage answers "${kind}" to a write of ${name} that cannot be refused so.`)
}
