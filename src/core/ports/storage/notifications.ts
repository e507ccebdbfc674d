import type { ErrorCode } from '../../errors/catalogue.ts'
import type { NotificationEvent } from '../../notification/event-payload.ts'
import type { Fact } from '../../notification/facts.ts'
import type { LabelFilter } from '../../notification/labels.ts'
import type {
  Notification,
  NotificationContent,
  NotificationStatus,
} from '../../notification/notification.ts'
import type { Page, PageRequest } from './page.ts'

export interface NotificationRepository {
  /**
   * Finds a notification of any organization, so that a caller can distinguish a foreign id from an unknown one. Null:
   * unknown.
   */
  get(id: string): Promise<Notification | null>
  /** The present states of notifications of any organization, in order, without their contents. Null: unknown. */
  states(ids: readonly string[]): Promise<readonly (NotificationState | null)[]>
  /**
   * Newest first. Does not read attachments: the content of a mail has an empty list of them.
   *
   * With the organization `'*'` over all organizations, and then in the order of ids, the highest first; `from` and `until`
   * bound the time that an id begins with. So a storage needs no other order of all notifications than that of its keys.
   */
  list(filter: NotificationFilter, page: PageRequest): Promise<Page<Notification>>
  /** Failed notifications without their contents, in the order of {@link list}; `limit` is at most 1,000. */
  failures(span: FailureSpan, page: PageRequest): Promise<Page<Failure>>
  /** The history of a notification in order, starting with its accept. Empty: unknown. */
  timeline(id: string): Promise<readonly TimelineEntry[]>
  /**
   * Cancels a notification unless an attempt is running, atomically against claims: its job ends, leased or not, and it
   * gets the fact of `cancellation`. `too_late`: an attempt is running. `ended`: it has already ended or been cancelled.
   *
   * @param content replaces the stored content and attachments in the same commit
   */
  cancel(id: string, content?: NotificationContent): Promise<CancelAnswer>
  /**
   * Changes `sendAt` of a scheduled notification if no attempt has begun, and the due time of its job, atomically against
   * claims: a lease on it ends, and refs are enqueued for the new time. Records the fact `rescheduled`; the function of
   * that name says what changes. `too_late`: an attempt has begun. `ended` as for {@link cancel}. `not_scheduled`: its
   * status is another one.
   * `too_often`: `rescheduled` answers null, of concurrent calls too.
   *
   * @param sendAt epoch milliseconds. Null, or in the past: now
   */
  reschedule(id: string, sendAt: number | null): Promise<RescheduleAnswer>
  /**
   * Makes delayed notifications of an organization due now, or at their `sendAt` if that is later, so that the gate judges
   * them again: those that wait with a `delayedFor`, oldest first. One step, one commit. Refs are enqueued for the new
   * times; no fact is recorded. A job that is leased, or locked by another transaction, stays as it is. So does one that
   * is due earlier.
   *
   * The cost does not depend on what is not delayed, and nothing that is not delayed costs more.
   */
  judgeAgain(request: JudgeAgainRequest): Promise<JudgeAgainAnswer>
  /**
   * Retries dead letters, oldest first: one step, one commit. A dead letter is a notification with the status `failed`
   * and without a job. Each gets the fact `retried`, which opens a new round of its fold, and a job in its channel's
   * lane with the full number of attempts. Attempt numbers continue (`earlierAttempts`).
   * The status is `queued`, also while the job is due later.
   *
   * Decides under the row's lock: of ten concurrent calls one retries it, and a step skips it if it is queued again.
   * One that would expire before its due time, has no content any more, or has no lane for its channel stays unchanged
   * and is counted.
   */
  retry(request: RetryRequest): Promise<RetryAnswer>
}

