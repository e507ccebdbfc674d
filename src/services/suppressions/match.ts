import { type Coalesced, coalesce } from '../../coalesce/coalesce.ts'
import type { ChannelKind } from '../../domain/channel-kind.ts'
import { suppressedAddress } from '../../domain/recipient.ts'
import type { SuppressionReason } from '../../domain/suppression.ts'
import type { AcceptReads } from '../../ports/storage/accept.ts'
import type { SuppressionKey } from '../../ports/storage/suppressions.ts'

/** The reason why an address is suppressed. Null: it is not. Rejects if that is unknown: then nothing may be sent. */
export type MatchSuppression = Coalesced<SuppressionKey, SuppressionReason | null>

/** Joins simultaneous lookups. */
export function createMatchSuppression(storage: Pick<AcceptReads, 'suppressions'>): MatchSuppression {
  return coalesce((keys: readonly SuppressionKey[]) => storage.suppressions.match(keys))
}

export function suppressionKey(kind: ChannelKind, organizationId: string, to: string): SuppressionKey {
  return { organizationId, channel: kind.name, address: suppressedAddress(kind, to) }
}
