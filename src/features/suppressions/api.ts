import type { List } from '../../core/records/list.ts'
import type { SuppressionInput, SuppressionTarget } from './input.ts'
import type { SuppressionQuery, SuppressionRecord } from './model.ts'

/** Suppressed recipients: sends to them are refused, and notifications accepted before fail. */
export interface Suppressions {
  /**
   * Suppresses a recipient on a channel. An existing entry keeps its reason, which the result shows.
   *
   * @throws NotifierError `missing_required_field`, `invalid_parameter`, `invalid_channel`, `invalid_email`,
   *   `invalid_phone`, `invalid_recipient`
   *
   * @example
   * await notifier.suppressions.add({ channel: 'email', to: 'ada@example.com', reason: 'complaint' })
   */
  add(suppression: SuppressionInput): Promise<SuppressionRecord>
  /**
   * Newest first.
   *
   * @example
   * const { items } = await notifier.suppressions.list({ channel: 'email', reason: 'hard_bounce' })
   *
   * @example
   * const { items: entries } = await notifier.suppressions.list({ to: 'ada@example.com' })
   */
  list(query?: SuppressionQuery): Promise<List<SuppressionRecord>>
  /**
   * Removes an entry.
   *
   * @throws NotifierError `not_found`
   *
   * @example
   * await notifier.suppressions.remove({ channel: 'email', to: 'ada@example.com' })
   */
  remove(recipient: SuppressionTarget): Promise<void>
}
