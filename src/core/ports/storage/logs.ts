import type { LabelFilter, Labels } from '../../notification/labels.ts'
import type { NotificationStatus } from '../../notification/notification.ts'
import type { TimelineEntry } from './notifications.ts'
import type { Page, PageRequest } from './page.ts'

/** The delivery log: every event of an organization's notifications, append-only. */
export interface LogRepository {
  /** Newest first. */
  list(filter: LogFilter, page: PageRequest): Promise<Page<LogEntry>>
  /**
   * Counts what happened in a span of time: of the notifications accepted in it at most `most`, and of the other events
   * at most the first `most`.
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
  readonly channel: string
  readonly to: string
  /** Name of the template. Null: none. */
  readonly template: string | null
}
