/** A lane that could use some of the slots that several share. */
export interface Demand {
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
 * @param spare gives to a lane only while more are left than it has, see {@link spared}
 * @returns how many each gets, in the order of the demands
 */
export function share(
  slots: number,
  demands: readonly Demand[],
  used: ReadonlyMap<string, number>,
  turn: number,
  spare = false,
): number[] {
  const given = demands.map(() => 0)
  const lanesOf = lanesByOwner(demands, turn)
  const owners = createLadder<string>()
  for (const owner of lanesOf.keys()) owners.put(owner, used.get(owner) ?? 0)
  let left = slots
  for (let first = owners.take(); first !== null && left > 0; first = owners.take()) {
    const lanes = lanesOf.get(first.item)
    const lane = lanes?.take() ?? null
    // What else this owner has stands as high, or higher.
    if (lanes === undefined || lane === null || (spare && lane.rung >= left)) continue
    left -= 1
    const got = (given[lane.item] ?? 0) + 1
    given[lane.item] = got
    if (got < (demands[lane.item]?.most ?? 0)) lanes.put(lane.item, lane.rung + 1)
    if (lanes.size() > 0) owners.put(first.item, first.rung + 1)
  }
  return given
}

/**
 * What a lane alone may take of `left` slots where each is given only while more are left than it has: those that hang leave
 * some, however many they are, to those that have none yet.
 */
export function spared(left: number, used: number): number {
  return Math.max(0, Math.ceil((left - used) / 2))
}

function lanesByOwner(demands: readonly Demand[], turn: number): Map<string, Ladder<number>> {
  const lanesOf = new Map<string, Ladder<number>>()
  for (let step = 0; step < demands.length; step += 1) {
    const index = (turn + step) % demands.length
    const { owner, used } = demands[index] as Demand
    const lanes = lanesOf.get(owner) ?? createLadder<number>()
    lanes.put(index, used)
    lanesOf.set(owner, lanes)
  }
  return lanesOf
}

/** What stands lowest is taken first, and of one rung what has stood there longest. Nothing is put below what was taken. */
interface Ladder<Item> {
  put(item: Item, rung: number): void
  take(): { readonly item: Item; readonly rung: number } | null
  size(): number
}

function createLadder<Item>(): Ladder<Item> {
  const rungs: { readonly items: Item[]; taken: number }[] = []
  let lowest = 0
  let size = 0
  return {
    size: () => size,
    put(item, rung) {
      while (rungs.length <= rung) rungs.push({ items: [], taken: 0 })
      rungs[rung]?.items.push(item)
      size += 1
    },
    take() {
      for (; lowest < rungs.length; lowest += 1) {
        const rung = rungs[lowest]
        if (rung === undefined || rung.taken === rung.items.length) continue
        size -= 1
        return { item: rung.items[rung.taken++] as Item, rung: lowest }
      }
      return null
    },
  }
}
