import type { SuppressionReason } from '../../core/notification/suppression.ts'
import type { ListQuery } from '../../core/records/list.ts'

/** A suppressed recipient. */
export interface SuppressionRecord {
  readonly channel: string
  /**
   * E-mail addresses in lower case, their domains in punycode; phone numbers in the present form of their country. Null:
   * erased; the entry stays in force.
   */
  readonly to: string | null
  readonly reason: SuppressionReason
  /** Origin of the entry, for people. */
  readonly source: string | null
  /** ISO 8601 UTC. */
  readonly createdAt: string
}

export interface SuppressionQuery extends ListQuery {
  readonly channel?: string | undefined
  /** Recipient in any spelling, as in a send. Also finds an entry whose address was erased. */
  readonly to?: string | undefined
  readonly reason?: SuppressionReason | undefined
}
