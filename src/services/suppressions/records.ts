import type { SuppressionReason } from '../../domain/suppression.ts'
import type { ListQuery } from '../list.ts'

/** A recipient that gets nothing more on a channel. */
export interface SuppressionRecord {
  readonly channel: string
  /** E-mail addresses in lower case, their domains in punycode. */
  readonly to: string
  readonly reason: SuppressionReason
  /** Where it comes from, for people. */
  readonly source: string | null
  /** ISO 8601 UTC. */
  readonly createdAt: string
}

export interface SuppressionQuery extends ListQuery {
  readonly channel?: string | undefined
}
