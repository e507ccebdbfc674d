import { createStepCounter, ITEM_CHARACTERS, type Steps } from '../loop/steps.ts'

/** A line of two texts: in both, in the older or in the newer one. */
export interface DiffLine {
  readonly kind: 'same' | 'removed' | 'added'
  readonly text: string
}

/** Lines that differ, with up to three the same before and after, as in a unified diff. */
export interface DiffHunk {
  /** The line of the older text at which it begins, from 1. */
  readonly from: number
  /** The line of the newer text at which it begins, from 1. */
  readonly to: number
  readonly lines: readonly DiffLine[]
}

/** What differences may still take. */
export interface DiffBudget {
  lines: number
  /** UTF-16 units. */
  characters: number
  /** False: lines are missing, or one was cut. */
  complete: boolean
}

/** At most 2,000 lines and 128 Ki characters. */
export function diffBudget(): DiffBudget {
  return { lines: 2_000, characters: 128 * 1024, complete: true }
}

/** Beyond so many differences, texts are shown one after the other: the search grows with their square. */
const MOST_DIFFERENCES = 800
/** Comparisons of two lines, beyond which texts are shown one after the other, too. */
const MOST_COMPARISONS = 2_000_000
/** The same lines around a difference. */
const AROUND = 3

/** So many lines of the older text from `a` become so many of the newer one from `b`. */
interface Change {
  readonly a: number
  readonly removed: number
  readonly b: number
  readonly added: number
}

/** The shortest way from one text to another, line by line (Myers 1986), as far as the budget goes. */
export function* diffSteps(older: string, newer: string, budget: DiffBudget): Steps<DiffHunk[]> {
  const isStepFull = createStepCounter()
  const a = linesOf(older)
  yield
  const b = linesOf(newer)
  yield
  let start = 0
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1
  let end = 0
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end += 1
  yield
  // Numbers are compared faster than lines, however long and alike those are.
  const numbers = new Map<string, number>()
  function* numbered(lines: readonly string[]): Steps<Int32Array> {
    const found = new Int32Array(lines.length - start - end)
    for (let at = 0; at < found.length; at += 1) {
      const line = lines[start + at] ?? ''
      const number = numbers.get(line) ?? numbers.size
      numbers.set(line, number)
      found[at] = number
      if (isStepFull(line.length + ITEM_CHARACTERS)) yield
    }
    return found
  }
  const changes = yield* search(yield* numbered(a), yield* numbered(b))
  const hunks: DiffHunk[] = []
  for (let at = 0; at < changes.length; ) {
    const isFull = budget.lines <= 0 || budget.characters <= 0
    if (isFull) budget.complete = false
    if (isFull) break
    let last = at
    while (isNear(changes[last], changes[last + 1])) last += 1
    hunks.push(hunkOf(a, b, changes.slice(at, last + 1), start, budget))
    at = last + 1
    if (isStepFull(ITEM_CHARACTERS * (hunks.at(-1)?.lines.length ?? 0))) yield
  }
  return hunks
}

function linesOf(text: string): readonly string[] {
  if (text === '') return []
  const lines = text.split('\n')
  return text.includes('\r\n') ? lines.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line)) : lines
}

/** True: the lines between two changes are all shown, so that both are in one hunk. */
function isNear(one: Change | undefined, next: Change | undefined): boolean {
  return one !== undefined && next !== undefined && next.a - (one.a + one.removed) <= 2 * AROUND
}

function hunkOf(
  a: readonly string[],
  b: readonly string[],
  changes: readonly Change[],
  start: number,
  budget: DiffBudget,
): DiffHunk {
  const lines: DiffLine[] = []
  function show(kind: DiffLine['kind'], source: readonly string[], from: number, to: number): void {
    for (let at = from; at < Math.min(to, source.length); at += 1) {
      const line = source[at] ?? ''
      const text = line.slice(0, Math.max(0, budget.characters))
      if (budget.lines <= 0 || text.length < line.length) budget.complete = false
      if (budget.lines <= 0 || (text === '' && line !== '')) return
      budget.lines -= 1
      budget.characters -= text.length
      lines.push({ kind, text })
    }
  }
  const first = changes[0] ?? { a: 0, b: 0, removed: 0, added: 0 }
  const before = Math.min(AROUND, start + first.a)
  let shown = start + first.a - before
  for (const { a: from, removed, b: to, added } of changes) {
    show('same', a, shown, start + from)
    show('removed', a, start + from, start + from + removed)
    show('added', b, start + to, start + to + added)
    shown = start + from + removed
  }
  show('same', a, shown, shown + AROUND)
  return { from: start + first.a - before + 1, to: start + first.b - before + 1, lines }
}

/** Where each diagonal was left before each difference, from diagonal `-d - 1` to `d + 1`. */
type Trace = readonly Int32Array[]

/** The changes in order; a single one if there are too many differences. */
function* search(a: Int32Array, b: Int32Array): Steps<Change[]> {
  if (a.length + b.length === 0) return []
  const most = Math.min(a.length + b.length, MOST_DIFFERENCES)
  const middle = most + 1
  const reached = new Int32Array(2 * most + 3)
  const trace: Int32Array[] = []
  let comparisons = 0
  for (let d = 0; d <= most && comparisons < MOST_COMPARISONS; d += 1) {
    trace.push(reached.slice(middle - d - 1, middle + d + 2))
    for (let k = -d; k <= d; k += 2) {
      const from = startOf(reached, middle + k, k, d)
      let x = from
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x += 1
      comparisons += x - from + 1
      reached[middle + k] = x
      if (x >= a.length && x - k >= b.length) return changesIn(trace, a.length, b.length)
    }
    yield
  }
  return [{ a: 0, removed: a.length, b: 0, added: b.length }]
}

/** Where a diagonal is entered by the difference that leads onto it. */
function startOf(reached: Int32Array, at: number, k: number, d: number): number {
  if (d === 0) return 0
  return goesDown(reached, at, k, d) ? (reached[at + 1] ?? 0) : (reached[at - 1] ?? 0) + 1
}

function goesDown(reached: Int32Array, at: number, k: number, d: number): boolean {
  return k === -d || (k !== d && (reached[at - 1] ?? 0) < (reached[at + 1] ?? 0))
}

function changesIn(trace: Trace, lengthA: number, lengthB: number): Change[] {
  const backward: Change[] = []
  let k = lengthA - lengthB
  for (let d = trace.length - 1; d > 0; d -= 1) {
    const reached = trace[d] ?? new Int32Array()
    const at = d + 1 + k
    const down = goesDown(reached, at, k, d)
    const x = startOf(reached, at, k, d)
    const one = down
      ? { a: x, removed: 0, b: x - k - 1, added: 1 }
      : { a: x - 1, removed: 1, b: x - k, added: 0 }
    const next = backward.at(-1)
    if (next !== undefined && next.a === one.a + one.removed && next.b === one.b + one.added)
      backward[backward.length - 1] = {
        a: one.a,
        removed: one.removed + next.removed,
        b: one.b,
        added: one.added + next.added,
      }
    else backward.push(one)
    k += down ? 1 : -1
  }
  return backward.reverse()
}
