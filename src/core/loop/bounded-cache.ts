/** What was used last, up to a size. */
export interface BoundedCache<Value extends object> {
  /** Marks the entry as the most recently used. */
  get(key: string): Value | undefined
  /** Drops the least recently used entries while there is too much. */
  set(key: string, value: Value, size: number): void
}

/** @param most the sum of the sizes of its entries */
export function createBoundedCache<Value extends object>(most: number): BoundedCache<Value> {
  const entries = new Map<string, { readonly value: Value; readonly size: number }>()
  let sum = 0

  function forget(key: string): void {
    sum -= entries.get(key)?.size ?? 0
    entries.delete(key)
  }

  return {
    get(key) {
      const known = entries.get(key)
      if (known === undefined) return undefined
      entries.delete(key)
      entries.set(key, known)
      return known.value
    },
    set(key, value, size) {
      forget(key)
      entries.set(key, { value, size })
      sum += size
      for (const oldest of entries.keys()) {
        if (sum <= most) break
        forget(oldest)
      }
    },
  }
}
