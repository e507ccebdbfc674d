import type { NotificationSummary } from '../../core/notification/model.ts'
import type { List } from '../../core/records/list.ts'
import type { RetryInput } from './input.ts'
import type { DeadLetterGroupQuery, DeadLetterQuery, RetryResult } from './model.ts'
import type { FailureGroups, Statistics } from './statistics-model.ts'

/** Notifications that failed: after their last attempt, or for a permanent reason. */
export interface DeadLetters {
  /** Newest first. */
  list(query?: DeadLetterQuery): Promise<List<NotificationSummary>>
  /** Groups them by code, provider and channel, so that one cause is seen, and retried, as one. */
  groups(query?: DeadLetterGroupQuery): Promise<FailureGroups>
  /**
   * Retries failed notifications as `notifications.retry` does, in short steps. Concurrent calls retry each one once.
   * Notifications that would expire before their due time stay unchanged, and so do those that fail during the call.
   * Suppressed recipients fail again without an attempt.
   *
   * @throws NotifierError `missing_required_field`, `invalid_parameter`, `invalid_channel`
   */
  retry(retry: RetryInput): Promise<RetryResult>
}

/** Counts for an overview, bounded so that they stay cheap. */
export interface StatisticsApi {
  get(): Promise<Statistics>
}