export interface NotificationFilter extends LabelFilter {
  /** {@link ALL_ORGANIZATIONS}: all. A retry never gets it. */
  readonly organizationId: string
  readonly channel?: string | undefined
  readonly status?: NotificationStatus | undefined
  /** The address. This and the next: whatever the case of its letters A to Z, and of no others. */
  readonly to?: string | undefined
  /** How the address begins. */
  readonly toPrefix?: string | undefined
  /** An address of its copies, compared in the same way. */
  readonly copyTo?: string | undefined
  readonly templateId?: string | undefined
  /** Accepted at this time or later, in epoch milliseconds. */
  readonly from?: number | undefined
  /** Accepted before this time, in epoch milliseconds. */
  readonly until?: number | undefined
  /** `error.code` of a failed or skipped notification. */
  readonly code?: ErrorCode | undefined
  /** Instance id, as in `Notification.provider`. */
  readonly provider?: string | undefined
  /** Only these, at most 1,000. Ignores unknown ids and ids of other organizations. */
  readonly ids?: readonly string[] | undefined
}

/** One step of {@link NotificationRepository.judgeAgain}. */
export interface JudgeAgainRequest {
  readonly organizationId: string
  readonly of: DelayedOf
  /** Maximum number of notifications to examine, 1 to 1,000: keeps the step short. */
  readonly most: number
  /** `next` of the previous step. Absent: start with the oldest. */
  readonly after?: string | undefined
}

/** Whose messages: of all people, of a recipient, of an address as `DelayedFor` names it, or in categories by their ids. */
export type DelayedOf =
  | { readonly by: 'all' }
  | { readonly by: 'recipient'; readonly recipient: string }
  | { readonly by: 'address'; readonly address: string }
  | { readonly by: 'categories'; readonly categories: readonly string[] }

export interface JudgeAgainAnswer {
  /** Number of notifications with a new time. */
  readonly moved: number
  /** `after` of the next step. Null: all were examined. */
  readonly next: string | null
}

export type FailureSpan = Pick<NotificationFilter, 'organizationId' | 'from' | 'until'>

export interface Failure extends Pick<Notification, 'channel' | 'provider' | 'createdAt'> {
  readonly code: ErrorCode
}

export type NotificationState = Pick<Notification, 'status' | 'to'>

/** One step of a retry. `createRetryPlan` decides which notifications to retry, and their due times. */
export interface RetryRequest {
  readonly filter: Omit<NotificationFilter, 'status' | 'copyTo'>
  /** The lane for the new jobs, by channel. */
  readonly lanes: Readonly<Partial<Record<string, string>>>
  /** Maximum number of notifications to examine, 1 to 1,000: keeps the step short. */
  readonly most: number
  /** `next` of the previous step, so that no retry handles a dead letter twice. Absent: start with the oldest. */
  readonly after?: string | undefined
  /** Only counts. */
  readonly dryRun?: boolean | undefined
  /** Due time of the first job by the storage's clock, in epoch milliseconds. Absent or past: now. */
  readonly dueAt?: number | undefined
  /** Milliseconds between the due times of consecutive jobs; may be a fraction. Default 0. */
  readonly spacingMs?: number | undefined
}

export interface RetryAnswer {
  readonly retried: number
  /** Unchanged, because they expire before their due time. */
  readonly expired: number
  /** Unchanged, because their channel has no lane. */
  readonly unroutable: number
  /** Unchanged, because their content was removed. */
  readonly contentRemoved: number
  /** `dueAt` of the next step. */
  readonly nextDueAt: number
  /** `after` of the next step. Null: all were examined. */
  readonly next: string | null
}

/** One event of a notification. The accept has the type `queued` or `scheduled`. */
export interface TimelineEntry {
  readonly sequence: number
  readonly type: Fact['type'] | 'queued' | 'scheduled'
  /** Public status after the event. */
  readonly status: NotificationStatus
  /** Time of recording in epoch milliseconds. */
  readonly at: number
  /** Null for the accept. */
  readonly fact: Fact | null
}

export interface RescheduleAnswer {
  readonly kind: 'rescheduled' | 'not_scheduled' | 'too_often' | 'too_late' | 'ended' | 'unknown'
}

export type CancelAnswer =
  | { readonly kind: 'cancelled'; readonly events: readonly NotificationEvent[] }
  | { readonly kind: 'too_late' | 'ended' | 'unknown' }
