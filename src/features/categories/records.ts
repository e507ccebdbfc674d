import type { Category } from '../../core/notification/category.ts'
import type { RecordKind } from '../../core/records/record-kind.ts'
import { allOf, type RecordStore } from '../../core/records/record-stores.ts'

/** The stored value of a category of an organization. */
export interface CategoryValue extends Category {
  /** Epoch milliseconds. Null: the creation of the record. */
  readonly updatedAt: number | null
}

/** One per organization and id. */
export const categoryKind: RecordKind<CategoryValue> = {
  name: 'categories',
  version: 1,
  notPersonal: 'a setting',
}

/** The id of the record of a category. */
export function categoryRecordId(organizationId: string, id: string): string {
  return `${organizationId}\n${id}`
}

/** All stored categories of an organization, newest first. */
export async function storedCategories(
  store: RecordStore<CategoryValue>,
  organizationId: string,
): Promise<readonly Category[]> {
  const all = await allOf(store, organizationId)
  return all.map(({ value }) => value)
}
