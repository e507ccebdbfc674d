import type { LinkTarget } from '../../core/links/link-target.ts'
import type { PersonHashes } from '../../core/people/person-hashes.ts'
import type { CategoryFinder } from '../categories/index.ts'
import type { PreferenceBook } from './book.ts'

/** What people want: their choices, by category. */
export interface Consent {
  readonly categories: CategoryFinder
  readonly book: PreferenceBook
  readonly hashes: PersonHashes
}

/** Opt-outs that come another way than over a page. */
export interface OptOuts {
  /**
   * Turns a category off on the channel of a link, or everything optional if the category does not exist any more. May be
   * repeated.
   *
   * @throws NotifierError `not_found` if the organization does not exist, `service_unavailable`
   */
  optOut(target: LinkTarget): Promise<void>
}
