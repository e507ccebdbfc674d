import type { ChannelName } from '../../domain/channel.ts'
import { type SuppressionReason, suppressedAddress } from '../../domain/suppression.ts'
import { createGroup, type Group } from '../../gather/group.ts'
import type { AcceptReads } from '../../ports/storage/accept.ts'
import type { SuppressionKey } from '../../ports/storage/suppressions.ts'

/** Tells why an address is suppressed; null: it is not. Rejects when that is unknown: then nothing may be sent. */
export type MatchSuppression = Group<SuppressionKey, SuppressionReason | null>

/** Asks the storage for many at a time. */
export function createMatchSuppression(storage: Pick<AcceptReads, 'suppressions'>): MatchSuppression {
  return createGroup((keys: readonly SuppressionKey[]) => storage.suppressions.match(keys))
}

export function suppressionKey(
  organizationId: string,
  { channel, to }: { readonly channel: ChannelName; readonly to: string },
): SuppressionKey {
  return { organizationId, channel, address: suppressedAddress(channel, to) }
}
