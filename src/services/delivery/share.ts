/** A lane that could use some of the slots that several share. */
export interface Wish {
  readonly most: number
  /** Slots that it has now. */
  readonly used: number
  /** Whose it is. */
  readonly owner: string
}

/**
 * Divides slots among those who share them: each goes to the owner who has the fewest, and of its lanes to the one that
 * has the fewest. So whoever has many under way, because they hang or because there are many, leaves the next to others.
 *
 * @param turn where to begin among equals; another one with each call
 * @returns how many each gets, in the order of the wishes
 */
export function share(
  slots: number,
  wishes: readonly Wish[],
  used: Map<string, number>,
  turn: number,
): number[] {
  const wanted = wishes.reduce((sum, { most }) => sum + most, 0)
  if (wanted <= slots) return wishes.map(({ most }) => most)
  const given = wishes.map(() => 0)
  const has = new Map(used)
  for (let left = slots; left > 0; left -= 1) {
    let next = -1
    let fewest: readonly [owners: number, own: number] = [Infinity, Infinity]
    for (let step = 0; step < wishes.length; step += 1) {
      const index = (turn + step) % wishes.length
      const { most, owner, used: own } = wishes[index] as Wish
      const got = given[index] as number
      if (got >= most) continue
      const rank = [has.get(owner) ?? 0, own + got] as const
      if (rank[0] > fewest[0] || (rank[0] === fewest[0] && rank[1] >= fewest[1])) continue
      next = index
      fewest = rank
    }
    const { owner } = wishes[next] as Wish
    given[next] = (given[next] as number) + 1
    has.set(owner, (has.get(owner) ?? 0) + 1)
  }
  return given
}
