import type { Clock } from '../../ports/clock.ts'
import { createCategories } from '../categories/categories.ts'
import { type CategoryFinder, createCategoryFinder } from '../categories/category-finder.ts'
import type { CodeCategories } from '../categories/code-categories.ts'
import type { Kinds } from '../channels/kinds.ts'
import type { Organizations } from '../organizations/organizations.ts'
import type { RecordStores } from '../records/record-stores.ts'
import type { Scoped, Tenant } from '../tenant.ts'
import { createPreferencesInUse, type PreferencesInUse } from './in-use.ts'
import { createPreferenceBook, type PreferenceBook } from './preference-book.ts'
import { createPreferences } from './preferences.ts'

/** What decides whether people want a message: categories and preferences. */
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

/**
 * The use cases of categories and preferences.
 *
 * @param guard refuses calls while the notifier is not running
 */
export function createConsentApi(
  { book, categories }: Consent,
  stores: RecordStores,
  organizations: Organizations,
  kinds: Kinds,
  guard: <Methods extends object>(methods: Methods) => Methods,
): Pick<Scoped<Tenant>, 'categories' | 'preferences'> {
  return {
    categories: guard(createCategories(stores, organizations, categories, kinds)),
    preferences: guard(createPreferences(book, organizations, categories, kinds)),
  }
}
