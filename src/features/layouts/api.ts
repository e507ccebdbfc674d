import type { List, ListQuery } from '../../core/records/list.ts'
import type { SharedTextChange, SharedTextInput } from './input.ts'
import type { SharedTextRecord, SharedTextVersionRecord } from './model.ts'

/** The layouts, or the partials, of an organization. Those in the options of the notifier are not among them. */
export interface SharedTexts {
  /**
   * @throws NotifierError `already_exists`, `missing_required_field`, `invalid_parameter`, `invalid_template` for a
   *   layout without exactly one slot, a missing partial, or a partial that contains itself
   */
  create(text: SharedTextInput): Promise<SharedTextRecord>
  /** By id or name. @throws NotifierError `not_found`, `organization_mismatch` */
  get(idOrName: string): Promise<SharedTextRecord>
  /** Newest first. A page has at most 256 KiB of text, or a single one: `hasMore` is true then. */
  list(query?: ListQuery): Promise<List<SharedTextRecord>>
  /**
   * Changes the given fields. A change of `html` or `text` makes a new version; queued notifications keep theirs.
   *
   * @throws NotifierError as `get` and `create`, and `version_conflict` if `version` is not the current one
   */
  update(idOrName: string, change: SharedTextChange): Promise<SharedTextRecord>
  /** The versions, newest first; pages as in `list`. @throws NotifierError as `get` */
  versions(idOrName: string, query?: ListQuery): Promise<List<SharedTextVersionRecord>>
  /** One version. @throws NotifierError as `get` */
  version(idOrName: string, version: number): Promise<SharedTextVersionRecord>
  /** Makes a new version with the texts of an earlier one. @throws NotifierError as `get` and `create` */
  restore(idOrName: string, version: number): Promise<SharedTextRecord>
  /**
   * Deletes a layout or partial. Queued notifications keep their version.
   *
   * @throws NotifierError as `get`; `text_in_use` with the first ten `users` in its details, unless the application has
   *   one of the same name, which takes its place
   */
  delete(idOrName: string): Promise<void>
}
