import type { ErrorCode } from '../../domain/errors/catalogue.ts'
import type { NotificationEvent } from '../../domain/event-payload.ts'
import type { Fact } from '../../domain/facts.ts'
import type { Notification, NotificationContent, NotificationStatus } from '../../domain/notification.ts'
import type { Page, PageRequest } from './page.ts'

export interface NotificationRepository {
  /** Any organization's, so that a caller can tell a foreign id from an unknown one; null: unknown. */
  get(id: string): Promise<Notification | null>
  /**
   * Newest first. Attachments are not read: where a content has some, its list of them is empty, so that a list of mails
   * stays small.
   */
  list(filter: NotificationFilter, page: PageRequest): Promise<Page<Notification>>
  /** The failed ones without their contents, newest first; `limit` is at most 1,000. */
  failures(span: FailureSpan, page: PageRequest): Promise<Page<Failure>>
  /**
   * Counts what has not ended of one organization, by the same rules as `Storage.backlog`: at most `most` due ones of each
   * lane, and as many of all others.
   *
   * @param lanes the lanes whose due ones are counted
   */
  waiting(organizationId: string, lanes: readonly string[], most: number): Promise<Waiting>
  /** The whole history of one notification, in order, its accept first; empty: unknown. */
  timeline(id: string): Promise<readonly TimelineEntry[]>
  /**
   * Cancels, atomically against claims: only while no attempt has begun.
   * `too_late`: an attempt has begun. `ended`: it had ended before, a cancelled one too.
   *
   * @param content replaces the stored content, attachments too, in the same commit
   */
  cancel(id: string, content?: NotificationContent): Promise<CancelAnswer>
  /**
   * Takes up dead letters again, oldest first, one step of them in one commit. A dead letter is a notification whose
   * status is `failed` and that has no job. Each gets the fact `retried`, which opens a new round of its fold, and a
   * job in its channel's lane that has all attempts before it; the numbers of attempts go on (`earlierAttempts`).
   *
   * Judged under the row's lock: of ten in a race one retries it, and a step that finds it queued passes it by. One that
   * would have expired when its job falls due, whose content was removed, or whose channel has no lane, is left as it is and
   * counted.
   */
  retry(request: RetryRequest): Promise<RetryAnswer>
}

export interface NotificationFilter {
  readonly organizationId: string
  readonly channel?: string | undefined
  readonly status?: NotificationStatus | undefined
  readonly to?: string | undefined
  /** Template id. */
  readonly templateId?: string | undefined
  /** Accepted at or after; epoch milliseconds. */
  readonly from?: number | undefined
  /** Accepted before; epoch milliseconds. */
  readonly until?: number | undefined
  /** `error.code` of a failed one. */
  readonly code?: ErrorCode | undefined
  /** Instance id, as in `Notification.provider`. */
  readonly provider?: string | undefined
  /** Only these; at most 1,000. Those of other organizations and unknown ones are not found. */
  readonly ids?: readonly string[] | undefined
}

export type FailureSpan = Pick<NotificationFilter, 'organizationId' | 'from' | 'until'>

export interface Failure extends Pick<Notification, 'channel' | 'provider' | 'createdAt'> {
  readonly code: ErrorCode
}

export interface Waiting {
  /** Those that a claim could take now. */
  readonly due: number
  /** Their time has not come, and no attempt was made. */
  readonly scheduled: number
  /** They wait for another attempt. */
  readonly retrying: number
  /** An attempt is under way. */
  readonly running: number
  /** How long the one that waits longest has been due, in milliseconds, of those that were counted. Null: none is due. */
  readonly oldestDueMs: number | null
}

/** One step of a retry; `createRetryPlan` of the domain says which are taken up, and when they fall due. */
export interface RetryRequest {
  readonly filter: Omit<NotificationFilter, 'status'>
  /** The lane of each channel's new jobs. */
  readonly lanes: Readonly<Partial<Record<string, string>>>
  /** So many are looked at, at most, so that a step stays short; 1 to 1,000. */
  readonly most: number
  /** `next` of the step before; absent: from the oldest. So no retry meets a dead letter twice. */
  readonly after?: string | undefined
  /** Counts what would be retried, and changes nothing. */
  readonly dryRun?: boolean | undefined
  /** When the first job falls due, by the storage's clock. Absent, or past: now. Epoch milliseconds. */
  readonly dueAt?: number | undefined
  /** Between the due times of one and the next, in milliseconds; need not be whole. Default 0. */
  readonly spacingMs?: number | undefined
}

export interface RetryAnswer {
  readonly retried: number
  /** Left as they are, because they expire before they would be due. */
  readonly expired: number
  /** Left as they are, because their channel has no lane. */
  readonly unroutable: number
  /** Left as they are, because their content was removed. */
  readonly contentRemoved: number
  /** `dueAt` of the next step. */
  readonly nextDueAt: number
  /** `after` of the next step; null: all have been looked at. */
  readonly next: string | null
}

/** One event of a notification. The accept has the type `queued` or `scheduled`. */
export interface TimelineEntry {
  readonly sequence: number
  readonly type: Fact['type'] | 'queued' | 'scheduled'
  /** Public status after it. */
  readonly status: NotificationStatus
  /** When it was recorded; epoch milliseconds. */
  readonly at: number
  /** Null for the accept. */
  readonly fact: Fact | null
}

export type CancelAnswer =
  | { readonly kind: 'cancelled'; readonly events: readonly NotificationEvent[] }
  | { readonly kind: 'too_late' | 'ended' | 'unknown' }
