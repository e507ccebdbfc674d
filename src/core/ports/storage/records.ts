import type { NotifierError } from '../../errors/notifier-error.ts'
import type { RecordKind } from '../../records/record-kind.ts'
import type { Page, PageRequest } from './page.ts'

/** A stored record. */
export interface StoredRecord<Value extends object = object> {
  /** Unique within the kind. */
  readonly id: string
  /** Null: it belongs to no organization. */
  readonly organizationId: string | null
  /** From 1; rises with every replacement. */
  readonly revision: number
  /** Epoch milliseconds. */
  readonly createdAt: number
  /** The storage's time of this answer, for what expires. Epoch milliseconds. */
  readonly readAt: number
  /** In the shape of the kind's version. */
  readonly value: Value
}

/** Names a record by its id, or by the key of its kind. */
export type RecordRef =
  | { readonly id: string; readonly key?: undefined }
  | { readonly key: string; readonly id?: undefined }

/** What an organization may store. */
export interface RecordBudget {
  readonly organizationId: string
  /** Most bytes, as {@link Records.stored} counts them. */
  readonly bytes: number
}

export interface RecordInsert<Value extends object = object> {
  readonly kind: RecordKind<Value>
  readonly do: 'insert'
  /** 1 to 250 characters. */
  readonly id: string
  readonly organizationId: string | null
  readonly value: Value
  /**
   * If its id or key is taken: `keep` changes nothing and answers the stored record, which is the one with the id, or else
   * the one with the key. Default: the set is refused as `taken`.
   */
  readonly ifTaken?: 'keep' | undefined
  /** Refuses the set as `full` if the organization would store more after this write. Absent: no limit. */
  readonly budget?: RecordBudget | undefined
}

export interface RecordReplacement<Value extends object = object> {
  readonly kind: RecordKind<Value>
  readonly do: 'replace'
  readonly id: string
  /** The revision that was read. Another one: the set is refused. */
  readonly revision: number
  /** The claim under which the record is replaced. Another one, or none: the set is refused as `stale`. */
  readonly token?: number | undefined
  readonly value: Value
  /** As of an insert; for a value that is longer than the one before. */
  readonly budget?: RecordBudget | undefined
}

export interface RecordRemoval<Value extends object = object> {
  readonly kind: RecordKind<Value>
  readonly do: 'remove'
  readonly id: string
  /** Removes the record only if its value has these fields. */
  readonly only?: Partial<Value> | undefined
  /** The claim under which the record is removed. Another one, none, or no record: the set is refused as `stale`. */
  readonly token?: number | undefined
  /**
   * For an upload. True: refuses the set while a stored notification names it, or may be about to in an open transaction.
   * Of a concurrent accept that names it, exactly one of both is refused.
   */
  readonly unlessNamed?: true | undefined
}

// Method parameters of a kind are bivariant, so that a write of any kind is a `RecordWrite`.
export type RecordWrite = RecordInsert | RecordReplacement | RecordRemoval

export interface KeepingInsert<Value extends object = object> extends RecordInsert<Value> {
  readonly ifTaken: 'keep'
}

/** A write that needs no answer and is never refused. */
export type FollowingWrite = KeepingInsert | RecordRemoval

/**
 * Nothing of a set is stored because of the write at this position. `taken`: its id or key. `stale`: its revision or its
 * claim. `unknown`: no record has its id. `no_organization`: its organization does not exist, or is being deleted. `named`:
 * a notification names the upload. `full`: the budget of its organization is used up.
 */
export interface RefusedWrite {
  readonly kind: 'taken' | 'stale' | 'unknown' | 'no_organization' | 'named' | 'full'
  readonly at: number
}

/** The answer to one set of writes. */
export type WriteAnswer =
  /** One record per write: inserted, kept or replaced; removed, or null if there was none to remove. */
  | { readonly kind: 'written'; readonly records: readonly (StoredRecord | null)[] }
  | RefusedWrite
  /** Only this set failed. */
  | { readonly kind: 'failed'; readonly error: NotifierError }

/** Selects due records to claim. */
export interface DueRequest {
  /** Each has `due`. */
  readonly kinds: readonly RecordKind[]
  /** Most records of each kind, 1 to 1,000. */
  readonly most: number
  /** Length of the first lease. Each further claim of an unchanged record doubles it, up to two hours. */
  readonly leaseMs: number
}

/** A claimed record. */
export interface DueRecord<Value extends object = object> {
  readonly kind: RecordKind<Value>
  readonly record: StoredRecord<Value>
  /** Names the claim. Every claim has another one. */
  readonly token: number
  /** The number of claims since the last write, with this one. Above 1: the earlier ones ended without a result. */
  readonly claims: number
  /** Until another claim may take the record. */
  readonly leaseMs: number
}

export interface DueAnswer {
  readonly due: readonly DueRecord[]
  /** Milliseconds until the next record of these kinds is due or its lease ends. 0: more are due. Null: none waits. */
  readonly nextDueInMs: number | null
}

/** Stores records of all kinds that the storage's `start` received. */
export interface Records {
  /** The records of one kind, in order. Null: none. One query for the set. Never cached. */
  get<Value extends object>(
    kind: RecordKind<Value>,
    refs: readonly RecordRef[],
  ): Promise<(StoredRecord<Value> | null)[]>
  /**
   * Writes sets of records. Each set is stored completely or not at all, and all share one commit. Answers in order; the
   * sets may be applied in another order. Of ten concurrent inserts with one id or key, one stores. A record is inserted or replaced only while its organization
   * exists and is not being deleted.
   *
   * A replacement by an older version of the kind keeps the newer version number, so that newer processes read the
   * value as it was written.
   */
  write(sets: readonly (readonly RecordWrite[])[]): Promise<WriteAnswer[]>
  /** Newest first. `list` absent: all of the organization; `organizationId` null: those without one. */
  list<Value extends object>(
    kind: RecordKind<Value>,
    of: { readonly organizationId: string | null; readonly list?: string | undefined },
    page: PageRequest,
  ): Promise<Page<StoredRecord<Value>>>
  /**
   * What an organization stores: for each of its records the bytes of the value as JSON in UTF-8, and 200 for the rest of the
   * row. Exact at every commit, at a cost that does not grow with the data. Concurrent writes with a budget never exceed it.
   */
  stored(organizationId: string): Promise<number>
  /** Removes at most `most` records of this age, oldest first. Returns the number. */
  removeOld(
    kind: RecordKind,
    of: { readonly organizationId: string | null; readonly olderThanMs: number; readonly most: number },
  ): Promise<number>
  /**
   * Claims due records: each gets a new token, and is due again at the end of its lease. Its revision stays. Any other
   * write of the record ends the claim, so that of a result under its token and another write exactly one is stored. A
   * record that was removed and stored again is another one.
   *
   * Fair: organizations take turns, continued by the next call. The cost does not grow with the records that are not due;
   * of those that have become due it marks at most 1,000 a call. Two calls never claim the same record.
   *
   * Records of an organization that is being deleted are never due. Records that were stored when their kind had no
   * `due` become due in steps. A lease that ends more than two hours from now was given by a clock that ran ahead, and
   * has ended.
   */
  claimDue(request: DueRequest): Promise<DueAnswer>
}
