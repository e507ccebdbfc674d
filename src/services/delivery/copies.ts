import type { ChannelKind } from '../../domain/channel-kind.ts'
import type { Fact } from '../../domain/facts.ts'
import type { NotificationFailure } from '../../domain/notification.ts'
import { type SuppressionReason, suppressionError } from '../../domain/suppression.ts'
import type { Message } from '../../ports/provider.ts'
import { suppressionId } from '../suppressions/kind.ts'
import type { MatchSuppression } from '../suppressions/match.ts'

/** Facts of an attempt about copies, without its number and provider. */
export type CopyFacts = readonly Fact[]

export const NO_COPIES: CopyFacts = []

/** A message and what is to be recorded about its copies. */
interface Addressed {
  readonly message: Message
  readonly copies: CopyFacts
}

/** The suppressions of a message's addressees. */
interface Matched {
  /** Of the recipient. Null: not suppressed. */
  readonly reason: SuppressionReason | null
  /** The suppressed recipients of copies. */
  readonly copies: ReadonlyMap<string, SuppressionReason>
}

/** Looks up the recipient, and those of copies with it in one query. Without copies: the reason, or null. */
export function matchAddressees(
  kind: ChannelKind,
  organizationId: string,
  to: string,
  parts: unknown,
  match: MatchSuppression,
): Promise<SuppressionReason | Matched | null> {
  const copies = parts === undefined ? [] : (kind.copiesOf?.(parts) ?? [])
  const reasonOf = (address: string) => match(suppressionId(kind, organizationId, address))
  return copies.length === 0 ? reasonOf(to) : matchAll(to, copies, reasonOf)
}

async function matchAll(
  to: string,
  copies: readonly string[],
  reasonOf: (address: string) => Promise<SuppressionReason | null>,
): Promise<Matched> {
  const [reason = null, ...others] = await Promise.all([to, ...copies].map(reasonOf))
  const suppressed = copies.flatMap((address, index): [string, SuppressionReason][] => {
    const why = others[index] ?? null
    return why === null ? [] : [[address, why]]
  })
  return { reason, copies: new Map(suppressed) }
}

/**
 * The message without suppressed copies, or why there is none.
 *
 * @param matched the result of {@link matchAddressees}
 */
export function withoutSuppressed<Composed extends Addressed>(
  kind: ChannelKind,
  composed: Composed,
  matched: SuppressionReason | Matched | null,
): Composed | NotificationFailure {
  if (matched === null) return composed
  if (typeof matched === 'string') return suppressionError(matched)
  if (matched.reason !== null) return suppressionError(matched.reason)
  return matched.copies.size === 0 ? composed : { ...composed, ...leaveOut(kind, composed.message, matched) }
}

function leaveOut(kind: ChannelKind, message: Message, { copies }: Matched): Addressed {
  const parts = kind.leaveOut?.(message[kind.name], new Set(copies.keys()))
  return {
    message: { ...message, [kind.name]: parts },
    copies: [...copies].map(([address, reason]) => ({
      type: 'reported',
      address,
      code: suppressionError(reason).code,
      message: `The copy to ${address} was left out, because the address is suppressed (${reason}).`,
    })),
  }
}
