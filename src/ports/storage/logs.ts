import type { NotificationStatus } from '../../domain/notification.ts'
import type { TimelineEntry } from './notifications.ts'
import type { Page, PageRequest } from './page.ts'

/** The delivery log: every event of every notification of an organization, append-only. */
export interface LogRepository {
  /** Newest first. */
  list(filter: LogFilter, page: PageRequest): Promise<Page<LogEntry>>
}

export interface LogFilter {
  readonly organizationId: string
  readonly channel?: string | undefined
  /** Public status after the event. */
  readonly status?: NotificationStatus | undefined
  readonly notificationId?: string | undefined
}

/** One event of a notification in the delivery log. */
export interface LogEntry extends TimelineEntry {
  /** `log_<digits>_<sequence>`. */
  readonly id: string
  readonly notificationId: string
  readonly channel: string
  readonly to: string
  /** Name of the template, if one was used. */
  readonly template: string | null
}
