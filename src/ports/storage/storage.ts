import type { JobRef, TransactionalQueue } from '../queue.ts'
import type {
  AcceptAnswer,
  AcceptRequest,
  IdempotencyKey,
  IdempotencyRecord,
  JoinedTransaction,
} from './accept.ts'
import type { ApiKeyRepository } from './api-keys.ts'
import type { Backlog } from './backlog.ts'
import type { ClaimAnswer, ClaimRequest, LeaseRef, StartRef } from './claim.ts'
import type { LogRepository } from './logs.ts'
import type { NotificationRepository } from './notifications.ts'
import type { OrganizationRepository } from './organizations.ts'
import type { ReceiptAnswer, ReceiptRecord } from './receipts.ts'
import type { RetentionRepository } from './retention.ts'
import type { SettleAnswer, Settlement } from './settle.ts'
import type { SuppressionRepository } from './suppressions.ts'
import type { TemplateRepository } from './templates.ts'
import type { WebhookEndpointRepository } from './webhook-endpoints.ts'

/** Who hears of jobs: exactly one of the two. */
export type JobSink =
  | { readonly enqueue: (refs: readonly JobRef[]) => void }
  | { readonly enqueueInTransaction: TransactionalQueue['enqueue'] }

/** What a storage needs of the service. */
export interface StorageStart {
  /** Default: every recipient is its own address. */
  readonly addressOf?: AddressOf | undefined
}

/**
 * The spelling of a channel's recipient under which suppressions are kept and found. Pure; called in the transaction that
 * records a fact with `suppress`.
 */
export type AddressOf = (channel: string, recipient: string) => string

/**
 * Everything that Carillon must not forget. The hot verbs are set-based, each of them one atomic commit, and
 * they are the only writers of notifications, events and jobs.
 *
 * Rules for every method:
 * - Times are absolute epoch milliseconds, durations end in `Ms`. The storage owns its clock; callers never pass
 *   the present time.
 * - A promise that resolves means that a durable storage has the data on disk. Leases alone (`claim`, `renew`,
 *   `release`) may follow with the next commit: a power failure that takes them only returns the jobs;
 *   a claim that has begun attempts may not.
 * - A storage that cannot answer rejects with `NotifierError` `service_unavailable` and keeps the cause. It never
 *   answers as if something were stored that is not, and after an unknown COMMIT it looks its own ids up before
 *   it answers.
 * - One guilty item never spoils a set: after a data error the set is divided until only that item fails.
 * - Rows are locked in sorted order, so that sets cannot deadlock.
 * - Nothing is visible to another organization but by the methods that say so.
 *
 * `Tx` is what the storage takes as a transaction of the caller's; `never`: it has none to share.
 */
export interface Storage<Tx = never> {
  /** For logs and health, for example `sqlite`. */
  readonly name: string
  /** False when data is gone after a crash (memory). */
  readonly durable: boolean

  /**
   * Opens the storage and brings its schema up to date; creates the organization `org_default`. Idempotent; safe
   * to call from many processes at once. What it is `given` counts from then on, also where it is open already.
   * Called while a stop is under way it begins when that has ended. The notifier waits for ten minutes.
   *
   * @throws NotifierError `service_unavailable`, or `invalid_configuration` when the schema is newer than this code.
   */
  start(given?: StorageStart): Promise<void>
  /**
   * Closes what {@link start} opened. Idempotent, beside another and after it. Pending calls of every method finish first.
   * May come while a start that takes too long is under way, which it may end; it is called again when that start has ended.
   */
  stop(): Promise<void>

  /**
   * Resolves where, as far as is known, what is to be stored can be. Asked for the health, so it stores nothing, unless
   * something could not be stored before: then it tries whether it can be again. Absent: what can be read can be stored.
   *
   * @throws NotifierError `service_unavailable`, as long as the disk is full or the database takes nothing but reads
   */
  check?(): Promise<void>

  /**
   * Calls `listener` when another process may have made something due, soon after it did. A hint, which may be lost or come
   * for nothing: absent, or silent, polling finds the work. Ends with the returned function, or with {@link stop}.
   *
   * @param onError is told why nothing can be heard, each time that it was tried
   */
  onWork?(listener: () => void, onError?: (error: unknown) => void): () => void

  /**
   * From the next commit on tells of every job that this process makes due, now or later: stored, to be tried again,
   * redelivered, retried or returned. `enqueueInTransaction` runs in the transaction that does so; otherwise `enqueue` is called after the
   * commit. Absent: this storage cannot be used with a queue engine.
   *
   * @throws what a first, empty call of `enqueueInTransaction` throws
   */
  enqueueJobs?(sink: JobSink): Promise<void>

  /**
   * Stores notifications, their jobs, quota use and idempotency records: one commit for the set, one answer per
   * request, in order. Within a request notifications are admitted in order until the quota is used up.
   *
   * The first event of a notification (`queued` or `scheduled`, sequence 1) is its accept: a storage may derive it
   * from the notification's own row instead of storing it twice.
   *
   * Ten parallel equal requests with one idempotency key store once: one answers `accepted`, the others `replayed`.
   *
   * Waited for no longer than a minute, as {@link findIdempotent} is: the send then rejects with `service_unavailable`, and
   * a repetition finds by its key what was stored.
   */
  accept(requests: readonly AcceptRequest[]): Promise<AcceptAnswer[]>

