import type { CategoryFinder } from '../categories/index.ts'
import type { PreferenceBook } from './book.ts'

/** What people want: their choices, by category. */
export interface Consent {
  readonly categories: CategoryFinder
  readonly book: PreferenceBook
}
