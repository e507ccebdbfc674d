import { getEventListeners } from 'node:events'
import { expect, it } from 'vitest'
import { pause } from '../../../../src/core/delivery/pause.ts'
import { fakeClock } from '../../../../src/testing/fake-clock.ts'

function paused(stop: AbortSignal) {
  const clock = fakeClock()
  const seen = { ended: false, timers: 0 }
  const { timer } = clock
  clock.timer = (delayMs, callback) => {
    seen.timers += 1
    const cancel = timer(delayMs, callback)
    return () => {
      seen.timers -= 1
      cancel()
    }
  }
  void pause(60_000, stop, clock).then(() => {
    seen.ended = true
  })
  return { clock, seen }
}

it('a pause lasts as long as it was asked for', async () => {
  const { signal } = new AbortController()
  const { clock, seen } = paused(signal)
  await clock.advance(59_999)
  expect(seen.ended).toBe(false)
  await clock.advance(1)
  expect(seen).toEqual({ ended: true, timers: 0 })
  // Its signal may be that of the whole process.
  expect(getEventListeners(signal, 'abort')).toEqual([])
})

it('a pause ends when it is stopped', async () => {
  const stop = new AbortController()
  const { clock, seen } = paused(stop.signal)
  await clock.advance(1_000)
  stop.abort()
  await clock.advance(0)
  expect(seen).toEqual({ ended: true, timers: 0 })
})

it('a pause that was stopped before it began does not begin', async () => {
  const { clock, seen } = paused(AbortSignal.abort())
  await clock.advance(0)
  expect(seen).toEqual({ ended: true, timers: 0 })
})
