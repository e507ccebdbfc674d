import type { CategoryRecord } from '../../core/notification/category.ts'
import type { CategoryChange, CategoryInput } from './input.ts'

/** Categories of messages, which people turn on and off: those in code, and the organization's own. */
export interface Categories {
  /**
   * Stores a category. Its id is unique in the organization.
   *
   * @throws NotifierError `category_already_exists`, `missing_required_field`, `invalid_parameter`
   *
   * @example
   * await notifier.categories.create({ id: 'news', name: 'Newsletter', default: { email: true, sms: false } })
   */
  create(category: CategoryInput): Promise<CategoryRecord>
  /**
   * By id or former id.
   *
   * @throws NotifierError `not_found`
   *
   * @example
   * const { name, required } = await notifier.categories.get('news')
   */
  get(id: string): Promise<CategoryRecord>
  /**
   * All of them: those in code first, then the organization's own, newest first.
   *
   * @example
   * const { items } = await notifier.categories.list()
   */
  list(): Promise<{ readonly items: readonly CategoryRecord[] }>
  /**
   * Changes the given fields. A category in code changes in the option `categories` only (`invalid_parameter`).
   *
   * @throws NotifierError `not_found`, `invalid_parameter`, `category_already_exists` for a former id of another one,
   * `version_conflict` if `version` is not the current one
   *
   * @example
   * await notifier.categories.update('news', { name: 'Monthly newsletter' })
   */
  update(id: string, change: CategoryChange): Promise<CategoryRecord>
  /**
   * Deletes a stored category. Preferences for it stay, for a category with the same id.
   *
   * @throws NotifierError `not_found`, `invalid_parameter`
   *
   * @example
   * await notifier.categories.delete('news')
   */
  delete(id: string): Promise<void>
}
