import { describe, expect, it } from 'vitest'
import type { ProviderEvent } from '../../../src/domain/provider-event.ts'
import { memoryRateLimiter } from '../../../src/memory/rate-limiter/memory-rate-limiter.ts'
import type { LimitCheck, RateLimiter } from '../../../src/ports/rate-limiter.ts'
import { createProviderState, type ProviderState } from '../../../src/services/delivery/provider-state.ts'
import { createSharedLimits } from '../../../src/services/delivery/shared-limits.ts'
import { createWakes } from '../../../src/services/delivery/wakes.ts'
import { configuredProvider } from '../../../src/services/providers.ts'
import { type FakeClock, fakeClock, settled } from '../../../src/testing/fake-clock.ts'
import { type RecordingProviderOptions, recordingProvider } from '../../../src/testing/recording-provider.ts'
import { kindOf } from '../../support/kinds.ts'

const why = { code: 'provider_unavailable', message: 'Busy.' } as const

/** Processes that share one limiter, each with a state of the same provider. */
function create(
  processes = 1,
  shared?: (limiter: RateLimiter) => RateLimiter,
  options: RecordingProviderOptions = {},
) {
  const clock = fakeClock()
  let woken = 0
  const available = (): void => {
    woken += 1
  }
  const events: ProviderEvent[] = []
  const errors: unknown[] = []
  const memory = memoryRateLimiter({ clock })
  const limiter = shared?.(memory) ?? memory
  const states = Array.from({ length: processes }, () =>
    createProviderState(
      configuredProvider(recordingProvider({ maxConcurrent: 4, ...options }), kindOf('email')),
      {
        clock,
        limits: createSharedLimits(
          limiter,
          memoryRateLimiter({ clock }),
          clock,
          (error) => void errors.push(error),
        ),
        maxPauseMs: 24 * 3_600_000,
        available,
        wakeIn: createWakes(clock, available).in,
        tell: (event) => void events.push(event),
      },
    ),
  )
  return { clock, states, state: states[0] as ProviderState, woken: () => woken, events, errors }
}

/** What a claim round would find free. */
async function freeNow(state: ProviderState): Promise<number> {
  await state.prepare()
  return state.free()
}

const rests = (state: ProviderState): boolean => state.pausedMs() > 0

/** Runs one message that ends when the test says so. */
function message(state: ProviderState): () => Promise<void> {
  let end = (): void => {}
  const run = state.run(async () => {
    await new Promise<void>((resolve) => (end = resolve))
    return undefined
  })
  return () => {
    end()
    return run
  }
}

it('has as many slots as its provider allows', async () => {
  const { state } = create()
  const ends = [message(state), message(state), message(state)]
  expect(await freeNow(state)).toBe(1)
  ends.push(message(state))
  expect(await freeNow(state)).toBe(0)
  for (const end of ends) await end()
  expect(await freeNow(state)).toBe(4)
})

it('rests as long as it is told, then has one slot to show that it works', async () => {
  const { clock, state, woken, events } = create()
  state.faulted(30_000, why)
  expect([rests(state), await freeNow(state)]).toEqual([true, 0])
  await clock.advance(29_999)
  expect([rests(state), woken()]).toEqual([true, 0])
  await clock.advance(1)
  expect([rests(state), await freeNow(state), woken()]).toEqual([false, 1, 1])
  state.succeeded()
  expect(await freeNow(state)).toBe(4)
  expect(state.health()).toMatchObject({ state: 'ready', code: null })
  const about = { channel: 'email', provider: 'recorder', organizationId: null }
  expect(events).toEqual([
    { event: 'provider.paused', data: { ...about, ...why, forMs: 30_000 } },
    { event: 'provider.resumed', data: about },
  ])
})

it('takes faults that come together as one, and rests longer with each that follows a rest', async () => {
  const { clock, state } = create()
  const lengths: number[] = []
  for (let round = 0; round < 8; round += 1) {
    for (let together = 0; together < 10; together += 1) state.faulted(30_000, why)
    let pausedMs = 0
    while (rests(state)) {
      await clock.advance(30_000)
      pausedMs += 30_000
    }
    lengths.push(pausedMs)
  }
  expect(lengths.map((ms) => ms / 1_000)).toEqual([30, 60, 120, 240, 300, 300, 300, 300])
  state.succeeded()
  state.faulted(30_000, why)
  await clock.advance(30_000)
  expect(rests(state)).toBe(false)
})

it('keeps to a long hint', async () => {
  const { clock, state } = create()
  state.faulted(3_600_000, why)
  await clock.advance(3_599_999)
  expect(rests(state)).toBe(true)
})

it('rests from the third passing fault in a row, and at once when its probe fails', async () => {
  const { clock, state } = create()
  state.faulted(null, why)
  state.faulted(null, why)
  state.succeeded()
  state.faulted(null, why)
  state.faulted(null, why)
  expect([rests(state), await freeNow(state)]).toEqual([false, 4])
  state.faulted(null, why)
  expect(rests(state)).toBe(true)
  await clock.advance(1_000)
  expect([rests(state), await freeNow(state)]).toEqual([false, 1])
  state.faulted(null, why)
  await clock.advance(1_999)
  expect(rests(state)).toBe(true)
})