  /**
   * Joins an open transaction of the caller's for one accept, which so is stored together with the caller's own data:
   * both are committed, or neither. Absent: the storage shares no transactions.
   *
   * - A rolled back transaction leaves nothing: no notification, no quota use, and a key that is free again.
   * - A `onError` answer stores nothing of the request and leaves the transaction as it was.
   * - While the transaction is open it holds up nobody but those who ask for the same idempotency key inside a
   *   transaction of their own: no row is locked that other accepts need. Several that are open at once do not see each
   *   other's quota use, so that together they may exceed a quota.
   *
   * @throws NotifierError `invalid_transaction` when `tx` is none, is not open or is of another database;
   *   `service_unavailable` when the caller must roll back and run the whole transaction again
   */
  join?(tx: Tx): Promise<JoinedTransaction>

  /** How many notifications {@link accept} has counted against a period's quota. */
  quotaUsed(organizationId: string, period: string): Promise<number>

  /** Looks idempotency records up; null where there is none or it has expired. In order. */
  findIdempotent(keys: readonly IdempotencyKey[]): Promise<(IdempotencyRecord | null)[]>

  /**
   * Leases due jobs and says what else is due. Every lease has a fencing token that is new for each claim.
   *
   * Before it looks for jobs it returns those whose lease has expired, or would last for more than two hours, which no lease does:
   * the clock ran ahead when it was given. A job whose attempt had not started becomes
   * claimable again, uncounted; one whose attempt had started keeps its count, has the attempt recorded as
   * `attempt_ambiguous`, and is claimable by `{ recovered }` alone until it settles other than `unasked`.
   *
   * Where the request allows it, a storage may begin attempts at events in the same commit: it then says so of each.
   *
   * Fair: inside a lane organizations take turns, so that one organization's backlog delays another's job by at most
   * one round; `high` goes before `normal` but leaves it a share. Cost grows with what is claimed, never with the
   * backlog. No job is ever leased to two claims at once.
   */
  claim(request: ClaimRequest): Promise<ClaimAnswer>

  /**
   * Records, before any provider is called, that attempts begin: the job's attempt count rises by one.
   *
   * @returns one boolean per ref: false when the token is stale or the lease has ended; that attempt must not begin.
   */
  startAttempts(refs: readonly StartRef[]): Promise<boolean[]>

  /**
   * Extends leases to `leaseMs` from now; one that has ended too, as long as no other claim has the job.
   * False per ref when the token is stale: stop working on it.
   */
  renew(refs: readonly LeaseRef[], leaseMs: number): Promise<boolean[]>

  /**
   * Returns claims whose attempt has not started, or has been begun by the claim and was not made: uncounted, due at once.
   * Others and stale tokens are ignored.
   */
  release(refs: readonly LeaseRef[]): Promise<void>

  /**
   * Ends attempts: facts, status fold, next due time or the end of the job, and the webhook deliveries that follow
   * from announced events, in one commit. A settlement with a stale token changes nothing and answers `stale`.
   * A fact that says `suppress` adds the notification's recipient to the suppression list, as `suppressions.add` does,
   * with the provider as its source; so does one of a receipt.
   * Unmatched receipts for a provider message id that becomes known here are applied in the same commit.
   */
  settle(settlements: readonly Settlement[]): Promise<SettleAnswer[]>

  /**
   * Records what providers report after the hand-over. Deduplicated by (instance, dedupeKey), where the instance is
   * the provider of that organization; correlated first by our notification id, then by the provider's message id of
   * any hand-over, earlier ones included, and of the notification accepted last where several have it; kept while
   * unmatched, until `retention.expire` removes them. A recipient's own word changes the suppression list in the same
   * commit. One commit for the set, one answer for each, in order.
   */
  recordReceipts(receipts: readonly ReceiptRecord[]): Promise<ReceiptAnswer[]>

  /**
   * Counts what has not ended. Asked every few seconds, so its cost is bounded by `most` and by the lanes, never by the
   * backlog: it counts at most `most` due jobs of each lane (of all endpoints together), and at most as many of all
   * scheduled ones (the soonest first), of all leased ones and of all that are held. A count that reaches `most` means at
   * least so many; below it everything is exact. Changes nothing: neither what is due nor what ran out is moved.
   */
  backlog(most: number): Promise<Backlog>

  readonly notifications: NotificationRepository
  readonly logs: LogRepository
  readonly organizations: OrganizationRepository
  readonly apiKeys: ApiKeyRepository
  readonly templates: TemplateRepository
  readonly webhookEndpoints: WebhookEndpointRepository
  readonly suppressions: SuppressionRepository
  readonly retention: RetentionRepository

  /**
   * Returns the value kept under `name`; stores `initial` first when there is none. All processes that share the
   * storage get the same value, also when they ask at once. Holds the generated `secret`.
   */
  putIfAbsent(name: string, initial: string): Promise<string>

  /** Returns the value that {@link putIfAbsent} stored under `name`, null when there is none. Changes nothing. */
  keptValue(name: string): Promise<string | null>
}
