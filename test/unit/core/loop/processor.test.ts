import { AsyncLocalStorage } from 'node:async_hooks'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createProcessor } from '../../../../src/core/loop/processor.ts'
import { once, type Steps } from '../../../../src/core/loop/steps.ts'

/** A processor whose clock goes on by a millisecond with each step of {@link work}. */
function world() {
  let now = 0
  const done: string[] = []
  function* work(name: string, count: number): Steps<string> {
    for (let step = 1; step <= count; step += 1) {
      now += 1
      done.push(name)
      if (step < count) yield
    }
    return name
  }
  return { processor: createProcessor({ monotonic: () => now }), done, work }
}

describe('a share of the processor', () => {
  it('does small work at once, without a promise', () => {
    const { processor, work } = world()
    expect(processor.share('a')(work('a', 1))).toBe('a')
  })

  it('interrupts large work after its slice, and goes on with it in later turns', async () => {
    const { processor, done, work } = world()
    const large = processor.share('a')(work('a', 7))
    const turns = [done.length]
    while (done.length < 7) {
      await nextTurn()
      turns.push(done.length)
    }
    expect(turns).toEqual([2, 4, 6, 7])
    expect(await large).toBe('a')
  })

  it('counts what is small, too: a turn has time for so much, and no more', async () => {
    const { processor, done, work } = world()
    const small = Array.from({ length: 5 }, () => processor.share('a')(work('a', 1)))
    expect(done).toHaveLength(2)
    expect(await Promise.all(small)).toHaveLength(5)
  })

  it('delays another organization by a slice for each that is busy', async () => {
    const { processor, done, work } = world()
    const heavy = [...Array(50).keys()].map((index) => processor.share(`heavy_${index % 3}`)(work('x', 40)))
    await processor.share('small')(work('small', 1))
    expect(done.indexOf('small')).toBeLessThanOrEqual(4 * 2)
    await Promise.all(heavy)
    expect(done).toHaveLength(50 * 40 + 1)
  })

  it('goes on with the oldest message of an organization, whatever it asks for next', async () => {
    const { processor, done, work } = world()
    const first = processor.share('a')
    const sent = (async () => {
      await first(work('render 1', 3))
      await first(work('send 1', 3))
    })()
    const others = [2, 3].map((index) => processor.share('a')(work(`render ${index}`, 3)))
    await Promise.all([sent, ...others])
    expect([...new Set(done)]).toEqual(['render 1', 'render 2', 'send 1', 'render 3'])
  })

  it('counts what a step asks for as part of it', async () => {
    const { processor, done, work } = world()
    const share = processor.share('a')
    const inside = share(once(() => share(work('inside', 5))))
    expect(done).toHaveLength(2)
    expect(await inside).toBe('inside')
  })

  it('rejects as the work does, and goes on with others', async () => {
    const { processor, work } = world()
    const share = processor.share('a')
    function* failing(): Steps<never> {
      yield* work('a', 4)
      throw new Error('broken')
    }
    const failed = share(failing())
    const next = processor.share('a')(work('b', 4))
    await expect(failed).rejects.toThrow('broken')
    expect(await next).toBe('b')
  })

  it('runs all steps of a message in its own context', async () => {
    const { processor, work } = world()
    const current = new AsyncLocalStorage<string>()
    const seen = new Set<string>()
    function* watched(name: string): Steps<void> {
      for (const _ of work(name, 5)) {
        seen.add(`${name} in ${current.getStore()}`)
        yield
      }
    }
    await Promise.all(['a', 'b'].map((name) => current.run(name, () => processor.share(name)(watched(name)))))
    expect([...seen].sort()).toEqual(['a in a', 'b in b'])
  })
})
