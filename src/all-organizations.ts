import type { Logs } from './core/notification/api.ts'
import type { DeadLetters } from './features/failures/api.ts'
import type { StatisticsApi } from './features/statistics/api.ts'
import type { NotificationsApi } from './tenant.ts'

/**
 * What operators see of all organizations, from {@link MultiTenantNotifier.allOrganizations}: the methods of an
 * organization that only read. Each item names its `organizationId`; {@link MultiTenantNotifier.organization} changes it.
 *
 * Lists have the order of the ids, newest first: `from` and `until` compare the time that an id begins with. A cursor
 * belongs to lists of all organizations, or to those of one. The filter `template` takes ids, and names of templates in code.
 */
export interface AllOrganizations {
  readonly notifications: Pick<NotificationsApi, 'list'>
  /** Notifications that failed: after their last attempt, or for a permanent reason. */
  readonly deadLetters: Pick<DeadLetters, 'list' | 'groups'>
  /** The delivery log: the entries of each notification together, the newest notification first. */
  readonly logs: Logs
  /** Counts for an overview, bounded so that they stay cheap. */
  readonly statistics: StatisticsApi
}