it('rests again at once when its probe fails, also after a rest that one fault made', async () => {
  const { clock, state } = create()
  state.faulted(30_000, why)
  await clock.advance(30_000)
  expect(await freeNow(state)).toBe(1)
  state.faulted(null, why)
  expect(rests(state)).toBe(true)
})

it('claims nothing while too many outcomes wait to be recorded, and sends what was claimed by then', async () => {
  const { state } = create()
  for (let count = 0; count < 8; count += 1) void state.run(async () => () => new Promise(() => {}))
  await settled()
  expect([await freeNow(state), state.room(), state.takes()]).toEqual([0, 0, 4])
})

describe('with a pace', () => {
  const paced = () => create(1, undefined, { maxPerSecond: 1 })

  it('has a claimed message wait for nothing else', async () => {
    const { clock, state } = paced()
    expect([await freeNow(state), state.waits()]).toEqual([1, true])
    const ends = Array.from({ length: 4 }, () => message(state))
    expect(state.waits()).toBe(false)
    for (const end of ends) await end()
    await clock.advance(10_000)
    expect(state.waits()).toBe(true)
    state.faulted(30_000, why)
    expect(state.waits()).toBe(false)
  })

  it('has no room, and no message wait, until the time from which one is permitted', async () => {
    const { clock, state } = paced()
    expect(await freeNow(state)).toBe(1)
    await message(state)()
    await freeNow(state)
    expect([state.room(), state.waits()]).toEqual([0, false])
    await clock.advance(2_000)
    expect([state.room(), state.waits()]).toEqual([4, true])
  })

  it('uses nothing of it up while another process tries', async () => {
    const counted: LimitCheck[] = []
    const { clock, states, state } = create(
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
    state.faulted(30_000, why)
    await clock.advance(30_000)
    expect(await freeNow(state)).toBe(1)
    counted.length = 0
    expect(await freeNow(states[1] as ProviderState)).toBe(0)
    expect(counted).toEqual([])
  })
})

it('learns nothing from a success of before the rest', async () => {
  const { clock, state, events } = create()
  state.faulted(30_000, why)
  state.succeeded()
  await clock.advance(30_000)
  expect(await freeNow(state)).toBe(1)
  expect(events).toHaveLength(1)
})

it('is not moved by a wall clock that jumps', () => {
  const { clock, state } = create()
  state.faulted(30_000, why)
  clock.correct(86_400_000)
  expect(rests(state)).toBe(true)
  clock.correct(-2 * 86_400_000)
  expect(rests(state)).toBe(true)
})

const MANY = 5

async function freeOf(states: readonly ProviderState[]): Promise<number[]> {
  return Promise.all(states.map(freeNow))
}

/** Looks at all until no look of a moment ago is believed any more. */
async function later(clock: FakeClock, states: readonly ProviderState[]): Promise<number[]> {
  await clock.advance(1_000)
  return freeOf(states)
}

it('rests in all processes within a second of the fault in one', async () => {
  const { clock, states, state, events } = create(MANY)
  expect(await freeOf(states)).toEqual([4, 4, 4, 4, 4])
  state.faulted(30_000, why)
  expect(await later(clock, states)).toEqual([0, 0, 0, 0, 0])
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

it('is tried by one message of all processes together, then serves all again', async () => {
  const { clock, states, state, events } = create(MANY)
  state.faulted(30_000, why)
  await later(clock, states)
  await clock.advance(29_000)
  for (let second = 0; second < 3; second += 1) {
    const free = await later(clock, states)
    expect(free.reduce((sum, one) => sum + one, 0)).toBe(1)
    for (const one of states) one.giveBack()
  }
  await freeOf(states)
  const chosen = states.find((one) => one.free() === 1) as ProviderState
  const end = message(chosen)
  expect(await later(clock, states)).toEqual([0, 0, 0, 0, 0])
  chosen.succeeded()
  await end()
  expect(await later(clock, states)).toEqual([4, 4, 4, 4, 4])
  expect(events.map(({ event }) => event)).toEqual(['provider.paused', 'provider.resumed'])
})

it('rests in all processes again when its probe fails, and is tried again', async () => {
  const { clock, states, state } = create(3)
  state.faulted(30_000, why)
  await later(clock, states)
  await clock.advance(29_000)
  await freeOf(states)
  const chosen = states.find((one) => one.free() === 1) as ProviderState
  const end = message(chosen)
  chosen.faulted(30_000, why)
  await end()
  expect(await later(clock, states)).toEqual([0, 0, 0])
  expect(states.every(rests)).toBe(true)
  await clock.advance(60_000)
  expect((await freeOf(states)).reduce((sum, one) => sum + one, 0)).toBe(1)
})

it('asks no more than once in a second whether another process still tries, and has no room until then', async () => {
  let asked = 0
  const { clock, states, state, woken } = create(2, (limiter) => ({
    ...limiter,
    consume(checks) {
      asked += 1
      return limiter.consume(checks)
    },
  }))
  state.faulted(30_000, why)
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

it('lets another process try when the one that tries has died', async () => {
  const { clock, states, state } = create(2)
  state.faulted(30_000, why)
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

it('lets another process try when the message that tried ended without an answer', async () => {
  const { clock, states, state } = create(2)
  state.faulted(30_000, why)
  await clock.advance(30_000)
  expect(await freeNow(state)).toBe(1)
  const end = message(state)
  const other = states[1] as ProviderState
  expect(await freeNow(other)).toBe(0)
  await end()
  await clock.advance(1_000)
  expect(await freeNow(other)).toBe(1)
})

it('lets another process try when no message came of the claim that was to try', async () => {
  const { clock, states, state } = create(2)
  state.faulted(30_000, why)
  await clock.advance(30_000)
  expect(await freeNow(state)).toBe(1)
  state.giveBack()
  expect(await freeNow(states[1] as ProviderState)).toBe(1)
})

it('rests longer with each rest that another process has met as well, and is woken at its end', async () => {
  const { clock, states, state, woken } = create(2)
  const other = states[1] as ProviderState
  other.faulted(1_000, { code: 'invalid_sender', message: 'Not ours.' })
  await clock.advance(1_000)
  expect(await freeNow(state)).toBe(1)
  state.faulted(1_000, why)
  await clock.advance(1_000)
  expect([await freeNow(other), other.pausedMs()]).toEqual([0, 1_000])
  expect(other.health()).toMatchObject({ state: 'paused', code: null })
  const before = woken()
  await clock.advance(1_000)
  expect(woken() - before).toBe(2)
  expect(await freeNow(other)).toBe(1)
  other.faulted(null, why)
  expect(other.pausedMs()).toBe(4_000)
})

it('takes a rest that ends a little later in the limiter for the same', async () => {
  const late: Readonly<Record<string, number>> = { pause: 50, probation: 90 }
  const { clock, state } = create(1, (limiter) => ({
    ...limiter,
    pause: (key, ms) => limiter.pause(key, ms + (late[key.split('.').at(-1) ?? ''] ?? 0)),
  }))
  state.faulted(1_000, why)
  await clock.advance(1_000)
  expect(await freeNow(state)).toBe(0)
  await clock.advance(50)
  expect(await freeNow(state)).toBe(1)
  state.faulted(null, why)
  expect(state.pausedMs()).toBe(2_000)
  await clock.advance(2_050)
  expect(await freeNow(state)).toBe(1)
  // Here what it disproves ends after the proof.
  state.succeeded()
  expect(await later(clock, [state])).toEqual([4])
})

it('rests by a fault that came while the limiter was asked, whatever that had proved before', async () => {
  let answer: Promise<unknown> = Promise.resolve()
  const { clock, state } = create(1, (limiter) => ({
    ...limiter,
    async peek(checks) {
      const decision = await limiter.peek(checks)
      await answer
      return decision
    },
  }))
  state.faulted(1_000, why)
  await clock.advance(1_000)
  await freeNow(state)
  state.succeeded()
  await clock.advance(10_000)
  let go = (): void => {}
  answer = new Promise<void>((resolve) => (go = resolve))
  const free = freeNow(state)
  await settled()
  state.faulted(30_000, why)
  go()
  expect([await free, state.pausedMs()]).toEqual([0, 30_000])
  expect(state.health()).toMatchObject({ code: why.code })
})

it('asks the limiter for nothing that is of no use', async () => {
  const asked: string[] = []
  const { clock, state } = create(1, (limiter) => ({
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
  state.faulted(30_000, why)
  await clock.advance(29_000)
  expect(state.prepare()).toBe(undefined)
  await clock.advance(1_000)
  await freeNow(state)
  await clock.advance(1_000)
  expect(state.prepare()).toBe(undefined)
  expect(asked).toEqual(['look', 'look', 'probe'])
})

it('tells a process that starts after a rest to try first', async () => {
  const { clock, states, state } = create(2)
  state.faulted(30_000, why)
  await clock.advance(60_000)
  expect(await freeNow(states[1] as ProviderState)).toBe(1)
})

it('goes on by what its process knows while the limiter is away, and says so once', async () => {
  let away = true
  const asked: number[] = []
  const { clock, state, errors } = create(1, (inner) => ({
    ...inner,
    peek: (checks) => {
      asked.push(clock.monotonic())
      return away ? Promise.reject(new Error('Gone.')) : inner.peek(checks)
    },
    consume: (checks) => (away ? new Promise(() => {}) : inner.consume(checks)),
    pause: (key, ms) => (away ? Promise.reject(new Error('Gone.')) : inner.pause(key, ms)),
  }))
  expect(await freeNow(state)).toBe(4)
  state.faulted(30_000, why)
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

it('waits for a limiter that hangs no longer than a second', async () => {
  const { clock, state } = create(1, (inner) => ({ ...inner, peek: () => new Promise(() => {}) }))
  let free: number | null = null
  void freeNow(state).then((slots) => {
    free = slots
  })
  await settled()
  expect(free).toBe(null)
  await clock.advance(1_000)
  expect(free).toBe(4)
})
