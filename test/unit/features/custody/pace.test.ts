import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createPace } from '../../../../src/features/custody/pace.ts'

const pace = () => createPace({ monotonic: () => 0 })

it('takes one step at a time over all calls, and owners take turns', async () => {
  const of = pace()
  const begun: string[] = []
  let running = 0
  const steps = ['a', 'a', 'a', 'b', 'b', 'c'].map((owner) =>
    of(owner)(async () => {
      running += 1
      begun.push(owner)
      await nextTurn()
      expect(running).toBe(1)
      running -= 1
    }),
  )
  await Promise.all(steps)
  expect(begun).toEqual(['a', 'a', 'b', 'c', 'a', 'b'])
})

it('leaves a turn of the event loop to others after each step', async () => {
  const of = pace()
  const order: string[] = []
  let left = 20
  const other = (): void => {
    order.push('other')
    if (left > 0) setImmediate(other)
  }
  setImmediate(other)
  const call = async (owner: string): Promise<void> => {
    for (let index = 0; index < 5; index += 1)
      await of(owner)(async () => {
        left -= 1
        order.push('step')
      })
  }
  await Promise.all(['a', 'b', 'c', 'd'].map(call))
  expect(order.join(' ')).not.toContain('step step')
  expect(order.filter((each) => each === 'step')).toHaveLength(20)
})

it('rests as long as a step took', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  let now = 0
  const of = createPace({ monotonic: () => now })
  await of('a')(async () => {
    now += 50
  })
  let ran = false
  const second = of('b')(async () => {
    ran = true
  })
  vi.advanceTimersByTime(49)
  await nextTurn()
  expect(ran).toBe(false)
  vi.advanceTimersByTime(1)
  await second
  expect(ran).toBe(true)
})

it('goes on after a step that fails, and after one whose caller is gone', async () => {
  const of = pace()
  const failed = of('a')(async () => {
    throw new Error('broken')
  })
  let ran = false
  const signal = { aborted: false }
  const gone = of(
    'a',
    signal,
  )(async () => {
    ran = true
  })
  const last = of('b')(async () => 'done')
  signal.aborted = true
  await expect(failed).rejects.toThrow('broken')
  await expect(gone).rejects.toMatchObject({ name: 'AbortError' })
  expect([await last, ran]).toEqual(['done', false])
})
