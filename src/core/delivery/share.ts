/** A lane, or an organization within one, that could use shared slots. */
export interface Demand {
  readonly most: number
  /** Slots in use. */
  readonly used: number
  /** The owner of the lane. */
  readonly owner: string
  /** Need not leave slots to others. */
  readonly exempt?: boolean | undefined
}

/**
 * Divides slots among owners: each goes to the owner with the fewest, and to that owner's lane with the fewest. So
 * owners with many jobs under way leave the next slots to others.
 *
 * @param turn where to begin among equals; changes with each call
 * @param empty number of empty slots, at least `slots`: gives a slot to a lane only while more are empty than it has,
 *   see {@link permittedSlots}. Null: regardless
 * @returns number of slots for each demand, in order
 */
export function share(
  slots: number,
  demands: readonly Demand[],
  used: ReadonlyMap<string, number>,
  turn: number,
  empty: number | null = null,
): number[] {
  const [only] = demands
  return only !== undefined && demands.length === 1
    ? [alone(slots, only, empty)]
    : evenly(slots, demands, used, turn, empty)
}

function evenly(...[slots, demands, used, turn, empty = null]: Parameters<typeof share>): number[] {
  const given = demands.map(() => 0)
  const lanesOf = lanesByOwner(demands, turn)
  const owners = createLevelQueue<string>()
  for (const owner of lanesOf.keys()) owners.put(owner, used.get(owner) ?? 0)
  const kept = empty === null ? null : empty - slots
  let left = slots
  /** The owner's other lanes have as many slots or more. */
  const refused = ({ item, level }: { readonly item: number; readonly level: number }): boolean =>
    kept !== null && demands[item]?.exempt !== true && level >= left + kept
  for (let first = owners.take(); first !== null && left > 0; first = owners.take()) {
    const lanes = lanesOf.get(first.item)
    const lane = lanes?.take() ?? null
    if (lanes === undefined || lane === null || refused(lane)) continue
    left -= 1
    const got = (given[lane.item] ?? 0) + 1
    given[lane.item] = got
    if (got < (demands[lane.item]?.most ?? 0)) lanes.put(lane.item, lane.level + 1)
    if (lanes.size() > 0) owners.put(first.item, first.level + 1)
  }
  return given
}

function alone(slots: number, { most, used, exempt }: Demand, empty: number | null): number {
  const permitted = empty === null || exempt === true ? slots : permittedSlots(empty, used)
  return Math.max(0, Math.min(slots, most, permitted))
}

/**
 * Number of slots a lane may take alone of `empty` ones, if it gets each only while more are empty than it has. So
 * hanging jobs always leave some slots to lanes that have none.
 */
export function permittedSlots(empty: number, used: number): number {
  return Math.max(0, Math.ceil((empty - used) / 2))
}

function lanesByOwner(demands: readonly Demand[], turn: number): Map<string, LevelQueue<number>> {
  const lanesOf = new Map<string, LevelQueue<number>>()
  for (let step = 0; step < demands.length; step += 1) {
    const index = (turn + step) % demands.length
    const { owner, used } = demands[index] as Demand
    const lanes = lanesOf.get(owner) ?? createLevelQueue<number>()
    lanes.put(index, used)
    lanesOf.set(owner, lanes)
  }
  return lanesOf
}

/**
 * A queue by number of slots: the lowest first, and among equals the oldest. No later item is lower than one already
 * taken.
 */
interface LevelQueue<Item> {
  put(item: Item, level: number): void
  take(): { readonly item: Item; readonly level: number } | null
  size(): number
}

function createLevelQueue<Item>(): LevelQueue<Item> {
  const levels: { readonly items: Item[]; taken: number }[] = []
  let lowest = 0
  let size = 0
  return {
    size: () => size,
    put(item, level) {
      while (levels.length <= level) levels.push({ items: [], taken: 0 })
      levels[level]?.items.push(item)
      size += 1
    },
    take() {
      for (; lowest < levels.length; lowest += 1) {
        const level = levels[lowest]
        if (level === undefined || level.taken === level.items.length) continue
        size -= 1
        return { item: level.items[level.taken++] as Item, level: lowest }
      }
      return null
    },
  }
}
