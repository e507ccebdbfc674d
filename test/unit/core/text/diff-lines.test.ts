import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { finish } from '../../../../src/core/loop/steps.ts'
import { type DiffHunk, diffBudget, diffSteps } from '../../../../src/core/text/diff-lines.ts'

const hunksOf = (older: string, newer: string, budget = diffBudget()): DiffHunk[] =>
  finish(diffSteps(older, newer, budget))

const side = ({ lines }: DiffHunk, without: 'removed' | 'added') =>
  lines.filter(({ kind }) => kind !== without).map(({ text }) => text)

/** The newer text, as `patch` would make it of the older one. */
function patched(older: readonly string[], hunks: readonly DiffHunk[]): string[] {
  const made: string[] = []
  let at = 0
  for (const hunk of hunks) {
    made.push(...older.slice(at, hunk.from - 1))
    expect(hunk.to).toBe(made.length + 1)
    const before = side(hunk, 'added')
    expect(older.slice(hunk.from - 1, hunk.from - 1 + before.length)).toEqual(before)
    made.push(...side(hunk, 'removed'))
    at = hunk.from - 1 + before.length
  }
  return [...made, ...older.slice(at)]
}

/** Length of the longest common subsequence, by the textbook's table. */
function common(a: readonly string[], b: readonly string[]): number {
  let row = b.map(() => 0)
  for (const line of a) {
    const above = row
    row = []
    for (const [at, other] of b.entries()) {
      const best = line === other ? (above[at - 1] ?? 0) + 1 : Math.max(above[at] ?? 0, row[at - 1] ?? 0)
      row.push(best)
    }
  }
  return row.at(-1) ?? 0
}

const numbered = (name: string, count: number) =>
  Array.from({ length: count }, (_, at) => `${name}${at}`).join('\n')

describe('differences by lines', () => {
  it('make the newer text of the older one, and are the fewest', async () => {
    const lines = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1, maxLength: 40 })
    await fc.assert(
      fc.property(lines, lines, (a, b) => {
        const hunks = hunksOf(a.join('\n'), b.join('\n'))
        expect(patched(a, hunks)).toEqual(b)
        const removed = hunks.flatMap(({ lines: all }) => all.filter(({ kind }) => kind === 'removed'))
        expect(removed).toHaveLength(a.length - common(a, b))
      }),
    )
  })

  it('come with three lines around them, and in several hunks if they are far apart', () => {
    const older = numbered('line ', 100)
    const newer = older.replace('line 20\n', 'new\n').replace('line 90', 'other')
    const hunks = hunksOf(older, newer)
    expect(hunks.map(({ from, to, lines }) => [from, to, lines.length])).toEqual([
      [18, 18, 8],
      [88, 88, 8],
    ])
  })

  it('know an empty text, and take no end of a line for a difference', () => {
    expect(hunksOf('', 'a')).toEqual([{ from: 1, to: 1, lines: [{ kind: 'added', text: 'a' }] }])
    expect(hunksOf('a\r\nb', 'a\nb')).toEqual([])
  })

  it.each([
    ['many lines', numbered('a', 60_000), numbered('b', 60_000)],
    ['a long line', 'a'.repeat(300_000), 'b'.repeat(300_000)],
    ['many lines of a few kinds', 'a\nb\n'.repeat(60_000), 'b\na\na\n'.repeat(40_000)],
    ['many hunks', numbered('a', 40_000), numbered('a', 40_000).replaceAll(/^a\d*0$/gm, 'x')],
  ])('are bounded: %s', (_, older, newer) => {
    const budget = diffBudget()
    const steps = diffSteps(older, newer, budget)
    let step = steps.next()
    for (; step.done !== true; step = steps.next());
    const lines = step.value.flatMap((hunk) => hunk.lines)
    expect(lines.length).toBeGreaterThan(0)
    expect(lines.length).toBeLessThanOrEqual(2_000)
    expect(lines.reduce((sum, { text }) => sum + text.length, 0)).toBeLessThanOrEqual(128 * 1024)
    expect(budget.complete).toBe(false)
  })
})
