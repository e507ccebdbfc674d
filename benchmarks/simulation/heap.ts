/** A binary heap with the smallest key first. */
export interface Heap<Value> {
  push(key: number, value: Value): void
  peek(): { readonly key: number; readonly value: Value } | undefined
  pop(): { readonly key: number; readonly value: Value } | undefined
}

export function createHeap<Value>(): Heap<Value> {
  const entries: { key: number; value: Value }[] = []
  const keyAt = (index: number): number => entries[index]?.key ?? Number.POSITIVE_INFINITY

  function swap(a: number, b: number): void {
    const [first, second] = [entries[a], entries[b]]
    if (first === undefined || second === undefined) return
    entries[a] = second
    entries[b] = first
  }

  return {
    push(key, value) {
      entries.push({ key, value })
      for (let index = entries.length - 1; index > 0; ) {
        const parent = (index - 1) >> 1
        if (keyAt(parent) <= key) break
        swap(index, parent)
        index = parent
      }
    },
    peek: () => entries[0],
    pop() {
      swap(0, entries.length - 1)
      const top = entries.pop()
      for (let index = 0; ; ) {
        const left = 2 * index + 1
        const least = keyAt(left + 1) < keyAt(left) ? left + 1 : left
        if (keyAt(index) <= keyAt(least)) break
        swap(index, least)
        index = least
      }
      return top
    },
  }
}
