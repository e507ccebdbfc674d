import { expect, it } from 'vitest'
import { createProviderState } from '../../../src/services/delivery/provider-state.ts'
import { providerOf } from '../../../src/services/providers.ts'
import { recordingChannel } from '../../support/recording-channel.ts'
import { virtualTime } from '../../support/virtual-time.ts'

function create() {
  const clock = virtualTime()
  let woken = 0
  const state = createProviderState(providerOf(recordingChannel({ maxConcurrent: 4 })), clock, () => {
    woken += 1
  })
  return { clock, state, woken: () => woken }
}

it('has as many slots as its provider allows', async () => {
  const { state } = create()
  let end = (): void => {}
  const task = new Promise<void>((resolve) => {
    end = resolve
  })
  const runs = [1, 2, 3].map(() => state.run(() => task))
  expect(state.free()).toBe(1)
  runs.push(
    state.run(() => task),
    state.run(() => task),
  )
  expect(state.free()).toBe(0)
  end()
  await Promise.all(runs)
  expect(state.free()).toBe(4)
})

it('rests as long as it is told, then has one slot to show that it works', async () => {
  const { clock, state, woken } = create()
  state.faulted(30_000)
  expect([state.paused(), state.free()]).toEqual([true, 0])
  await clock.advance(29_999)
  expect([state.paused(), woken()]).toEqual([true, 0])
  await clock.advance(1)
  expect([state.paused(), state.free(), woken()]).toEqual([false, 1, 1])
  state.succeeded()
  expect(state.free()).toBe(4)
})

it('takes faults that come together as one, and rests longer with each that follows a rest', async () => {
  const { clock, state } = create()
  const rests: number[] = []
  for (let round = 0; round < 8; round += 1) {
    for (let together = 0; together < 10; together += 1) state.faulted(30_000)
    let restMs = 0
    while (state.paused()) {
      await clock.advance(30_000)
      restMs += 30_000
    }
    rests.push(restMs)
  }
  expect(rests.map((ms) => ms / 1_000)).toEqual([30, 60, 120, 240, 300, 300, 300, 300])
  state.succeeded()
  state.faulted(30_000)
  await clock.advance(30_000)
  expect(state.paused()).toBe(false)
})

it('keeps to a long hint', async () => {
  const { clock, state } = create()
  state.faulted(3_600_000)
  await clock.advance(3_599_999)
  expect(state.paused()).toBe(true)
})

it('rests from the third passing fault in a row, and at once when its probe fails', async () => {
  const { clock, state } = create()
  state.faulted(null)
  state.faulted(null)
  state.succeeded()
  state.faulted(null)
  state.faulted(null)
  expect([state.paused(), state.free()]).toEqual([false, 4])
  state.faulted(null)
  expect(state.paused()).toBe(true)
  await clock.advance(1_000)
  expect([state.paused(), state.free()]).toEqual([false, 1])
  state.faulted(null)
  await clock.advance(1_999)
  expect(state.paused()).toBe(true)
})

it('is not moved by a wall clock that jumps', () => {
  const { clock, state } = create()
  state.faulted(30_000)
  clock.step(86_400_000)
  expect(state.paused()).toBe(true)
  clock.step(-2 * 86_400_000)
  expect(state.paused()).toBe(true)
})
