import type { SentNotification } from '../accept/model.ts'
import type { SendOptions, TransactionOption } from '../accept/options.ts'
import type { List } from '../records/list.ts'
import type {
  GetNotificationOptions,
  LogQuery,
  LogRecord,
  NotificationQuery,
  NotificationRecord,
  NotificationSummary,
  WaitOptions,
} from './model.ts'
import type { RescheduleInput } from './reschedule-input.ts'

/** The notifications of one organization. */
export interface Notifications<Tx = never> {
  /**
   * One notification with its timeline; with `rendered: true` also its content.
   *
   * @throws NotifierError `notification_not_found`, `organization_mismatch`; with `rendered` also `sensitive_content`
   *   for a sensitive message, `content_removed` for a large one that a preference had turned off and where
   *   `retention.contentDays` are over, and `template_error` if it cannot be rendered
   *
   * @example
   * const { status, timeline } = await notifier.notifications.get('notif_1234')
   * for (const { timestamp, event } of timeline) console.log(timestamp, event)
   */
  get(id: string, options?: GetNotificationOptions): Promise<NotificationRecord>
  /**
   * Newest first.
   *
   * @example
   * const { items } = await notifier.notifications.list({ status: 'failed', channel: 'email', limit: 50 })
   */
  list(query?: NotificationQuery): Promise<List<NotificationSummary>>
  /**
   * Cancels a notification that waits: for its first attempt, or for another one. If an earlier attempt may have reached
   * the recipient, its `error` says so as `delivery_unknown`.
   *
   * With `tx` in a transaction of yours: cancelled if it commits, unchanged if it rolls back; a message that a process
   * has just taken to deliver is `not_cancellable`.
   *
   * @throws NotifierError `not_cancellable` if an attempt is running, or it has ended, `notification_not_found`,
   *   `organization_mismatch`, and with `tx` also `invalid_transaction`
   *
   * @example
   * const { id } = await notifier.send({ to: 'ada@example.com', template: 'reminder', sendAt: '2030-01-31T09:00:00Z' })
   * await notifier.notifications.cancel(id)
   */
  cancel(id: string, options?: TransactionOption<Tx>): Promise<NotificationRecord>
  /**
   * Changes `sendAt` of a scheduled notification before its first attempt; null, or a time in the past, sends it now.
   *
   * With `tx` in a transaction of yours: it moves if that commits, and keeps its time if it rolls back; a message that a
   * process has just taken to deliver is `not_reschedulable`.
   *
   * @throws NotifierError `not_reschedulable` if it is not scheduled, an attempt has begun, it has ended or expired, or
   *   after 100 reschedules,
   *   `notification_not_found`, `organization_mismatch`, `missing_required_field`, `invalid_parameter` for a time more
   *   than a year ahead or not before its `expiresAt`, and with `tx` also `invalid_transaction`
   *
   * @example
   * await notifier.notifications.reschedule('notif_1234', { sendAt: '2030-02-01T09:00:00Z' })
   */
  reschedule(
    id: string,
    change: RescheduleInput,
    options?: TransactionOption<Tx>,
  ): Promise<NotificationRecord>
  /**
   * Sends the same message again as a new notification, in any state of the first: with its template version and
   * variables, recipient and priority, due now, and with an equally long lifetime. Counts like any send.
   *
   * @throws NotifierError `notification_not_found`, `organization_mismatch`, `content_removed` for an ended sensitive
   *   message, a large one that a preference had turned off, and where `retention.contentDays` are over, `invalid_channel` if the channel is no longer configured, and as `send`
   *
   * @example
   * const { id } = await notifier.notifications.resend('notif_1234', { idempotencyKey: 'resend:notif_1234' })
   */
  resend(id: string, options?: Omit<SendOptions<Tx>, 'strict'>): Promise<SentNotification>
}

/** The outcome of notifications. */
export interface Outcomes {
  /**
   * Waits until the status of a notification is neither `scheduled` nor `queued`, for tests and scripts. Sees the work
   * of other processes within half a second. Keeps the process alive.
   *
   * @throws NotifierError `wait_timeout`, `notification_not_found`, `organization_mismatch`, and `service_unavailable`
   *   when the notifier stops
   *
   * @example
   * const { id } = await notifier.send({ to: 'ada@example.com', template: 'welcome' })
   * const { status, error } = await notifier.waitFor(id, { timeoutMs: 5_000 })
   */
  waitFor(id: string, options?: WaitOptions): Promise<NotificationRecord>
}

export interface Logs {
  /**
   * The delivery log, newest first.
   *
   * @example
   * const { items } = await notifier.logs.list({ channel: 'sms', status: 'delivered', limit: 100 })
   */
  list(query?: LogQuery): Promise<List<LogRecord>>
}
