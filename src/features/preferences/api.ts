import type { PreferencesInput, PreferencesOf } from './input.ts'
import type { PreferencesRecord } from './model.ts'

/** People's preferences: stored by the application's id of a person, or by an address on a channel. */
export interface PreferencesApi {
  /**
   * The preferences of a person or an address.
   *
   * @throws NotifierError `missing_required_field`, `invalid_parameter`, `invalid_channel`, and the codes of a send for a
   *   wrong address
   *
   * @example
   * const { channels, categories } = await notifier.preferences.get({ recipient: 'user_42' })
   */
  get(who: PreferencesOf): Promise<PreferencesRecord>
  /**
   * Changes the given cells and quiet hours; null clears them. Concurrent changes of other cells are kept.
   *
   * @throws NotifierError as `get`, and `unknown_category`
   *
   * @example
   * await notifier.preferences.change({ recipient: 'user_42' }, {
   *   categories: { news: { email: false } },
   *   quietHours: { zone: 'Europe/Zurich', windows: [{ from: '22:00', to: '07:00' }] },
   * })
   */
  change(who: PreferencesOf, changes: PreferencesInput): Promise<PreferencesRecord>
  /**
   * Replaces all cells and the quiet hours.
   *
   * @throws NotifierError as `change`
   *
   * @example
   * await notifier.preferences.replace(
   *   { channel: 'email', to: 'ada@example.com' },
   *   { channels: { email: true }, categories: { news: false } },
   * )
   */
  replace(who: PreferencesOf, preferences: PreferencesInput): Promise<PreferencesRecord>
}
