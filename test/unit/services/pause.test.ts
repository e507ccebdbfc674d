import { expect, it } from 'vitest'
import { pause } from '../../../src/services/delivery/pause.ts'
import { fakeClock } from '../../../src/testing/fake-clock.ts'

function paused(stop: AbortSignal) {
  const clock = fakeClock()
  const seen = { ended: false }
  void pause(60_000, stop, clock).then(() => {
    seen.ended = true
  })
  return { clock, seen }
}

it('a pause lasts as long as it was asked for', async () => {
  const { clock, seen } = paused(new AbortController().signal)
  await clock.advance(59_999)
  expect(seen.ended).toBe(false)
  await clock.advance(1)
  expect(seen.ended).toBe(true)
})

it('a pause ends when it is stopped', async () => {
  const stop = new AbortController()
  const { clock, seen } = paused(stop.signal)
  await clock.advance(1_000)
  stop.abort()
  await clock.advance(0)
  expect(seen.ended).toBe(true)
})

it('a pause that was stopped before it began does not begin', async () => {
  const { clock, seen } = paused(AbortSignal.abort())
  await clock.advance(0)
  expect(seen.ended).toBe(true)
})
