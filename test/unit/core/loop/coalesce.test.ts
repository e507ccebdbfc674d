import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { coalesce } from '../../../../src/core/loop/coalesce.ts'
import { settled } from '../../../../src/testing/fake-clock.ts'

/** Runs that end when the test says so. */
function manual() {
  const runs: { readonly items: readonly number[]; answer(): void; fail(error: unknown): void }[] = []
  const run = (items: readonly number[]) =>
    new Promise<readonly string[]>((resolve, reject) => {
      runs.push({ items, answer: () => resolve(items.map((item) => `#${item}`)), fail: reject })
    })
  return { run, runs }
}

describe('coalesce', () => {
  it('takes what is asked in one turn together, and what arrives meanwhile in the next', async () => {
    const { run, runs } = manual()
    const group = coalesce(run)
    const first = [group(1), group(2)]
    await settled()
    const second = [group(3), group(4), group(5)]
    await settled()
    expect(runs.map(({ items }) => items)).toEqual([[1, 2]])
    runs[0]?.answer()
    expect(await Promise.all(first)).toEqual(['#1', '#2'])
    await settled()
    expect(runs.map(({ items }) => items)).toEqual([
      [1, 2],
      [3, 4, 5],
    ])
    runs[1]?.answer()
    expect(await Promise.all(second)).toEqual(['#3', '#4', '#5'])
  })

  it('lets an answer that is a promise be waited for by its caller, and goes on with the next set', async () => {
    let late = (_answer: string): void => {}
    const answer = new Promise<string>((resolve) => (late = resolve))
    const group = coalesce<number, string>(async (items) =>
      items.map((item) => (item === 1 ? answer : `#${item}`)),
    )
    const order: string[] = []
    const first = group(1).then((one) => order.push(one))
    await settled()
    await group(2).then((two) => order.push(two))
    late('#1')
    await first
    expect(order).toEqual(['#2', '#1'])
  })

  it('rejects every caller of a set that failed, and goes on with the next', async () => {
    const { run, runs } = manual()
    const group = coalesce(run)
    const lost = Promise.allSettled([group(1), group(2)])
    await settled()
    const next = group(3)
    const error = new Error('gone')
    runs[0]?.fail(error)
    expect(await lost).toEqual([
      { status: 'rejected', reason: error },
      { status: 'rejected', reason: error },
    ])
    await settled()
    runs[1]?.answer()
    expect(await next).toBe('#3')
    await settled()
    const later = group(4)
    await settled()
    runs[2]?.answer()
    expect(await later).toBe('#4')
  })

  it('survives an operation that throws at once, and one that answers too little', async () => {
    let answers: readonly string[] = []
    const group = coalesce<number, string>(() => {
      if (answers.length === 0) throw new Error('at once')
      return Promise.resolve(answers)
    })
    await expect(group(1)).rejects.toThrow('at once')
    answers = ['one']
    const [first, second] = await Promise.allSettled([group(1), group(2)])
    expect(second?.status).toBe('rejected')
    expect(first?.status).toBe('rejected')
  })

  it('answers each item with its own, in sets no heavier than allowed', async () => {
    const weights = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 40 })
    await fc.assert(
      fc.asyncProperty(weights, async (items) => {
        const sets: number[][] = []
        const run = async (set: readonly number[]) => {
          sets.push([...set])
          return set.map((item) => item * 10)
        }
        const group = coalesce<number, number>(run, { maxWeight: 10, weigh: (item) => item })
        expect(await Promise.all(items.map(group))).toEqual(items.map((item) => item * 10))
        expect(sets.flat()).toEqual(items)
        for (const set of sets) {
          const weight = set.reduce((sum, item) => sum + item, 0)
          expect(weight <= 10 || set.length === 1).toBe(true)
        }
      }),
      { numRuns: 30 },
    )
  })
})
