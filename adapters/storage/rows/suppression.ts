import type { SuppressionReason } from '../../../src/domain/suppression.ts'
import type { Suppression } from '../../../src/ports/storage/suppressions.ts'

export interface SuppressionRow {
  readonly seq: number
  readonly organization: string
  readonly channel: string
  readonly address: string
  readonly reason: SuppressionReason
  readonly source: string | null
  readonly created_at: number
}

export function toSuppression(row: SuppressionRow): Suppression {
  return {
    organizationId: row.organization,
    channel: row.channel,
    address: row.address,
    reason: row.reason,
    source: row.source,
    createdAt: row.created_at,
  }
}
