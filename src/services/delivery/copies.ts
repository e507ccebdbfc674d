import type { ChannelKind } from '../../domain/channel-kind.ts'
import type { Fact } from '../../domain/facts.ts'
import type { Category } from '../../domain/preferences/category.ts'
import { judge } from '../../domain/preferences/precedence.ts'
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

/** Reasons by suppressed address. */
type Suppressed = ReadonlyMap<string, SuppressionReason>

/**
 * The suppressed recipients of a message's copies. Null: it has no copies.
 *
 * @param category a required one also goes to copies that have unsubscribed
 */
export function matchCopies(
  kind: ChannelKind,
  organizationId: string,
  parts: unknown,
  category: Category,
  match: MatchSuppression,
): Promise<Suppressed> | null {
  const copies = parts === undefined ? [] : (kind.copiesOf?.(parts) ?? [])
  if (copies.length === 0) return null
  return matchAll(copies, async (address) => {
    const suppression = await match(suppressionId(kind, organizationId, address))
    const judged = judge({ channel: kind.name, category, suppression, organization: null, person: [] })
    return judged.kind === 'blocked' ? judged.reason : null
  })
}

async function matchAll(
  copies: readonly string[],
  reasonOf: (address: string) => Promise<SuppressionReason | null>,
): Promise<Suppressed> {
  const reasons = await Promise.all(copies.map(reasonOf))
  const suppressed = copies.flatMap((address, index): [string, SuppressionReason][] => {
    const why = reasons[index] ?? null
    return why === null ? [] : [[address, why]]
  })
  return new Map(suppressed)
}

/** The message without suppressed copies. */
export function withoutSuppressed<Composed extends Addressed>(
  kind: ChannelKind,
  composed: Composed,
  copies: Suppressed,
): Composed {
  return copies.size === 0 ? composed : { ...composed, ...leaveOut(kind, composed.message, copies) }
}

function leaveOut(kind: ChannelKind, message: Message, copies: Suppressed): Addressed {
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
