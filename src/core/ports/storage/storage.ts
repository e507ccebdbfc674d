import type { Fact } from '../../notification/facts.ts'
import type { Labels } from '../../notification/labels.ts'
import type { RecordKind } from '../../records/record-kind.ts'
import type { JobRef, TransactionalQueue } from '../queue.ts'
import type {
  AcceptAnswer,
  AcceptRequest,
  IdempotencyKey,
  IdempotencyRecord,
  JoinedTransaction,
} from './accept.ts'
import type { ClaimAnswer, ClaimRequest, LeaseRef, StartRef } from './claim.ts'
import type { CustodyRepository } from './custody.ts'
import type { DeletionRepository } from './deletions.ts'
import type { ExpireAnswer, ExpireRequest } from './expire.ts'
import type { StorageInspection } from './inspection.ts'
import type { JobCounts, JobsOf } from './job-counts.ts'
import type { LogRepository } from './logs.ts'
import type { NotificationRepository } from './notifications.ts'
import type { ReceiptAnswer, ReceiptRecord } from './receipts.ts'
import type { FollowingWrite, Records, RecordWrite } from './records.ts'
import type { SettleAnswer, Settlement } from './settle.ts'
import type { WebhookEndpointRepository } from './webhook-endpoints.ts'

/** Receives due jobs: after the commit, or in the transaction. */
export type JobSink =
  | { readonly enqueue: (refs: readonly JobRef[]) => void }
  | { readonly enqueueInTransaction: TransactionalQueue['enqueue'] }

/** Parts of the service that a storage needs. */
export interface StorageStart {
  /** Kinds of records to prepare, in addition to those of earlier starts. */
  readonly kinds?: readonly RecordKind[] | undefined
  /** Absent: as before. Before the first, no record follows from facts. */
  readonly follow?: Follow | undefined
}

/**
 * Returns the records to write because facts about a notification are recorded, for example a suppression after a hard
 * bounce. Pure and quick: it runs in the transaction that records them, and its writes are part of it.
 *
 * @param about with the address that {@link reportedTo} returns, if a provider reported the facts
 */
export type Follow = (
  about: Labels & { readonly organizationId: string; readonly channel: string; readonly to: string },
  facts: readonly Fact[],
) => readonly FollowingWrite[]

/**
 * Stores everything that Carillon must not lose. The hot verbs take sets, and each call is one atomic commit. They are
 * the only writers of notifications, events and jobs.
 *
 * Rules for every method:
 * - Times are epoch milliseconds; names of durations end in `Ms`. The storage has its own clock; callers never pass the
 *   current time.
 * - A durable storage resolves only when the data is on disk. Leases alone (`claim`, `renew`, `release`,
 *   `claimDue`) may follow with the next commit: a power failure then only returns what was leased. A claim that has begun attempts may not.
 * - A storage that cannot answer rejects with `NotifierError` `service_unavailable` and the cause. It never reports
 *   data as stored that is not. After a COMMIT with an unknown result it looks up its own ids before it answers.
 * - One bad item does not fail a set: after a data error the set is divided until only that item fails.
 * - Rows are locked in sorted order, so that sets cannot deadlock.
 * - Organizations are isolated, except in the methods that say otherwise.
 *
 * `Tx` is the type of a caller's transaction; `never`: the storage shares none.
 */
export interface Storage<Tx = never> {
  /** Name for logs and health, for example `sqlite`. */
  readonly name: string
  /** False: a crash loses the data (memory). */
  readonly durable: boolean

  /**
   * Opens the storage, migrates its schema, creates the missing tables of the given kinds of records and the
   * organization `org_default`. Idempotent, and safe to call from many processes at once. `given` applies from then on,
   * even if the storage is already open. During a stop it waits for the end of that. Timeout ten minutes.
   *
   * @throws NotifierError `service_unavailable`, or `invalid_configuration` if the schema is newer than this code
   */
  start(given?: StorageStart): Promise<void>
  /**
   * Closes what {@link start} opened, after pending calls have finished. Idempotent. May be called during a start that
   * takes too long and may end it; it is then called again after that start.
   */
  stop(): Promise<void>

  /**
   * Resolves if, as far as the storage knows, it can store data. For health and validation, so it writes nothing, except
   * to test again after a failed write. Absent: a storage that can read can write.
   *
   * @throws NotifierError `service_unavailable` while the disk is full or the database is read-only
   */
  check?(): Promise<void>

  /**
   * Says which version its schema has and needs, what its clock shows, and which rights are missing. It changes nothing, and
   * may be called before {@link start}. Timeout 30 seconds. Absent: the storage has no schema.
   *
   * @throws NotifierError `service_unavailable`
   */
  inspect?(): Promise<StorageInspection>

  /**
   * Calls `listener` soon after another process may have made a job due. A hint: it may be lost or unnecessary, and
   * polling finds the job without it. Ends with the returned function, or with {@link stop}.
   *
   * @param onError receives the reason for each failed attempt to listen
   */
  onWork?(listener: () => void, onError?: (error: unknown) => void): () => void

  /**
   * From the next commit on, enqueues every job that this process makes due, now or later: accepted, retried,
   * redelivered or returned jobs and later attempts. `enqueueInTransaction` runs in the transaction; `enqueue` is
   * called after the commit. Absent: the storage does not support queue engines.
   *
   * @throws the error of a first, empty call of `enqueueInTransaction`
   */
  enqueueJobs?(sink: JobSink): Promise<void>

