import type { List } from '../../core/records/list.ts'
import type { AuditEntry, AuditLogQuery } from './model.ts'

/** What was done by hand, by whom and from where. */
export interface AuditLog {
  /**
   * Newest first. A page with filters looks at 2,000 entries at most, so it may have few items although more follow.
   *
   * @throws NotifierError `invalid_parameter`, `invalid_channel`
   *
   * @example
   * const { items } = await notifier.auditLog.list({ action: 'api_key.created' })
   * for (const { at, actor, target } of items) console.log(at, actor.id, target.name)
   */
  list(query?: AuditLogQuery): Promise<List<AuditEntry>>
}

export interface Acting {
  /**
   * Calls a function, and names a person of the application as the author of all changes that it begins. Without one the audit
   * log shows `code`.
   *
   * @param actor at most 200 characters
   * @returns the result of the function
   * @throws NotifierError `invalid_parameter`
   *
   * @example
   * await notifier.actingAs('ada', () => notifier.templates.delete('welcome'))
   */
  actingAs<Result>(actor: string, work: () => Result): Result
}
