import type { Steps } from './steps.ts'

/** A line of two texts: in both, in the older or in the newer one. */
export interface DiffLine {
  readonly kind: 'same' | 'removed' | 'added'
  readonly text: string
}

/** Beyond so many differences, texts are shown one after the other: the search grows with their square. */
const MOST_DIFFERENCES = 800

/** The shortest way from one text to another, line by line (Myers 1986). */
export function* diffSteps(older: string, newer: string): Steps<DiffLine[]> {
  const a = older === '' ? [] : older.split(/\r?\n/)
  const b = newer === '' ? [] : newer.split(/\r?\n/)
  let start = 0
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1
  let end = 0
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end += 1
  return [
    ...all('same', a.slice(0, start)),
    ...(yield* middle(a.slice(start, a.length - end), b.slice(start, b.length - end))),
    ...all('same', a.slice(a.length - end)),
  ]
}

function* middle(a: readonly string[], b: readonly string[]): Steps<DiffLine[]> {
  const trace = yield* search(a, b)
  if (trace === null) return [...all('removed', a), ...all('added', b)]
  const backward: DiffLine[] = []
  let x = a.length
  let k = a.length - b.length
  for (const [d, reached] of [...trace.entries()].reverse()) {
    const start = d === 0 ? 0 : startOf(reached, k, d)
    backward.push(...all('same', a.slice(start, x)).reverse())
    if (d === 0) break
    const down = goesDown(reached, k, d)
    backward.push(
      down ? { kind: 'added', text: b[start - k - 1] ?? '' } : { kind: 'removed', text: a[start - 1] ?? '' },
    )
    x = down ? start : start - 1
    k += down ? 1 : -1
  }
  return backward.reverse()
}

/** How far each diagonal was reached before each difference; null: there are too many. */
function* search(a: readonly string[], b: readonly string[]): Steps<Map<number, number>[] | null> {
  const reached = new Map<number, number>([[1, 0]])
  const trace: Map<number, number>[] = []
  for (let d = 0; d <= Math.min(a.length + b.length, MOST_DIFFERENCES); d += 1) {
    yield
    trace.push(new Map(reached))
    for (let k = -d; k <= d; k += 2) {
      const x = alongSame(a, b, startOf(reached, k, d), k)
      reached.set(k, x)
      if (x >= a.length && x - k >= b.length) return trace
    }
  }
  return null
}

function goesDown(reached: ReadonlyMap<number, number>, k: number, d: number): boolean {
  return k === -d || (k !== d && (reached.get(k - 1) ?? 0) < (reached.get(k + 1) ?? 0))
}

/** Where a diagonal is entered by the difference that leads onto it. */
function startOf(reached: ReadonlyMap<number, number>, k: number, d: number): number {
  return goesDown(reached, k, d) ? (reached.get(k + 1) ?? 0) : (reached.get(k - 1) ?? 0) + 1
}

function alongSame(a: readonly string[], b: readonly string[], from: number, k: number): number {
  let x = from
  while (x < a.length && x - k < b.length && a[x] === b[x - k]) x += 1
  return x
}

function all(kind: DiffLine['kind'], texts: readonly string[]): DiffLine[] {
  return texts.map((text) => ({ kind, text }))
}
