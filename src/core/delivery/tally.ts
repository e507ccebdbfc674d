/** Counts by owner, and together. */
export interface Tally {
  /** Only owners with any. */
  readonly of: ReadonlyMap<string, number>
  all(): number
  add(owner: string): void
  remove(owner: string): void
}

export function createTally(): Tally {
  const of = new Map<string, number>()
  let all = 0
  return {
    of,
    all: () => all,
    add(owner) {
      all += 1
      of.set(owner, (of.get(owner) ?? 0) + 1)
    },
    remove(owner) {
      all -= 1
      const left = (of.get(owner) ?? 0) - 1
      if (left > 0) of.set(owner, left)
      else of.delete(owner)
    },
  }
}
