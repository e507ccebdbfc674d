import type { Logs } from './core/notification/api.ts'
import type { AuditLog } from './features/audit/api.ts'
import type { PeopleApi } from './features/custody/api.ts'
import type { DeadLetters } from './features/failures/api.ts'
import type { RetentionApi } from './features/retention/api.ts'
import type { StatisticsApi } from './features/statistics/api.ts'
import type { EventListening, Webhooks } from './features/webhook-events/api.ts'
import type { NotificationsApi } from './tenant.ts'

/**
 * What operators see of all organizations, from {@link MultiTenantNotifier.allOrganizations}: the methods of an
 * organization that only read, endpoints of operators, and listeners. Each item names its `organizationId`; {@link MultiTenantNotifier.organization} changes it.
 *
 * Lists have the order of the ids, newest first: `from` and `until` compare the time that an id begins with. A cursor
 * belongs to lists of all organizations, or to those of one. The filter `template` takes ids, and names of templates in code.
 */
export interface AllOrganizations extends EventListening {
  readonly notifications: Pick<NotificationsApi, 'list'>
  /** Notifications that failed: after their last attempt, or for a permanent reason. */
  readonly deadLetters: Pick<DeadLetters, 'list' | 'groups'>
  /** The delivery log: the entries of each notification together, the newest notification first. */
  readonly logs: Logs
  /** What was done by hand in every organization, and with operator keys. */
  readonly auditLog: AuditLog
  /** Erasure and export of what all organizations have stored about a person. */
  readonly people: PeopleApi
  /** Counts for an overview, bounded so that they stay cheap. */
  readonly statistics: StatisticsApi
  /** What is removed because it is old. */
  readonly retention: RetentionApi
  /** Endpoints of operators, which get the events of every organization. Organizations do not see them. */
  readonly webhooks: Webhooks
}
