import type { LabelFilter, Labels } from '../../notification/labels.ts'
import type { NotificationStatus } from '../../notification/notification.ts'
import type { TimelineEntry } from './notifications.ts'
import type { Page, PageRequest } from './page.ts'

/**
 * The delivery log: every event of notifications, append-only. `organizationId` may be `'*'`: all organizations.
 */
export interface LogRepository {
  /**
   * Newest first. Over all organizations the notification with the highest id comes first with its entries, newest first,
   * and then the next one.
   */
  list(filter: LogFilter, page: PageRequest): Promise<Page<LogEntry>>
  /**
   * Counts what happened in a span of time: of the notifications accepted in it at most `most`, and of the other events
   * at most the first `most`. Over all organizations, a notification counts as accepted at the time in its id.
   */
  count(span: LogSpan, most: number): Promise<LogCounts>
}

export interface LogSpan {
  readonly organizationId: string
  /** Inclusive; epoch milliseconds. */
  readonly from: number
  /** Exclusive; epoch milliseconds. */
  readonly until: number
}

/** Each counts a notification once. */
export interface LogCounts {
  readonly accepted: number
  /** A provider accepted it. */
  readonly sent: number
  readonly delivered: number
  /** It failed, or its provider reported that it was not delivered or bounced. */
  readonly failed: number
  /** Those of `failed` that a provider had accepted before. */
  readonly bounced: number
  /** False: there may be more than was counted. */
  readonly exact: boolean
}

export interface LogFilter extends LabelFilter {
  readonly organizationId: string
  readonly channel?: string | undefined
  /** Public status after the event. */
  readonly status?: NotificationStatus | undefined
  readonly notificationId?: string | undefined
}

/** One event of a notification in the delivery log. */
export interface LogEntry extends TimelineEntry, Labels {
  /** `log_<digits>_<sequence>`. */
  readonly id: string
  readonly notificationId: string
  readonly organizationId: string
  readonly channel: string
  readonly to: string
  /** Name of the template. Null: none. */
  readonly template: string | null
}
