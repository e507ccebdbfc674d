import type { List, ListQuery } from '../../core/records/list.ts'
import type { SharedTextChange, SharedTextInput } from './input.ts'
import type { SharedTextRecord, SharedTextVersionRecord } from './model.ts'

/** The layouts, or the partials, of an organization. Those in the options of the notifier are not included. */
export interface SharedTexts {
  /**
   * Stores a layout or partial. Its name is unique among them.
   *
   * @throws NotifierError `already_exists`, `missing_required_field`, `invalid_parameter`, `invalid_template` for a
   *   layout without exactly one slot, a missing partial, or a partial that contains itself
   *
   * @example
   * await notifier.partials.create({ name: 'footer', html: '<p>Acme Ltd, London</p>', text: 'Acme Ltd, London' })
   * await notifier.layouts.create({ name: 'brand', html: '<main>{{{content}}}</main>{{> footer}}' })
   */
  create(text: SharedTextInput): Promise<SharedTextRecord>
  /**
   * By id or name.
   *
   * @throws NotifierError `not_found`, `organization_mismatch`
   *
   * @example
   * const { html, version } = await notifier.layouts.get('brand')
   */
  get(idOrName: string): Promise<SharedTextRecord>
  /**
   * Newest first. A page has at most 256 KiB of text, or a single one: `hasMore` is true then.
   *
   * @example
   * const { items } = await notifier.partials.list({ limit: 50 })
   */
  list(query?: ListQuery): Promise<List<SharedTextRecord>>
  /**
   * Changes the given fields. A change of `html` or `text` makes a new version; queued notifications keep theirs.
   *
   * @throws NotifierError as `get` and `create`, and `version_conflict` if `version` is not the current one
   *
   * @example
   * await notifier.partials.update('footer', { text: 'Acme Ltd, Paris' })
   */
  update(idOrName: string, change: SharedTextChange): Promise<SharedTextRecord>
  /**
   * The versions, newest first; pages as in `list`.
   *
   * @throws NotifierError as `get`
   *
   * @example
   * const { items } = await notifier.layouts.versions('brand')
   */
  versions(idOrName: string, query?: ListQuery): Promise<List<SharedTextVersionRecord>>
  /**
   * One version.
   *
   * @throws NotifierError as `get`
   *
   * @example
   * const { html } = await notifier.layouts.version('brand', 2)
   */
  version(idOrName: string, version: number): Promise<SharedTextVersionRecord>
  /**
   * Makes a new version with the texts of an earlier one.
   *
   * @throws NotifierError as `get` and `create`
   *
   * @example
   * await notifier.layouts.restore('brand', 2)
   */
  restore(idOrName: string, version: number): Promise<SharedTextRecord>
  /**
   * Deletes a layout or partial. Queued notifications keep their version.
   *
   * @throws NotifierError as `get`; `text_in_use` with the first ten `users` in its details, unless the application has
   *   one of the same name, which then replaces it
   *
   * @example
   * await notifier.partials.delete('footer')
   */
  delete(idOrName: string): Promise<void>
}
