import { describe, expect, it } from 'vitest'
import type { ProviderState } from '../../../../src/core/delivery/provider-state.ts'
import {
  faultReason,
  freeLater,
  freeNow,
  freeOfAll,
  isPaused,
  message,
  providerStates,
} from '../../../support/provider-states.ts'

describe('the state of a provider in several processes', () => {
  const MANY = 5

  it('is paused in all of them within a second of a fault in one', async () => {
    const { clock, states, state, events } = providerStates(MANY)
    expect(await freeOfAll(states)).toEqual([4, 4, 4, 4, 4])
    state.faulted(30_000, faultReason)
    expect(await freeLater(clock, states)).toEqual([0, 0, 0, 0, 0])
    expect(states.map((one) => one.pausedMs())).toEqual([29_000, 29_000, 29_000, 29_000, 29_000])
    expect(states.map((one) => one.health())).toMatchObject([
      {
        state: 'paused',
        code: 'provider_unavailable',
        pausedUntil: new Date(clock.now() + 29_000).toISOString(),
      },
      ...Array.from({ length: MANY - 1 }, () => ({ state: 'paused', code: null })),
    ])
    expect(events).toHaveLength(1)
  })

  it('lets one message of all processes probe, then serves all again', async () => {
    const { clock, states, state, events } = providerStates(MANY)
    state.faulted(30_000, faultReason)
    await freeLater(clock, states)
    await clock.advance(29_000)
    for (let second = 0; second < 3; second += 1) {
      const free = await freeLater(clock, states)
      expect(free.reduce((sum, one) => sum + one, 0)).toBe(1)
      for (const one of states) one.giveBack()
    }
    await freeOfAll(states)
    const chosen = states.find((one) => one.free() === 1) as ProviderState
    const end = message(chosen)
    expect(await freeLater(clock, states)).toEqual([0, 0, 0, 0, 0])
    chosen.succeeded()
    await end()
    expect(await freeLater(clock, states)).toEqual([4, 4, 4, 4, 4])
    expect(events.map(({ event }) => event)).toEqual(['provider.paused', 'provider.resumed'])
  })

  it('is paused in all of them again when the probe fails, and is probed again', async () => {
    const { clock, states, state } = providerStates(3)
    state.faulted(30_000, faultReason)
    await freeLater(clock, states)
    await clock.advance(29_000)
    await freeOfAll(states)
    const chosen = states.find((one) => one.free() === 1) as ProviderState
    const end = message(chosen)
    chosen.faulted(30_000, faultReason)
    await end()
    expect(await freeLater(clock, states)).toEqual([0, 0, 0])
    expect(states.every(isPaused)).toBe(true)
    await clock.advance(60_000)
    expect((await freeOfAll(states)).reduce((sum, one) => sum + one, 0)).toBe(1)
  })

  it('asks at most once a second whether another process still probes, and has no free slot until then', async () => {
    let asked = 0
    const { clock, states, state, woken } = providerStates(2, (limiter) => ({
      ...limiter,
      consume(checks) {
        asked += 1
        return limiter.consume(checks)
      },
    }))
    state.faulted(30_000, faultReason)
    await clock.advance(30_000)
    expect(await freeNow(state)).toBe(1)
    message(state)
    const other = states[1] as ProviderState
    asked = 0
    for (let round = 0; round < 10; round += 1) expect([await freeNow(other), other.room()]).toEqual([0, 0])
    expect(asked).toBe(1)
    const before = woken()
    await clock.advance(1_000)
    expect([woken() - before, other.room()]).toEqual([1, 1])
    expect([await freeNow(other), asked]).toEqual([0, 2])
  })

  it('lets another process probe when the probing one has died', async () => {
    const { clock, states, state } = providerStates(2)
    state.faulted(30_000, faultReason)
    await clock.advance(30_000)
    expect(await freeNow(state)).toBe(1)
    message(state)
    const other = states[1] as ProviderState
    expect(await freeNow(other)).toBe(0)
    // Its timeout, and what a provider may take to notice.
    await clock.advance(33_999)
    expect(await freeNow(other)).toBe(0)
    await clock.advance(1)
    expect(await freeNow(other)).toBe(1)
  })

  it('lets another process probe when the probe ended without an answer', async () => {
    const { clock, states, state } = providerStates(2)
    state.faulted(30_000, faultReason)
    await clock.advance(30_000)
    expect(await freeNow(state)).toBe(1)
    const end = message(state)
    const other = states[1] as ProviderState
    expect(await freeNow(other)).toBe(0)
    await end()
    await clock.advance(1_000)
    expect(await freeNow(other)).toBe(1)
  })

  it('lets another process probe when the claim for the probe brought no message', async () => {
    const { clock, states, state } = providerStates(2)
    state.faulted(30_000, faultReason)
    await clock.advance(30_000)
    expect(await freeNow(state)).toBe(1)
    state.giveBack()
    expect(await freeNow(states[1] as ProviderState)).toBe(1)
  })

  it('is paused longer after each pause that another process has met too, and wakes at its end', async () => {
    const { clock, states, state, woken } = providerStates(2)
    const other = states[1] as ProviderState
    other.faulted(1_000, { code: 'invalid_sender', message: 'Not ours.' })
    await clock.advance(1_000)
    expect(await freeNow(state)).toBe(1)
    state.faulted(1_000, faultReason)
    await clock.advance(1_000)
    expect([await freeNow(other), other.pausedMs()]).toEqual([0, 1_000])
    expect(other.health()).toMatchObject({ state: 'paused', code: null })
    const before = woken()
    await clock.advance(1_000)
    expect(woken() - before).toBe(2)
    expect(await freeNow(other)).toBe(1)
    other.faulted(null, faultReason)
    expect(other.pausedMs()).toBe(4_000)
  })

  it('makes a process that starts after a pause probe first', async () => {
    const { clock, states, state } = providerStates(2)
    state.faulted(30_000, faultReason)
    await clock.advance(60_000)
    expect(await freeNow(states[1] as ProviderState)).toBe(1)
  })
})
