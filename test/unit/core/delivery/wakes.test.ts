import { expect, it } from 'vitest'
import { createWakes } from '../../../../src/core/delivery/wakes.ts'
import { fakeClock } from '../../../../src/testing/fake-clock.ts'

function create() {
  const clock = fakeClock()
  const seen = { woken: 0, timers: 0 }
  const wakes = createWakes(
    {
      ...clock,
      timer(delayMs, callback) {
        seen.timers += 1
        const cancel = clock.timer(delayMs, callback)
        return () => {
          seen.timers -= 1
          cancel()
        }
      },
    },
    () => {
      seen.woken += 1
    },
  )
  return { clock, wakes, seen }
}

it('wakes once at each time, whoever asked for it and how often', async () => {
  const { clock, wakes, seen } = create()
  for (const ms of [10, 10, 20, -5, 0, 1]) wakes.in(ms)
  await clock.advance(1)
  expect(seen.woken).toBe(1)
  await clock.advance(9)
  expect(seen.woken).toBe(2)
  wakes.in(10)
  await clock.advance(10)
  expect(seen).toEqual({ woken: 3, timers: 3 })
})

it('leaves no timer after its end, and holds none whose time has come', async () => {
  const { clock, wakes, seen } = create()
  wakes.in(10)
  wakes.in(20)
  await clock.advance(10)
  wakes.close()
  expect(seen).toEqual({ woken: 1, timers: 1 })
  wakes.close()
  wakes.in(30)
  await clock.advance(60_000)
  expect(seen).toEqual({ woken: 1, timers: 1 })
})
