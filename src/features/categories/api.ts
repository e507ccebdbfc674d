import type { CategoryRecord } from '../../core/notification/category.ts'
import type { CategoryChange, CategoryInput } from './input.ts'

/** Categories of messages, which people turn on and off: those in code, and the organization's own. */
export interface Categories {
  /** @throws NotifierError `category_already_exists`, `missing_required_field`, `invalid_parameter` */
  create(category: CategoryInput): Promise<CategoryRecord>
  /** By id or former id. @throws NotifierError `not_found` */
  get(id: string): Promise<CategoryRecord>
  /** All of them: those in code first, then the organization's own, newest first. */
  list(): Promise<{ readonly items: readonly CategoryRecord[] }>
  /**
   * Changes the given fields. A category in code changes in the option `categories` only (`invalid_parameter`).
   *
   * @throws NotifierError `not_found`, `invalid_parameter`, `category_already_exists` for a former id of another one
   */
  update(id: string, change: CategoryChange): Promise<CategoryRecord>
  /** Preferences for it stay, for a category with the same id. @throws NotifierError `not_found`, `invalid_parameter` */
  delete(id: string): Promise<void>
}
