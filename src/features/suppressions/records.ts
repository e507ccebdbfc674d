import type { ChannelKind } from '../../core/channels/channel-kind.ts'
import type { Kinds } from '../../core/channels/kinds.ts'
import { suppressedAddress } from '../../core/channels/recipient.ts'
import { ERASED_ADDRESS } from '../../core/notification/erased-fact.ts'
import type { SuppressionReason } from '../../core/notification/suppression.ts'
import type { PersonHashes } from '../../core/people/person-hashes.ts'
import type { PersonalRecords } from '../../core/people/personal-records.ts'
import type { KeepingInsert, RecordRemoval } from '../../core/ports/storage/records.ts'
import type { Follow } from '../../core/ports/storage/storage.ts'
import type { RecordKind } from '../../core/records/record-kind.ts'

/** An address to which an organization sends nothing on a channel. */
export interface SuppressionValue {
  readonly channel: string
  /** The result of `suppressedAddress`. Null: erased. */
  readonly address: string | null
  readonly reason: SuppressionReason
  /** Origin of the entry, for people. */
  readonly source: string | null
}

export const suppressionKind: RecordKind<SuppressionValue> = {
  name: 'suppressions',
  version: 1,
  list: ({ channel }) => channel,
}

type Hashes = Pick<PersonHashes, 'address'>

/** The id of an entry: one per organization, channel and address. It outlives the address. */
export function suppressionId(hashes: Hashes, kind: ChannelKind, organizationId: string, to: string): string {
  return `${organizationId}\n${kind.name}\n${hashes.address(kind, to)}`
}

/** Adds an entry. An existing one stays: a later report never hides the first. */
export function suppressing(
  hashes: Hashes,
  kind: ChannelKind,
  organizationId: string,
  to: string,
  why: Pick<SuppressionValue, 'reason' | 'source'>,
): KeepingInsert<SuppressionValue> {
  const { reason, source } = why
  return {
    kind: suppressionKind,
    do: 'insert',
    id: suppressionId(hashes, kind, organizationId, to),
    organizationId,
    value: { channel: kind.name, address: suppressedAddress(kind, to), reason, source },
    ifTaken: 'keep',
  }
}

/** Removes opt-outs, and no entry with another reason: an opt-in does not reverse a bounce or complaint. */
export function optingIn(
  hashes: Hashes,
  kind: ChannelKind,
  organizationId: string,
  to: string,
): readonly RecordRemoval<SuppressionValue>[] {
  const id = suppressionId(hashes, kind, organizationId, to)
  return (['stop', 'unsubscribe'] as const).map((reason) => ({
    kind: suppressionKind,
    do: 'remove',
    id,
    only: { reason },
  }))
}

/** The entries that follow from facts: hard bounces, complaints and opt-outs. What is erased stays so. */
export function suppressionsOf(kinds: Kinds, hashes: Hashes): Follow {
  return ({ organizationId, channel, to }, facts) =>
    facts.flatMap(({ suppress: reason, provider, address = to }) => {
      if (reason === undefined || address === ERASED_ADDRESS) return []
      const why = { reason, source: provider ?? null }
      const insert = suppressing(hashes, kinds.of(channel), organizationId, address, why)
      return to === ERASED_ADDRESS ? { ...insert, value: { ...insert.value, address: null } } : insert
    })
}

/** An entry outlives the address: an erasure does not undo an opt-out. */
export const personalSuppressions = (hashes: Hashes): PersonalRecords<SuppressionValue> => ({
  kind: suppressionKind,
  ids: (organizationId, { address }) =>
    address === null ? [] : [suppressionId(hashes, address.kind, organizationId, address.to)],
  erased: (value) =>
    value.address === null && value.source === null ? value : { ...value, address: null, source: null },
  exported: ({ value: { address, ...value }, createdAt }) => ({
    type: 'suppression',
    ...value,
    to: address,
    createdAt: new Date(createdAt).toISOString(),
  }),
})
