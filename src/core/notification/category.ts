import { ALL, type Cells } from './cells.ts'
import type { QuietHours } from './quiet-hours.ts'

/** A category of messages, such as `marketing` or `security`, which people turn on and off. */
export interface Category {
  /** Stable: 1 to 64 lower-case letters, digits and hyphens. */
  readonly id: string
  /** For people. */
  readonly name: string
  /** For people. Null: none. */
  readonly description: string | null
  /** True: its messages are sent regardless of preferences, but never despite a bounce, a complaint or a STOP. */
  readonly required: boolean
  /** Whether people without a preference get its messages, by channel. */
  readonly default: Cells
  /** Value of the header `List-Id` of its mails, without angle brackets. Null: none. */
  readonly listId: string | null
  /** Sender of its mails. Null: that of the provider. */
  readonly from: string | null
  /** Earlier ids, which still name it. */
  readonly formerIds: readonly string[]
  /** When its messages wait, unless a person or an organization decides. Null or absent: never. */
  readonly quietHours?: QuietHours | null | undefined
}

/** The id of the category of messages without one. */
export const DEFAULT_CATEGORY = 'default'

/** Most categories in code, and most stored ones of an organization. */
export const MOST_CATEGORIES = 100

export const CATEGORY_ID: RegExp = /^[a-z0-9-]{1,64}$/

/** A category that is on, optional, and known by its id only: one that has been deleted, for example. */
export function plainCategory(id: string): Category {
  return {
    id,
    name: id,
    description: null,
    required: false,
    default: { [ALL]: true },
    listId: null,
    from: null,
    formerIds: [],
  }
}

/** By id and by former ids; an id outranks a former one. */
export function indexCategories(categories: readonly Category[]): ReadonlyMap<string, Category> {
  const formers = categories.flatMap((category) =>
    category.formerIds.map((id): [string, Category] => [id, category]),
  )
  return new Map([...formers, ...categories.map((category): [string, Category] => [category.id, category])])
}

/** A category of messages. */
export interface CategoryRecord extends Category {
  /** When its messages wait, unless a person or an organization decides. Null: never. */
  readonly quietHours: QuietHours | null
  /** `code`: declared by the application, the same for all organizations; it cannot be changed here. */
  readonly source: 'code' | 'stored'
  /** From 1; rises with every change. Null: declared in code. */
  readonly version: number | null
  /** ISO 8601 UTC. Null: declared in code. */
  readonly createdAt: string | null
  /** ISO 8601 UTC. Null: declared in code. */
  readonly updatedAt: string | null
}
