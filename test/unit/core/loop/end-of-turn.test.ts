import { describe, expect, it } from 'vitest'
import { coalesce } from '../../../../src/core/loop/coalesce.ts'

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** A group whose operation answers without waiting for anything outside, and the sets that it was given. */
function immediate() {
  const sets: number[] = []
  const group = coalesce(async (items: readonly number[]) => {
    sets.push(items.length)
    return items
  })
  return { group, sets }
}

describe('the end of a turn', () => {
  it('takes those who go on together from one group to the next', async () => {
    const [first, second, third] = [immediate(), immediate(), immediate()]
    let turns = 0
    const count = (): void => {
      turns += 1
      if (turns < 100) setImmediate(count)
    }
    setImmediate(count)
    const all = Array.from({ length: 20 }, async (_, item) => {
      await first.group(item)
      // Some take a few steps more than others before they ask for the next thing.
      for (let step = item % 4; step > 0; step -= 1) await null
      await second.group(item)
      await third.group(item)
      return turns
    })
    const ends = await Promise.all(all)
    expect([first.sets, second.sets, third.sets]).toEqual([[20], [20], [20]])
    expect(Math.max(...ends)).toBeLessThanOrEqual(1)
  })

  it('takes those together that arrive in callbacks of their own', async () => {
    const { group, sets } = immediate()
    const all: Promise<number>[] = []
    process.nextTick(() => all.push(group(1)))
    process.nextTick(() => all.push(group(2)))
    queueMicrotask(() => all.push(group(3)))
    await nextTurn()
    await nextTurn()
    expect(await Promise.all(all)).toHaveLength(3)
    expect(sets).toEqual([3])
  })

  it('lets the sockets in between calls that wait for each other', async () => {
    const { group } = immediate()
    let turns = 0
    const count = (): void => {
      turns += 1
      if (turns < 1_000) setImmediate(count)
    }
    setImmediate(count)
    for (let item = 0; item < 50; item += 1) await group(item)
    expect(turns).toBeGreaterThanOrEqual(49)
  })

  it('holds nothing back for an operation that waits for something outside', async () => {
    const sets: number[] = []
    const slow = coalesce(async (items: readonly number[]) => {
      sets.push(items.length)
      await nextTurn()
      await nextTurn()
      return items
    })
    const { group } = immediate()
    const chain = async (item: number): Promise<number> => {
      await slow(item)
      return group(item)
    }
    expect(await Promise.all([chain(1), chain(2)])).toEqual([1, 2])
    expect(await Promise.all([chain(3), group(4)])).toEqual([3, 4])
    expect(sets).toEqual([2, 1])
  })
})
