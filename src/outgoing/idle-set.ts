interface Share<Item> {
  readonly owner: string
  /** Longest idle first. */
  readonly items: Set<Item>
}

/**
 * The idle connections of all owners, up to a maximum. Beyond it, the owner with the most loses the one that has been
 * idle for longest: no owner pushes out those of the others. Each step takes constant time.
 */
export class IdleSet<Item> {
  readonly #most: number
  readonly #shares = new Map<string, Share<Item>>()
  /** By number of items. The last entry is not empty. */
  readonly #bySize: Set<Share<Item>>[] = []
  #size = 0

  constructor(most: number) {
    this.#most = most
  }

  /** @returns the item that has lost its place. Undefined: there was room. */
  add(owner: string, item: Item): Item | undefined {
    let share = this.#shares.get(owner)
    if (share === undefined) {
      share = { owner, items: new Set() }
      this.#shares.set(owner, share)
    }
    this.#take(share)
    share.items.add(item)
    this.#put(share)
    this.#size += 1
    if (this.#size <= this.#most) return undefined
    const [largest] = this.#bySize.at(-1) ?? []
    const [oldest] = largest?.items ?? []
    if (largest !== undefined && oldest !== undefined) this.delete(largest.owner, oldest)
    return oldest
  }

  /** Without effect for an item that is not in the set. */
  delete(owner: string, item: Item): void {
    const share = this.#shares.get(owner)
    if (share?.items.has(item) !== true) return
    this.#take(share)
    share.items.delete(item)
    this.#put(share)
    this.#size -= 1
  }

  #take(share: Share<Item>): void {
    this.#bySize[share.items.size]?.delete(share)
  }

  #put(share: Share<Item>): void {
    const { size } = share.items
    if (size === 0) this.#shares.delete(share.owner)
    else {
      const equal = this.#bySize[size]
      if (equal === undefined) this.#bySize[size] = new Set([share])
      else equal.add(share)
    }
    while (this.#bySize.at(-1)?.size === 0) this.#bySize.pop()
  }
}
