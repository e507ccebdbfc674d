import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type DiffLine, diffSteps } from '../../../src/domain/diff-lines.ts'
import { finish } from '../../../src/domain/steps.ts'

const diffLines = (older: string, newer: string): DiffLine[] => finish(diffSteps(older, newer))

const side = (lines: readonly DiffLine[], without: DiffLine['kind']) =>
  lines.filter(({ kind }) => kind !== without).map(({ text }) => text)

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

describe('differences by lines', () => {
  it('hold both texts, and are the fewest', async () => {
    const lines = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1, maxLength: 14 })
    await fc.assert(
      fc.property(lines, lines, (a, b) => {
        const diff = diffLines(a.join('\n'), b.join('\n'))
        expect(side(diff, 'added')).toEqual(a)
        expect(side(diff, 'removed')).toEqual(b)
        expect(diff.filter(({ kind }) => kind === 'same')).toHaveLength(common(a, b))
      }),
    )
  })

  it('know an empty text, and show very different ones whole', () => {
    expect(diffLines('', 'a')).toEqual([{ kind: 'added', text: 'a' }])
    expect(diffLines('a\r\nb', 'a\nb').map(({ kind }) => kind)).toEqual(['same', 'same'])
    const many = (name: string) => Array.from({ length: 5_000 }, (_, at) => `${name}${at}`).join('\n')
    expect(diffLines(many('a'), many('b'))).toHaveLength(10_000)
  })
})
