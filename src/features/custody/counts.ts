import type { ErasureCounts } from './model.ts'

export type Counted = Partial<ErasureCounts>

export const NO_COUNTS: ErasureCounts = Object.freeze({
  notifications: 0,
  cancelled: 0,
  copies: 0,
  deliveries: 0,
  uploads: 0,
  preferences: 0,
  suppressions: 0,
  received: 0,
  records: 0,
})

export function sum(counts: ErasureCounts, more: Counted): ErasureCounts {
  const names = Object.keys(counts) as (keyof ErasureCounts)[]
  const sums = names.map((name) => [name, counts[name] + (more[name] ?? 0)])
  return Object.fromEntries(sums) as unknown as ErasureCounts
}

/** One record of a kind. */
export function oneOf(kind: string): Counted {
  return kind === 'preferences' || kind === 'suppressions' ? { [kind]: 1 } : { records: 1 }
}
