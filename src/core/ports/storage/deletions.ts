import type { RecordKind } from '../../records/record-kind.ts'
import type { FollowingWrite } from './records.ts'

/** Deletes organizations with everything that belongs to them. */
export interface DeletionRepository {
  /**
   * Begins the deletion of an organization and removes its records of some kinds, in one commit. From then on every
   * process refuses with `not_found` to accept or create anything for it and to change it, until {@link purge} has
   * removed it. A deletion cannot be undone, nor can `force`.
   *
   * @returns number of jobs that prevented it, at most 1,000; 0: it has begun; null: unknown
   */
  begin(id: string, deletion: BeginDeletion): Promise<number | null>
  /**
   * One step of a deletion, in one commit: removes at most `most` notifications with all related rows, or as many rows
   * of another kind, and at last the organization itself. Without `force`, rows with a job stay until the job has
   * ended. What endpoints of operators got of its events belongs to it; these endpoints stay. Idempotency records and the keys that deduplicate receipts stay until they expire.
   */
  purge(id: string, most: number): Promise<PurgeAnswer>
}

export interface BeginDeletion {
  /** True: removes jobs, too. False: the deletion does not begin while there are any. */
  readonly force: boolean
  /** Kinds of records to remove at once, for example the keys. */
  readonly kinds: readonly RecordKind[]
  /** Written in the same commit, if the deletion begins. Absent: none. */
  readonly also?: readonly FollowingWrite[] | undefined
}

export interface PurgeAnswer {
  /** Number of removed notifications. */
  readonly notifications: number
  /**
   * `more`: the next step removes more. `jobs`: jobs remain, in a deletion without `force`. `transactions`:
   * transactions that were open when the deletion began may still store rows. `nothing`: the organization is gone, or
   * its deletion has not begun.
   */
  readonly left: 'more' | 'jobs' | 'transactions' | 'nothing'
}
