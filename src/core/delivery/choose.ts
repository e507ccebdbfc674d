import type { ProviderSet } from '../channels/providers.ts'
import type { ProviderState } from './provider-state.ts'

/** Chooses one of at least one available provider. */
export type Choose = (candidates: readonly ProviderState[]) => ProviderState

/** By order of preference, or by weight. */
export function createChoose(weights: ProviderSet['weights']): Choose {
  return weights === null ? (candidates) => candidates[0] as ProviderState : createWeighted(weights)
}

/**
 * Smooth weighted round-robin: each candidate earns its weight; the one with the highest credit is chosen and pays the
 * sum. Shares are exact over each round and evenly spread. A provider that is no candidate earns nothing: the others
 * get its share, and it does not catch up later.
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