  /**
   * Stores notifications, their jobs, quota use and idempotency records: one commit for the set, one answer per
   * request, in order. Within a request it admits notifications in order until the quota is used up.
   *
   * The first event of a notification (`queued` or `scheduled`, sequence 1) is its accept. A storage may derive it from
   * the notification's row.
   *
   * Ten parallel equal requests with one idempotency key store once: one answer is `accepted`, the others are
   * `replayed`.
   *
   * Timeout one minute, as for {@link findIdempotent}: the send then rejects with `service_unavailable`, and a
   * repetition with the same key finds the stored result.
   */
  accept(requests: readonly AcceptRequest<RecordWrite>[]): Promise<AcceptAnswer[]>

  /**
   * Joins an open transaction of the caller for one call: an accept, or a change of a notification. Both commit
   * together, or neither. Absent: the storage shares no transactions.
   *
   * - A rolled back transaction leaves nothing: no notification, no quota use, a free key, and no change.
   * - A `failed` answer stores nothing of the request and leaves the transaction intact, as does a refused change.
   * - An open transaction blocks only requests for the same idempotency key in other callers' transactions, and changes
   *   of the same notification: it locks no row that other accepts or the delivery of others need. Concurrent ones do
   *   not see each other's quota use, so that together they may exceed a quota.
   *
   * @throws NotifierError `invalid_transaction` if `tx` is not an open transaction of this database;
   *   `service_unavailable` if the caller must roll back and repeat the whole transaction
   */
  join?(tx: Tx): Promise<JoinedTransaction>

  /** Number of notifications that {@link accept} has counted against a period's quota. */
  quotaUsed(organizationId: string, period: string): Promise<number>

  /** Finds idempotency records, in order. Null: none, or expired. */
  findIdempotent(keys: readonly IdempotencyKey[]): Promise<(IdempotencyRecord | null)[]>

  /**
   * Leases due jobs and reports what else is due. Every lease has a fencing token that is new for each claim.
   *
   * It first takes back jobs with an expired lease, or with one of more than two hours, which a clock running ahead has
   * given. If the attempt had not started, the job can be claimed again and counts nothing. If it had started, it stays
   * counted, is recorded as `attempt_ambiguous`, and the job can be claimed by `{ recovered }` only, until it settles
   * other than `notSent`.
   *
   * If the request allows it, a storage may begin attempts at events in the same commit, and marks those jobs.
   *
   * Fair: organizations share a lane round-robin, so that the backlog of one delays a job of another by one round at
   * most. `high` goes before `normal` but leaves it a share. The cost grows with the number of claimed jobs, not with
   * the backlog. Two claims never lease the same job.
   */
  claim(request: ClaimRequest): Promise<ClaimAnswer>

  /**
   * Records the start of attempts before any provider is called: the job's attempt count rises by one.
   *
   * @returns one boolean per ref; false: the token is stale or the lease has ended, so the attempt must not begin
   */
  startAttempts(refs: readonly StartRef[]): Promise<boolean[]>

  /**
   * Extends leases to `leaseMs` from now, also ended ones if no other claim has the job. False per ref: the token is
   * stale; stop work on the job.
   */
  renew(refs: readonly LeaseRef[], leaseMs: number): Promise<boolean[]>

  /** Returns claims whose attempt was not made: uncounted, due at once. Ignores others and stale tokens. */
  release(refs: readonly LeaseRef[]): Promise<void>

  /**
   * Ends attempts in one commit: facts, status, next due time or end of the job, and the webhook deliveries of
   * published events. A settlement with a stale token changes nothing and answers `stale`.
   *
   * The records that {@link Follow} returns for the facts, also for those of a receipt, are written in the same commit.
   * So are kept receipts for a provider message id that becomes known.
   */
  settle(settlements: readonly Settlement[]): Promise<SettleAnswer[]>

  /**
   * Records reports of providers: one commit for the set, one answer each, in order. Deduplicates by instance and
   * `dedupeKey`; an instance is the provider of an organization. Finds the notification by its id, else by the
   * provider's message id of any hand-over; of several, the one accepted last. Keeps unmatched reports until
   * {@link expire} removes them. The writes of a consent are part of the same commit.
   */
  recordReceipts(receipts: readonly ReceiptRecord[]): Promise<ReceiptAnswer[]>

  /**
   * Counts unfinished jobs; read-only. Called every few seconds, so its cost is limited by `most` and the number of
   * lanes, not by the backlog. Each count stops at `most`: that of the ready jobs of each lane (of all endpoints
   * together), and those that wait (the soonest first), are leased, recovered or held, of each lane or of all together.
   * A count that has stopped is a lower bound; all others are exact.
   */
  countJobs(of: JobsOf, most: number): Promise<JobCounts>

  /** Removes expired data, or counts it, oldest first, one step per call. Safe to run in several processes at once. */
  expire(request: ExpireRequest): Promise<ExpireAnswer>

  readonly notifications: NotificationRepository
  readonly logs: LogRepository
  readonly records: Records
  readonly deletions: DeletionRepository
  readonly custody: CustodyRepository
  readonly webhookEndpoints: WebhookEndpointRepository
}
