import type { Verdict } from '../accept/verdict.ts'
import type { ChannelKind } from '../channels/channel-kind.ts'
import type { Fact } from '../notification/facts.ts'
import { suppressionError } from '../notification/suppression.ts'
import type { Message } from '../ports/provider.ts'

/** Facts of an attempt about copies, without its number and provider. */
export type CopyFacts = readonly Fact[]

export const NO_COPIES: CopyFacts = []

/** A message and what is to be recorded about its copies. */
interface Addressed {
  readonly message: Message
  readonly copies: CopyFacts
}

/** Verdicts by the address of a copy that gets none. */
type Unwanted = ReadonlyMap<string, Exclude<Verdict, { kind: 'go' }>>

/** The copies of a message that must not be sent. Null: it has no copies. */
export function unwantedCopies(
  kind: ChannelKind,
  parts: unknown,
  verdictOn: (address: string) => Promise<Verdict>,
): Promise<Unwanted> | null {
  const copies = parts === undefined ? [] : (kind.copiesOf?.(parts) ?? [])
  return copies.length === 0 ? null : unwantedOf(copies, verdictOn)
}

async function unwantedOf(
  copies: readonly string[],
  verdictOn: (address: string) => Promise<Verdict>,
): Promise<Unwanted> {
  const verdicts = await Promise.all(copies.map(verdictOn))
  return new Map(
    copies.flatMap((address, index) => {
      const verdict = verdicts[index]
      return verdict === undefined || verdict.kind === 'go' ? [] : [[address, verdict]]
    }),
  )
}

/** The message without those copies. */
export function withoutCopies<Composed extends Addressed>(
  kind: ChannelKind,
  composed: Composed,
  unwanted: Unwanted,
): Composed {
  return unwanted.size === 0 ? composed : { ...composed, ...leaveOut(kind, composed.message, unwanted) }
}

function leaveOut(kind: ChannelKind, message: Message, unwanted: Unwanted): Addressed {
  const parts = kind.leaveOut?.(message[kind.name], new Set(unwanted.keys()))
  return {
    message: { ...message, [kind.name]: parts },
    copies: [...unwanted].map(([address, verdict]) => factOf(address, verdict)),
  }
}

function factOf(address: string, verdict: Exclude<Verdict, { kind: 'go' }>): Fact {
  const about = { type: 'reported', address } as const
  const left = `The copy to ${address} was left out, because the address`
  if (verdict.kind === 'skip')
    return { ...about, code: 'opted_out', message: `${left} does not want it (${verdict.decidedBy}).` }
  const { code } = suppressionError(verdict.reason)
  return { ...about, code, message: `${left} is suppressed (${verdict.reason}).` }
}
