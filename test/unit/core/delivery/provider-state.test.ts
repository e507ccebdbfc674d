import { describe, expect, it } from 'vitest'
import type { ProviderState } from '../../../../src/core/delivery/provider-state.ts'
import type { LimitCheck } from '../../../../src/core/ports/rate-limiter.ts'
import { settled } from '../../../../src/testing/fake-clock.ts'
import {
  faultReason,
  freeLater,
  freeNow,
  isPaused,
  message,
  providerStates,
} from '../../../support/provider-states.ts'

describe('the state of a provider', () => {
  it('has as many slots as its provider allows', async () => {
    const { state } = providerStates()
    const ends = [message(state), message(state), message(state)]
    expect(await freeNow(state)).toBe(1)
    ends.push(message(state))
    expect(await freeNow(state)).toBe(0)
    for (const end of ends) await end()
    expect(await freeNow(state)).toBe(4)
  })

  it('is a pause as long as asked for, then one slot for a probe', async () => {
    const { clock, state, woken, events } = providerStates()
    state.faulted(30_000, faultReason)
    expect([isPaused(state), await freeNow(state)]).toEqual([true, 0])
    await clock.advance(29_999)
    expect([isPaused(state), woken()]).toEqual([true, 0])
    await clock.advance(1)
    expect([isPaused(state), await freeNow(state), woken()]).toEqual([false, 1, 1])
    state.succeeded()
    expect(await freeNow(state)).toBe(4)
    expect(state.health()).toMatchObject({ state: 'ready', code: null })
    const id = expect.stringMatching(/^prov_/)
    const timestamp = expect.any(String)
    const about = { id, channel: 'email', provider: 'recorder', organizationId: null, timestamp }
    expect(events).toEqual([
      { event: 'provider.paused', data: { ...about, ...faultReason, forMs: 30_000 } },
      { event: 'provider.resumed', data: about },
    ])
  })

  it('counts simultaneous faults as one, and pauses longer after each that follows a pause', async () => {
    const { clock, state } = providerStates()
    const lengths: number[] = []
    for (let round = 0; round < 8; round += 1) {
      for (let together = 0; together < 10; together += 1) state.faulted(30_000, faultReason)
      let pausedMs = 0
      while (isPaused(state)) {
        await clock.advance(30_000)
        pausedMs += 30_000
      }
      lengths.push(pausedMs)
    }
    expect(lengths.map((ms) => ms / 1_000)).toEqual([30, 60, 120, 240, 300, 300, 300, 300])
    state.succeeded()
    state.faulted(30_000, faultReason)
    await clock.advance(30_000)
    expect(isPaused(state)).toBe(false)
  })

  it('honours a long hint', async () => {
    const { clock, state } = providerStates()
    state.faulted(3_600_000, faultReason)
    await clock.advance(3_599_999)
    expect(isPaused(state)).toBe(true)
  })

  it('begins a pause at the third transient fault in a row, and at once when a probe fails', async () => {
    const { clock, state } = providerStates()
    state.faulted(null, faultReason)
    state.faulted(null, faultReason)
    state.succeeded()
    state.faulted(null, faultReason)
    state.faulted(null, faultReason)
    expect([isPaused(state), await freeNow(state)]).toEqual([false, 4])
    state.faulted(null, faultReason)
    expect(isPaused(state)).toBe(true)
    await clock.advance(1_000)
    expect([isPaused(state), await freeNow(state)]).toEqual([false, 1])
    state.faulted(null, faultReason)
    await clock.advance(1_999)
    expect(isPaused(state)).toBe(true)
  })

  it('begins another pause when a probe fails, also after a pause from a single fault', async () => {
    const { clock, state } = providerStates()
    state.faulted(30_000, faultReason)
    await clock.advance(30_000)
    expect(await freeNow(state)).toBe(1)
    state.faulted(null, faultReason)
    expect(isPaused(state)).toBe(true)
  })

  it('offers no slot while too many outcomes are unrecorded, and still sends the claimed messages', async () => {
    const { state } = providerStates()
    for (let count = 0; count < 8; count += 1)
      void state.run(
        'org_a',
        async () => 'ending',
        () => new Promise(() => {}),
      )
    await settled()
    expect([await freeNow(state), state.room(), state.takes()]).toEqual([0, 0, 4])
  })

  it('ignores a success from before the pause', async () => {
    const { clock, state, events } = providerStates()
    state.faulted(30_000, faultReason)
    state.succeeded()
    await clock.advance(30_000)
    expect(await freeNow(state)).toBe(1)
    expect(events).toHaveLength(1)
  })

  it('does not depend on the wall clock', () => {
    const { clock, state } = providerStates()
    state.faulted(30_000, faultReason)
    clock.correct(86_400_000)
    expect(isPaused(state)).toBe(true)
    clock.correct(-2 * 86_400_000)
    expect(isPaused(state)).toBe(true)
  })

  it('takes a pause that ends slightly later in the limiter for the same', async () => {
    const late: Readonly<Record<string, number>> = { pause: 50, probation: 90 }
    const { clock, state } = providerStates(1, (limiter) => ({
      ...limiter,
      pause: (key, ms) => limiter.pause(key, ms + (late[key.split('.').at(-1) ?? ''] ?? 0)),
    }))
    state.faulted(1_000, faultReason)
    await clock.advance(1_000)
    expect(await freeNow(state)).toBe(0)
    await clock.advance(50)
    expect(await freeNow(state)).toBe(1)
    state.faulted(null, faultReason)
    expect(state.pausedMs()).toBe(2_000)
    await clock.advance(2_050)
    expect(await freeNow(state)).toBe(1)
    // Here what it disproves ends after the proof.
    state.succeeded()
    expect(await freeLater(clock, [state])).toEqual([4])
  })

  it('begins a pause at a fault that comes while the limiter is asked', async () => {
    let answer: Promise<unknown> = Promise.resolve()
    const { clock, state } = providerStates(1, (limiter) => ({
      ...limiter,
      async peek(checks) {
        const decision = await limiter.peek(checks)
        await answer
        return decision
      },
    }))
    state.faulted(1_000, faultReason)
    await clock.advance(1_000)
    await freeNow(state)
    state.succeeded()
    await clock.advance(10_000)
    let go = (): void => {}
    answer = new Promise<void>((resolve) => (go = resolve))
    const free = freeNow(state)
    await settled()
    state.faulted(30_000, faultReason)
    go()
    expect([await free, state.pausedMs()]).toEqual([0, 30_000])
    expect(state.health()).toMatchObject({ code: faultReason.code })
  })

  it('makes no useless request to the limiter', async () => {
    const asked: string[] = []
    const { clock, state } = providerStates(1, (limiter) => ({
      ...limiter,
      peek(checks) {
        asked.push('look')
        return limiter.peek(checks)
      },
      consume(checks) {
        asked.push('probe')
        return limiter.consume(checks)
      },
    }))
    expect(await freeNow(state)).toBe(4)
    expect(asked).toEqual(['look'])
    expect(state.prepare()).toBe(undefined)
    const ends = Array.from({ length: 4 }, () => message(state))
    await clock.advance(1_000)
    expect(state.prepare()).toBe(undefined)
    for (const end of ends) await end()
    state.faulted(30_000, faultReason)
    await clock.advance(29_000)
    expect(state.prepare()).toBe(undefined)
    await clock.advance(1_000)
    await freeNow(state)
    await clock.advance(1_000)
    expect(state.prepare()).toBe(undefined)
    expect(asked).toEqual(['look', 'look', 'probe'])
  })
})

