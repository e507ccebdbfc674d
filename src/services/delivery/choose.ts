import type { ProviderSet } from '../providers.ts'
import type { ProviderState } from './provider-state.ts'

/** Chooses one of the providers that could take a message, of which there is at least one. */
export type Choose = (candidates: readonly ProviderState[]) => ProviderState

/** By the order of preference, or by weight. */
export function createChoose(weights: ProviderSet['weights']): Choose {
  return weights === null ? (candidates) => candidates[0] as ProviderState : createWeighted(weights)
}

/**
 * Smooth weighted round robin: each candidate earns its weight, the richest is chosen and pays what all have earned. Shares
 * are exact over each round, and spread over it. Who is no candidate earns nothing: its share goes to the others, and when
 * it comes back it has nothing to catch up on.
 */
function createWeighted(weights: ReadonlyMap<string, number>): Choose {
  const credit = new Map<string, number>()
  return (candidates) => {
    let total = 0
    let richest = candidates[0] as ProviderState
    for (const candidate of candidates) {
      const { name } = candidate.provider
      const weight = weights.get(name) ?? 0
      total += weight
      credit.set(name, (credit.get(name) ?? 0) + weight)
      if ((credit.get(name) ?? 0) > (credit.get(richest.provider.name) ?? 0)) richest = candidate
    }
    const { name } = richest.provider
    credit.set(name, (credit.get(name) ?? 0) - total)
    return richest
  }
}
