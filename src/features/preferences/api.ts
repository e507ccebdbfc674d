import type { PreferencesInput, PreferencesOf } from './input.ts'
import type { PreferencesRecord } from './model.ts'

/** What people want to get: stored by the application's id of a person, or by an address on a channel. */
export interface PreferencesApi {
  /** @throws NotifierError `missing_required_field`, `invalid_parameter`, `invalid_channel`, `invalid_email`, … */
  get(who: PreferencesOf): Promise<PreferencesRecord>
  /**
   * Changes the given cells; null clears one. Concurrent changes of other cells are kept.
   *
   * @throws NotifierError as `get`, and `unknown_category`
   */
  change(who: PreferencesOf, changes: PreferencesInput): Promise<PreferencesRecord>
  /** Replaces all cells. @throws NotifierError as `change` */
  replace(who: PreferencesOf, preferences: PreferencesInput): Promise<PreferencesRecord>
}