describe('a provider with a pace', () => {
  const paced = () => providerStates(1, undefined, { maxPerSecond: 1 })

  it('makes a claimed message wait for nothing else', async () => {
    const { clock, state } = paced()
    expect([await freeNow(state), state.waits()]).toEqual([1, true])
    const ends = Array.from({ length: 4 }, () => message(state))
    expect(state.waits()).toBe(false)
    for (const end of ends) await end()
    await clock.advance(10_000)
    expect(state.waits()).toBe(true)
    state.faulted(30_000, faultReason)
    expect(state.waits()).toBe(false)
  })

  it('has no free slot until a message is permitted, and no waiting message', async () => {
    const { clock, state } = paced()
    expect(await freeNow(state)).toBe(1)
    await message(state)()
    await freeNow(state)
    expect([state.room(), state.waits()]).toEqual([0, false])
    await clock.advance(2_000)
    expect([state.room(), state.waits()]).toEqual([4, true])
  })

  it('uses up no pace while another process probes', async () => {
    const counted: LimitCheck[] = []
    const { clock, states, state } = providerStates(
      2,
      (limiter) => ({
        ...limiter,
        consume(checks) {
          counted.push(...checks.filter(({ kind }) => kind === 'window'))
          return limiter.consume(checks)
        },
      }),
      { maxPerSecond: 10 },
    )
    state.faulted(30_000, faultReason)
    await clock.advance(30_000)
    expect(await freeNow(state)).toBe(1)
    counted.length = 0
    expect(await freeNow(states[1] as ProviderState)).toBe(0)
    expect(counted).toEqual([])
  })
})

describe('a limiter', () => {
  it('that fails is replaced by the state of the process, and reported once', async () => {
    let away = true
    const asked: number[] = []
    const { clock, state, errors } = providerStates(1, (inner) => ({
      ...inner,
      peek: (checks) => {
        asked.push(clock.monotonic())
        return away ? Promise.reject(new Error('Gone.')) : inner.peek(checks)
      },
      consume: (checks) => (away ? new Promise(() => {}) : inner.consume(checks)),
      pause: (key, ms) => (away ? Promise.reject(new Error('Gone.')) : inner.pause(key, ms)),
    }))
    expect(await freeNow(state)).toBe(4)
    state.faulted(30_000, faultReason)
    expect(await freeNow(state)).toBe(0)
    await clock.advance(30_000)
    expect(await freeNow(state)).toBe(1)
    state.succeeded()
    expect(await freeNow(state)).toBe(4)
    expect(errors).toHaveLength(1)
    expect(String(errors[0])).toContain('rate limiter')
    for (let second = 0; second < 60; second += 1) {
      await clock.advance(1_000)
      await freeNow(state)
    }
    expect(errors.length).toBeLessThanOrEqual(2)
    // It is left alone for a while after each failure.
    expect(asked.length).toBeLessThan(20)
    away = false
    await clock.advance(10_000)
    await freeNow(state)
    expect(await freeNow(state)).toBe(4)
  })

  it('that hangs is awaited for one second', async () => {
    const { clock, state } = providerStates(1, (inner) => ({ ...inner, peek: () => new Promise(() => {}) }))
    let free: number | null = null
    void freeNow(state).then((slots) => {
      free = slots
    })
    await settled()
    expect(free).toBe(null)
    await clock.advance(1_000)
    expect(free).toBe(4)
  })
})
