import type { Clock } from '../../core/ports/clock.ts'
import type { RecordStores } from '../../core/records/record-stores.ts'
import type { CodeCategories } from '../categories/index.ts'
import { type CategoryFinder, createCategoryFinder } from '../categories/index.ts'
import { createPreferenceBook, type PreferenceBook } from './book.ts'
import { createPreferencesInUse, type PreferencesInUse } from './in-use.ts'

/** Decides whether people want a message, by categories and preferences. */
export interface Consent {
  readonly categories: CategoryFinder
  readonly inUse: PreferencesInUse
  readonly book: PreferenceBook
}

export function createConsent(
  stores: RecordStores,
  { categories, clock }: { readonly categories: CodeCategories; readonly clock: Clock },
): Consent {
  const inUse = createPreferencesInUse(stores, clock)
  return {
    categories: createCategoryFinder(stores, categories, clock),
    inUse,
    book: createPreferenceBook(stores, inUse),
  }
}
