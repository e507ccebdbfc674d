import type { FailureGroups } from '../../core/notification/failure-groups.ts'
import type { NotificationRecord, NotificationSummary } from '../../core/notification/model.ts'
import type { List } from '../../core/records/list.ts'
import type { RetryInput } from './input.ts'
import type { DeadLetterGroupQuery, DeadLetterQuery, RetryResult } from './model.ts'

/** Notifications that failed: after their last attempt, or for a permanent reason. */
export interface DeadLetters {
  /**
   * Newest first. @throws NotifierError `invalid_parameter`, `invalid_channel`
   *
   * @example
   * const { items } = await notifier.deadLetters.list({ code: 'mailbox_full', limit: 100 })
   */
  list(query?: DeadLetterQuery): Promise<List<NotificationSummary>>
  /**
   * Groups them by code, provider and channel, so that one cause is seen, and retried, as one.
   *
   * @example
   * const { groups } = await notifier.deadLetters.groups({ from: '2030-01-01T00:00:00Z' })
   * for (const { code, provider, count } of groups) console.log(code, provider, count)
   */
  groups(query?: DeadLetterGroupQuery): Promise<FailureGroups>
  /**
   * Retries failed notifications as `notifications.retry` does, in short steps. Concurrent calls retry each one once.
   * Notifications that would expire before their due time stay unchanged, and so do those that fail during the call.
   * Suppressed recipients fail again without an attempt.
   *
   * @throws NotifierError `missing_required_field`, `invalid_parameter`, `invalid_channel`
   *
   * @example
   * const filter = { channel: 'email', code: 'provider_error' } as const
   * const { retried, more } = await notifier.deadLetters.retry({ filter, ratePerSecond: 10 })
   */
  retry(retry: RetryInput): Promise<RetryResult>
}

/** The retry of one notification. */
export interface Retries {
  /**
   * Delivers a failed notification again as itself: the same id, history and expiry, with a full number of attempts.
   * Does not count again. For other states use `resend`.
   *
   * @throws NotifierError `notification_not_found`, `organization_mismatch`, `not_retryable` if it has not failed or
   *   has expired, `content_removed` if it was sensitive or its content has expired, `invalid_channel` if the channel is no longer
   *   configured
   *
   * @example
   * await notifier.notifications.retry('notif_1234')
   */
  retry(id: string): Promise<NotificationRecord>
}
