import { type Category, MOST_CATEGORIES } from '../../domain/preferences/category.ts'
import type { RecordKind } from '../../domain/record-kind.ts'
import type { RecordStore } from '../records/record-stores.ts'

/** The stored value of a category of an organization. */
export interface CategoryValue extends Category {
  /** Epoch milliseconds. Null: the creation of the record. */
  readonly updatedAt: number | null
}

/** One per organization and id. */
export const categoryKind: RecordKind<CategoryValue> = { name: 'categories', version: 1 }

/** The id of the record of a category. */
export function categoryRecordId(organizationId: string, id: string): string {
  return `${organizationId}\n${id}`
}

/** All stored categories of an organization. Their number is limited at creation. */
export async function storedCategories(
  store: RecordStore<CategoryValue>,
  organizationId: string,
): Promise<readonly Category[]> {
  // Concurrent creations may exceed the limit a little.
  const page = { limit: 2 * MOST_CATEGORIES, offset: 0 }
  const { items } = await store.list({ organizationId }, page)
  return items.map(({ value }) => value)
}
