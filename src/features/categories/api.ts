import type { Category } from './model.ts'

/** A category of messages. */
export interface CategoryRecord extends Category {
  /** `code`: declared by the application, the same for all organizations; it cannot be changed here. */
  readonly source: 'code' | 'stored'
  /** ISO 8601 UTC. Null: declared in code. */
  readonly createdAt: string | null
  /** ISO 8601 UTC. Null: declared in code. */
  readonly updatedAt: string | null
}
