import { type Coalesced, coalesce } from '../../coalesce/coalesce.ts'
import type { ChannelKind } from '../../domain/channel-kind.ts'
import type { SuppressionReason } from '../../domain/suppression.ts'
import type { AcceptReads } from '../../ports/storage/accept.ts'
import type { SuppressionKey } from '../../ports/storage/suppressions.ts'

/** Tells why an address is suppressed; null: it is not. Rejects when that is unknown: then nothing may be sent. */
export type MatchSuppression = Coalesced<SuppressionKey, SuppressionReason | null>

/** Asks the storage for many at a time. */
export function createMatchSuppression(storage: Pick<AcceptReads, 'suppressions'>): MatchSuppression {
  return coalesce((keys: readonly SuppressionKey[]) => storage.suppressions.match(keys))
}

export function suppressionKey(kind: ChannelKind, organizationId: string, to: string): SuppressionKey {
  return { organizationId, channel: kind.name, address: suppressedAddress(kind, to) }
}

/** The spelling under which an address is kept and looked for, so that another one does not get around the list. */
export function suppressedAddress({ canonical }: ChannelKind, to: string): string {
  return canonical === undefined ? to : canonical(to)
}
