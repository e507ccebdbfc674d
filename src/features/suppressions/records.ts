import { hash } from 'node:crypto'
import type { ChannelKind } from '../../core/channels/channel-kind.ts'
import type { Kinds } from '../../core/channels/kinds.ts'
import { suppressedAddress } from '../../core/channels/recipient.ts'
import type { SuppressionReason } from '../../core/notification/suppression.ts'
import type { KeepingInsert, RecordRemoval } from '../../core/ports/storage/records.ts'
import type { Follow } from '../../core/ports/storage/storage.ts'
import type { RecordKind } from '../../core/records/record-kind.ts'

/** An address to which an organization sends nothing on a channel. */
export interface SuppressionValue {
  readonly channel: string
  /** The result of `suppressedAddress`. */
  readonly address: string
  readonly reason: SuppressionReason
  /** Origin of the entry, for people. */
  readonly source: string | null
}

export const suppressionKind: RecordKind<SuppressionValue> = {
  name: 'suppressions',
  version: 1,
  list: ({ channel }) => channel,
}

/** Longer addresses are hashed: an id has at most 250 characters. */
const MAX_ADDRESS = 100

/** The id of an entry: one per organization, channel and address. */
export function suppressionId(kind: ChannelKind, organizationId: string, to: string): string {
  return idOf(organizationId, kind.name, suppressedAddress(kind, to))
}

function idOf(organizationId: string, channel: string, address: string): string {
  const named = address.length <= MAX_ADDRESS ? address : `sha256 ${sha256(address)}`
  return `${organizationId}\n${channel}\n${named}`
}

function sha256(text: string): string {
  return hash('sha256', text, 'hex')
}

/** Adds an entry. An existing one stays: a later report never hides the first. */
export function suppressing(
  kind: ChannelKind,
  organizationId: string,
  to: string,
  why: Pick<SuppressionValue, 'reason' | 'source'>,
): KeepingInsert<SuppressionValue> {
  const address = suppressedAddress(kind, to)
  const { reason, source } = why
  return {
    kind: suppressionKind,
    do: 'insert',
    id: idOf(organizationId, kind.name, address),
    organizationId,
    value: { channel: kind.name, address, reason, source },
    ifTaken: 'keep',
  }
}

/** Removes opt-outs, and no entry with another reason: an opt-in does not reverse a bounce or complaint. */
export function optingIn(
  kind: ChannelKind,
  organizationId: string,
  to: string,
): readonly RecordRemoval<SuppressionValue>[] {
  const id = suppressionId(kind, organizationId, to)
  return (['stop', 'unsubscribe'] as const).map((reason) => ({
    kind: suppressionKind,
    do: 'remove',
    id,
    only: { reason },
  }))
}

/** The entries that follow from facts: hard bounces, complaints and opt-outs. */
export function suppressionsOf(kinds: Kinds): Follow {
  return ({ organizationId, channel, to }, facts) =>
    facts.flatMap(({ suppress: reason, provider, address = to }) =>
      reason === undefined
        ? []
        : [suppressing(kinds.of(channel), organizationId, address, { reason, source: provider ?? null })],
    )
}
