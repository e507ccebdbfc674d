import type { ChannelKind } from '../channels/channel-kind.ts'
import type { Fact } from '../notification/facts.ts'
import type { Message } from '../ports/provider.ts'
import type { Unwanted } from './judged.ts'

/** Facts of an attempt about copies, without its number and provider. */
export type CopyFacts = readonly Fact[]

export const NO_COPIES: CopyFacts = []

/** A message and what is to be recorded about its copies. */
interface Addressed {
  readonly message: Message
  readonly copies: CopyFacts
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

function factOf(address: string, verdict: NonNullable<ReturnType<Unwanted['get']>>): Fact {
  const about = { type: 'reported', address } as const
  const left = `The copy to ${address} was left out.`
  if (verdict.kind === 'skip') return { ...about, code: 'opted_out', message: `${left} ${verdict.message}` }
  const { code, message } = verdict.error
  return { ...about, code, message: `${left} ${message}` }
}
