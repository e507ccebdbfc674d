import type { Fact } from '../../../src/core/notification/facts.ts'
import type { ExpiredReceipt } from '../../../src/core/ports/storage/expire.ts'

/** A receipt that no notification was found for. */
export interface UnmatchedRow {
  readonly provider: string
  readonly organization: string | null
  readonly fact: string
  readonly received_at: number
}

export function toExpiredReceipt({
  provider,
  organization,
  fact,
  received_at,
}: UnmatchedRow): ExpiredReceipt {
  const { type }: Fact = JSON.parse(fact)
  return { provider, organizationId: organization, type, receivedAt: received_at }
}
