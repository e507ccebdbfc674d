import type { Cells } from '../../domain/preferences/cells.ts'

/** A category of messages. */
export interface CategoryRecord {
  readonly id: string
  readonly name: string
  readonly description: string | null
  readonly required: boolean
  /** By channel: on or off without a preference. `*` stands for all channels that are not named. */
  readonly default: Cells
  readonly listId: string | null
  readonly from: string | null
  readonly formerIds: readonly string[]
  /** `code`: declared by the application, the same for all organizations; it cannot be changed here. */
  readonly source: 'code' | 'stored'
  /** ISO 8601 UTC. Null: declared in code. */
  readonly createdAt: string | null
  /** ISO 8601 UTC. Null: declared in code. */
  readonly updatedAt: string | null
}
